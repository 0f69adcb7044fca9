import { lstatSync, mkdirSync, readdirSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { randomName, syncFolder } from '../../../core/base/atomic-file.ts';
import { SvcError } from '../../../core/base/errors.ts';
import { mapLimit } from '../../../core/base/map-limit.ts';
import { holdFolder, removeFolder } from '../../../core/platform/held-folder.ts';
import { platform } from '../../../core/platform/index.ts';
import type { MemoryRow } from '../rows.ts';
import { IN_A_ROW, letOthersRun, listFiles, readBundleFile } from './bundle.ts';
import {
  ConceptFault,
  describeText,
  joinConcept,
  readConcept,
  readDescription,
  type WrittenConcept,
  writeFrontmatter,
} from './concept.ts';
import {
  comparePathKey,
  isPlainPath,
  isReservedName,
  isWrittenHere,
  nameFile,
  type PlacedText,
  placeConcept,
  writeIndexes,
  writeLog,
} from './folder-text.ts';
import type { FoundConcept } from './import.ts';

/** A memory to write, and its original frontmatter. */
export interface ExportedMemory {
  row: MemoryRow;
  written: WrittenConcept;
}

/** Returns the files of a bundle by path: a concept for each memory, an index in each folder, and the log. */
export async function composeBundle(
  memories: readonly ExportedMemory[],
  /** Reports whether a file of that name would configure a program: an imported memory cannot choose such a name. */
  isConfiguration: (path: string) => boolean,
): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const taken = new Set<string>();
  const placed: PlacedText[] = [];
  // If two share a path, the active one keeps it.
  const inOrder = [...memories].sort(
    ({ row: one }, { row: other }) =>
      Number(one.state !== 'active') - Number(other.state !== 'active') || (one.id < other.id ? -1 : 1),
  );
  for (const [at, { row, written }] of inOrder.entries()) {
    if (at % IN_A_ROW === 0) await letOthersRun();
    const usual = placeConcept(written);
    const wished = row.okf_path ?? usual;
    const isFree = isPlainPath(wished) && !isConfiguration(wished) && !taken.has(comparePathKey(wished));
    const path = isFree ? wished : usual;
    taken.add(comparePathKey(path));
    const frontmatter = writeFrontmatter(written, row.okf_frontmatter, nameFile(path));
    const kept = row.okf_frontmatter === null ? null : readDescription(row.okf_frontmatter);
    files.set(path, joinConcept(frontmatter, written.text));
    placed.push({
      path,
      title: written.title,
      description: kept ?? (describeText(written.text) || describeText(written.title)),
      changedAt: written.changedAt,
      endedAt: written.endedAt,
    });
  }
  for (const [path, text] of writeIndexes(placed)) files.set(path, text);
  files.set('log.md', writeLog(placed));
  return files;
}

/** Below the written folder; the engine that wrote it may have been killed. */
const DRAFT = 'svc-draft';
const FORMER = 'svc-former';
const siblingOf = (folder: string, word: string): string =>
  join(dirname(folder), `.${basename(folder)}.${word}`);

/** Restores a folder that a killed export moved away, and removes its draft. */
export function settleExports(folder: string): void {
  const former = siblingOf(folder, FORMER);
  if (isFolder(former)) {
    if (isFolder(folder)) rmSync(former, { recursive: true, force: true });
    else renameSync(former, folder);
  }
  const prefix = `${basename(siblingOf(folder, DRAFT))}-`;
  // The parent may be an open folder, reached by a link in /proc.
  if (statSync(dirname(folder), { throwIfNoEntry: false })?.isDirectory() === true)
    for (const name of readdirSync(dirname(folder)))
      if (name.startsWith(prefix)) rmSync(join(dirname(folder), name), { recursive: true, force: true });
}

const isFolder = (path: string): boolean =>
  lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Returns a file that an export would lose: a path and the reason as a clause. */
