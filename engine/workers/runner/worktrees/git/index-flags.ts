import { copyFileSync, existsSync, lstatSync, mkdtempSync, realpathSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Git, type GitOptions, splitRecords } from './git.ts';
import { findCheckoutAround, readGitFolders } from './git-folders.ts';
import { readRegularBytes } from './regular-file.ts';

/** Index marks that make git treat a file as unchanged without checking it. */
const ASSUME_UNCHANGED = 0x8000;
const EXTENDED = 0x4000;
const SKIP_WORKTREE = 0x4000;

/** An entry whose mark hides changes of its file. */
export interface FlaggedEntry {
  path: string;
  /** The entry without its marks, as `git update-index --index-info` reads it. */
  record: string;
  /** Its marks, as options of `git update-index`. */
  marks: readonly string[];
}

/**
 * Reports whether an index may hold marked entries. Answered from the file without git; true if its form is unknown.
 * Format: gitformat-index(5), versions 2 to 4.
 */
export function mayHoldFlags(gitDir: string): boolean {
  const bytes = readRegularBytes(join(gitDir, 'index'));
  if (bytes === null) return existsSync(join(gitDir, 'index'));
  // With the wrong length of ids the form is unknown.
  return [20, 32].every((idLength) => {
    try {
      return holdsFlags(bytes, idLength);
    } catch {
      return true;
    }
  });
}

/** Reports whether an index has marked entries, or a form that cannot be read. @param idLength of the object ids in it, bytes */
function holdsFlags(bytes: Buffer, idLength: number): boolean {
  const version = bytes.readUInt32BE(4);
  if (bytes.toString('latin1', 0, 4) !== 'DIRC' || version < 2 || version > 4) return true;
  let at = 12;
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const flagsAt = at + 40 + idLength;
    const flags = bytes.readUInt16BE(flagsAt);
    if ((flags & ASSUME_UNCHANGED) !== 0) return true;
    const isExtended = (flags & EXTENDED) !== 0;
    if (isExtended && (bytes.readUInt16BE(flagsAt + 2) & SKIP_WORKTREE) !== 0) return true;
    const nameAt = flagsAt + (isExtended ? 4 : 2);
    const length = flags & 0xfff;
    const isLengthKnown = version < 4 && length < 0xfff;
    const end = isLengthKnown ? nameAt + length : bytes.indexOf(0, skipPrefixLength(bytes, nameAt, version));
    if (end < nameAt || bytes[end] !== 0) return true;
    at = version < 4 ? at + ((end - at + 8) & ~7) : end + 1;
  }
  // A split index has most of its entries in another file.
  for (const end = bytes.length - idLength; at + 8 <= end; at += 8 + bytes.readUInt32BE(at + 4))
    if (bytes.toString('latin1', at, at + 4) === 'link') return true;
  return at !== bytes.length - idLength;
}

/** Version 4 has a number ahead of each name: seven bits a byte, the highest for "more follows". */
function skipPrefixLength(bytes: Buffer, at: number, version: number): number {
  let next = at;
  if (version === 4) while ((bytes[next++]! & 0x80) !== 0);
  return next;
}

/**
 * Selects the entries whose mark hides a change, from the output of `git ls-files -v --stage -z`. A file that is
 * marked `skip-worktree` and absent is outside of a sparse checkout: it stays marked, or git would treat it as
 * deleted.
 */
export function selectFlagged(worktree: string, records: readonly string[]): FlaggedEntry[] {
  const real = realpathSync(worktree);
  const folders = new Map<string, boolean>();
  /** Reports whether a folder really exists there, not elsewhere through a link. */
  const isInside = (folder: string): boolean => {
    const known = folders.get(folder) ?? isRealFolder(join(real, folder));
    folders.set(folder, known);
    return known;
  };
  return records.flatMap((listed) => {
    const mark = listed[0] ?? 'H';
    const isAssumed = mark !== mark.toUpperCase();
    const isSkipped = mark.toUpperCase() === 'S';
    if (!isAssumed && !isSkipped) return [];
    const record = listed.slice(2);
    const path = nameOfRecord(record);
    const existsInWorktree = () =>
      isInside(dirname(path)) && lstatSync(join(real, path), { throwIfNoEntry: false }) !== undefined;
    const marks = [...(isAssumed ? ['--assume-unchanged'] : []), ...(isSkipped ? ['--skip-worktree'] : [])];
    return isSkipped && !existsInWorktree() ? [] : [{ path, record, marks }];
  });
}

