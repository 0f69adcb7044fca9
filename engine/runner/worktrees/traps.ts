import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { opendir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { looksLikeBareRepository } from './pins.ts';

/** Far more than git keeps in these folders between two clean-ups. */
const MOST_ENTRIES = 500_000;

/**
 * Finds pipes and links in one of git's folders: git makes none, would wait at a pipe forever, and follow a link to
 * overwrite somebody else's file.
 * @param links whether links count: in a main checkout the person may have made some
 */
export function findTraps(folder: string, { links }: { links: boolean }): string[] {
  const found: string[] = [];
  const queue = [folder];
  for (let looked = 0; queue.length > 0 && looked < MOST_ENTRIES; ) {
    const at = queue.pop()!;
    for (const entry of readEntries(at)) {
      looked += 1;
      const path = join(at, entry.name);
      if (entry.isDirectory()) queue.push(path);
      else if (entry.isFIFO() || (links && entry.isSymbolicLink())) found.push(path);
    }
  }
  return found;
}

function readEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return []; // not there, or shut
  }
}

/**
 * The git folders of a repository that a worker may write to: its worktree's own, the objects, and the branches of
 * sessions.
 */
export interface WrittenFolders {
  own: string;
  common: string;
}

/**
 * Removes pipes and links that a worker left for the next git call. Returns their paths.
 * @param links also remove links; for what a confined worker has written, since none of it is the person's
 */
export function clearTraps({ own, common }: WrittenFolders, { links }: { links: boolean }): string[] {
  const isWorktree = own !== common;
  const found = [
    ...(isWorktree ? findTraps(own, { links }) : findTraps(join(common, 'refs'), { links: false })),
    ...readEntries(common).flatMap((entry) => (entry.isFIFO() ? [join(common, entry.name)] : [])),
    ...findTrapsAmongObjects(join(common, 'objects'), { links }),
    ...findTraps(join(common, 'refs', 'heads', 'svc'), { links }),
  ];
  for (const path of found) rmSync(path, { force: true });
  return found;
}

/** Folders of loose objects; packs may be elsewhere, behind a person's own link. */
const OBJECTS = /^[0-9a-f]{2}$/;

const findTrapsAmongObjects = (objects: string, { links }: { links: boolean }): string[] =>
  readEntries(objects).flatMap((entry) => {
    const path = join(objects, entry.name);
    const isOfSingle = links && OBJECTS.test(entry.name);
    if (entry.isDirectory()) return findTraps(path, { links: isOfSingle });
    return entry.isFIFO() || (isOfSingle && entry.isSymbolicLink()) ? [path] : [];
  });

/** Removes the `commondir` file that protected a main checkout while a worker was in it; git itself puts none there. */
export function releaseCheckout({ own, common }: WrittenFolders): void {
  const file = join(common, 'commondir');
  if (own === common && readRegularFile(file)?.trim() === '.') rmSync(file, { force: true });
}

/** Files that git reads by name in every folder of a worktree. */
const READ_BY_NAME = new Set(['.gitattributes', '.gitignore', '.gitmodules', '.mailmap']);

/** Finds a pipe in a worktree at which git would wait; null when there is none. */
export async function findPipe(worktree: string, signal: AbortSignal): Promise<string | null> {
  const queue = [worktree];
  for (let looked = 0; queue.length > 0 && looked < MOST_ENTRIES && !signal.aborted; ) {
    const at = queue.pop()!;
    try {
      for await (const entry of await opendir(at)) {
        looked += 1;
        if (entry.isDirectory()) queue.push(join(at, entry.name));
        else if (entry.isFIFO() && READ_BY_NAME.has(entry.name)) return join(at, entry.name);
      }
    } catch {
      // shut, or gone meanwhile
    }
  }
  return null;
}

/**
 * Reads a file that a worker may have replaced by something else; null then, and where there is none.
 * @param mostBytes reads no more than these
 */
export const readRegularFile = (file: string, mostBytes?: number): string | null =>
  readRegularBytes(file, mostBytes)?.toString('utf8') ?? null;

/** The same as bytes. */
export function readRegularBytes(file: string, mostBytes?: number): Buffer | null {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    if (!fstatSync(fd).isFile()) return null;
    if (mostBytes === undefined) return readFileSync(fd);
    const bytes = Buffer.alloc(mostBytes);
    return bytes.subarray(0, readSync(fd, bytes, 0, mostBytes, 0));
  } finally {
    closeSync(fd);
  }
}

/** Reads which git folders a checkout names; null where it names none. */
export function readGitFolders(worktree: string): WrittenFolders | null {
  const mark = join(worktree, '.git');
  const found = lstatSync(mark, { throwIfNoEntry: false });
  if (found?.isDirectory()) return { own: mark, common: mark };
  if (found?.isSymbolicLink()) {
    const own = existsSync(mark) ? realpathSync(mark) : mark;
    return looksLikeBareRepository(own) ? { own, common: own } : null;
  }
  const named = /^gitdir: (.+)$/m.exec(readRegularFile(mark) ?? '')?.[1];
  if (named === undefined) return null;
  const own = resolve(worktree, named);
  // Only git's own form is accepted; `verifyToplevel` reports anything else.
  const common = /^(.+)\/worktrees\/[^/]+$/.exec(own)?.[1];
  // A submodule may be called worktrees/…, and its git folder has no repository above it.
  const isWhole = looksLikeBareRepository(own) && (common === undefined || !looksLikeBareRepository(common));
  if (isWhole) return { own, common: own };
  return common === undefined ? null : { own, common };
}

/**
 * Finds the main checkout of a repository by its git folder, where git itself does not know it: that of a submodule. Null
 * where there is none, or its place is recorded nowhere.
 */
export function findMainCheckout(common: string): string | null {
  const above = basename(common) === '.git' ? dirname(common) : null;
  // With settings of each worktree git keeps it apart from the shared ones.
  const recorded = ['config.worktree', 'config'].flatMap(
    (name) => /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(readRegularFile(join(common, name)) ?? '')?.[1] ?? [],
  );
  const places = [...recorded.map((each) => resolve(common, each)), ...(above === null ? [] : [above])];
  // A worker without a sandbox may have written it: the folder has to name this git folder.
  return places.find((each) => isCheckoutOf(each, common)) ?? null;
}

/** Whether a folder is the main checkout that belongs to a git folder. */
export function isCheckoutOf(folder: string, common: string): boolean {
  const named = readGitFolders(folder);
  if (named === null || named.own !== named.common || !existsSync(named.own)) return false;
  return realpathSync(named.own) === realpathSync(common);
}