async function findUnsaved(
  folder: string,
  knows: (concept: FoundConcept) => boolean,
): Promise<{ path: string; reason: string } | null> {
  const { files, skipped } = await listFiles(folder);
  const [other] = skipped;
  if (other !== undefined) return other;
  for (const [at, path] of files.entries()) {
    if (at % IN_A_ROW === 0) await letOthersRun();
    try {
      const text = readBundleFile(folder, path);
      const isKnown = isReservedName(path)
        ? isWrittenHere(text)
        : knows({ ...readConcept(text, nameFile(path)), path });
      if (!isKnown)
        return {
          path,
          reason: isReservedName(path) ? 'it does not come from an export' : 'the memory does not contain it',
        };
    } catch (error) {
      if (!(error instanceof ConceptFault)) throw error;
      return { path, reason: error.message };
    }
  }
  return null;
}

/**
 * Replaces `folder`, below the existing `top`, with a bundle in one step. Throws `exists` if something in it would be
 * lost, `storage_full`, `storage_failed`, `storage_unsafe`.
 */
export async function replaceBundle({
  top,
  folder,
  files,
  knows,
}: {
  top: string;
  folder: string;
  files: ReadonlyMap<string, string>;
  /** Reports whether the memory contains a file's content. */
  knows(concept: FoundConcept): boolean;
}): Promise<void> {
  try {
    const held = holdFolder(top, dirname(folder));
    try {
      await replaceIn(held.path, { folder, files, knows });
    } finally {
      held.close();
    }
  } catch (error) {
    if (error instanceof SvcError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const isFull = code === 'ENOSPC' || code === 'EDQUOT';
    throw new SvcError(isFull ? 'storage_full' : 'storage_failed', `cannot write ${folder}: ${message}`, {
      cause: error,
      hint: 'nothing in it was changed',
    });
  }
}

interface Replacement {
  /** Display form. */
  folder: string;
  files: ReadonlyMap<string, string>;
  knows(concept: FoundConcept): boolean;
}

/** @param parent the parent folder, by a path without links */
async function replaceIn(parent: string, { folder: shown, files, knows }: Replacement): Promise<void> {
  const folder = join(parent, basename(shown));
  settleExports(folder);
  const found = lstatSync(folder, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory())
    throw new SvcError('exists', `${shown} is not a folder`, { hint: 'name another folder' });
  const unsaved = found === undefined ? null : await findUnsaved(realpathSync(folder), knows);
  if (unsaved !== null)
    throw new SvcError('exists', `${join(shown, unsaved.path)} would be lost: ${unsaved.reason}`, {
      hint: 'import the folder first, move the file away, or name another folder',
    });
  const draft = `${siblingOf(folder, DRAFT)}-${randomName()}`;
  try {
    mkdirSync(draft, { mode: 0o700 });
    await writeFiles(draft, files);
    if (found === undefined) renameSync(draft, folder);
    else if (!(await platform.exchangeFolders(draft, folder))) {
      const former = siblingOf(folder, FORMER);
      renameSync(folder, former);
      renameSync(draft, folder);
      renameSync(former, draft);
    }
    syncFolder(dirname(folder));
  } catch (error) {
    settleExports(folder);
    throw error;
  }
  // The next export removes the rest of the former folder.
  if (found !== undefined) await removeFolder(draft).catch(() => undefined);
}

const AT_ONCE = 16;

async function writeFiles(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  const byFolder = new Map<string, string[]>();
  for (const path of files.keys()) {
    const group = byFolder.get(dirname(path)) ?? [];
    group.push(path);
    byFolder.set(dirname(path), group);
  }
  for (const [below, paths] of byFolder) {
    const held = holdFolder(folder, join(folder, below));
    // All writes must end before a failure is reported, because the folder is then removed.
    let failure: unknown;
    await mapLimit(paths, AT_ONCE, async (path) => {
      if (failure !== undefined) return;
      try {
        await writeFile(join(held.path, basename(path)), files.get(path) ?? '', { mode: 0o600, flag: 'wx' });
      } catch (error) {
        failure ??= error;
      }
    });
    held.close();
    if (failure !== undefined) throw failure;
  }
}