function isRealFolder(folder: string): boolean {
  try {
    return realpathSync(folder) === folder;
  } catch {
    return false;
  }
}

/** Returns the path in a record of `git ls-files --stage`. */
export const nameOfRecord = (record: string): string => record.slice(record.indexOf('\t') + 1);

/**
 * Copies an index with its time: git compares the content of files that were written in the same second as the index,
 * and a copy that is newer would make it trust their times.
 */
export function copyIndex(from: string, to: string): void {
  const second = Math.floor(lstatSync(from).mtimeMs / 1000);
  copyFileSync(from, to);
  utimesSync(to, second, second);
}

/** Removes the marks from entries of the index that `env` names. */
export async function clearFlags(
  git: Git,
  worktree: string,
  flagged: readonly FlaggedEntry[],
  env: Readonly<Record<string, string>>,
): Promise<void> {
  if (flagged.length === 0) return;
  const input = flagged.map(({ record }) => `${record}\0`).join('');
  await git.run(worktree, ['update-index', '-z', '--index-info'], { env, input });
}

/** Lists the marked entries of a worktree's index. Starts git only if there may be some. */
export async function listFlagged(
  git: Git,
  { path, gitDir }: { path: string; gitDir: string },
  env: Readonly<Record<string, string>>,
): Promise<FlaggedEntry[]> {
  if (!mayHoldFlags(gitDir)) return [];
  const { stdout } = await git.run(path, ['ls-files', '-v', '-z', '--stage'], { env });
  return selectFlagged(path, splitRecords(stdout));
}

/**
 * Runs `work` with variables that lead git to a copy of the index without the marks; the index itself stays
 * unchanged. Without marked entries there is no copy.
 */
export async function withoutFlags<T>(
  git: Git,
  { path, gitDir }: { path: string; gitDir: string },
  flagged: readonly FlaggedEntry[],
  env: Readonly<Record<string, string>>,
  work: (env: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  if (flagged.length === 0) return work(env);
  const folder = mkdtempSync(join(tmpdir(), 'svc-index-'));
  try {
    const copy = { ...env, GIT_INDEX_FILE: join(folder, 'index') };
    copyIndex(join(gitDir, 'index'), copy.GIT_INDEX_FILE);
    await clearFlags(git, path, flagged, copy);
    return await work(copy);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs `update`, in which git replaces files of a checkout, without the marks of these files: git would treat a
 * marked file with a new time as changed. Afterwards the marks are restored.
 */
export async function withMarksAside<T>(
  git: Git,
  { path, gitDir }: { path: string; gitDir: string },
  listTouched: () => Promise<readonly string[]>,
  update: () => Promise<T>,
): Promise<T> {
  const marked = await listFlagged(git, { path, gitDir }, {});
  const touched = new Set(marked.length === 0 ? [] : await listTouched());
  const flagged = marked.filter((each) => touched.has(each.path));
  if (flagged.length === 0) return update();
  await clearFlags(git, path, flagged, {});
  try {
    await git.run(path, ['update-index', '-q', '--refresh'], { allowFail: true });
    return await update();
  } finally {
    const { stdout } = await git.run(path, ['ls-files', '-z', '--cached']);
    const left = new Set(splitRecords(stdout));
    for (const mark of ['--assume-unchanged', '--skip-worktree']) {
      const paths = flagged.filter((each) => each.marks.includes(mark) && left.has(each.path));
      const input = paths.map((each) => `${each.path}\0`).join('');
      if (paths.length > 0) await git.run(path, ['update-index', '-z', mark, '--stdin'], { input });
    }
  }
}

/**
 * Runs `compare`, which compares a commit with the files at or below a folder, with options by which git also sees
 * changes that a mark in the index hides.
 */
export async function compareAllFiles<T>(
  git: Git,
  folder: string,
  options: GitOptions,
  compare: (options: GitOptions) => Promise<T>,
): Promise<T> {
  const path = findCheckoutAround(realpathSync(folder));
  const named = path === null ? null : readGitFolders(path);
  if (path === null || named === null) return compare(options);
  const place = { path, gitDir: named.own };
  const { env = {} } = options;
  return withoutFlags(git, place, await listFlagged(git, place, env), env, (own) =>
    compare({ ...options, env: own }),
  );
}
