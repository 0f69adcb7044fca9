import { closeSync, constants, openSync, readdirSync, rmSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import type { WrittenFolders } from './git-folders.ts';
import { readRegularFile } from './regular-file.ts';

/** Far more than git keeps in these folders between two clean-ups. */
const MOST_ENTRIES = 500_000;

/**
 * Finds pipes and links in one of git's folders: git creates none, would wait at a pipe forever, and follow a link to
 * overwrite another file.
 * @param links whether links count: in a main checkout the person may have created some
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
 * Removes pipes and links that a worker left for the next git call. Returns their paths.
 * @param links also remove links; for files that a confined worker has written, since none of them is the person's
 */
export function clearTraps(folders: WrittenFolders, options: { links: boolean }): string[] {
  const found = listTraps(folders, options);
  for (const path of found) removeTrap(path);
  return found;
}

/** Lists the traps that `clearTraps` removes. */
export function listTraps({ own, common }: WrittenFolders, { links }: { links: boolean }): string[] {
  const isWorktree = own !== common;
  return [
    ...(isWorktree ? findTraps(own, { links }) : findTraps(join(common, 'refs'), { links: false })),
    ...readEntries(common).flatMap((entry) => (entry.isFIFO() ? [join(common, entry.name)] : [])),
    ...findTrapsAmongObjects(join(common, 'objects'), { links }),
    ...findTraps(join(common, 'refs', 'heads', 'svc'), { links }),
  ];
}

/**
 * Removes a pipe or link. Programs that wait at the pipe continue and read nothing: once it is removed, no one could
 * open its other end.
 */
export function removeTrap(path: string): void {
  let end: number | null = null;
  try {
    end = openSync(path, constants.O_RDWR | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    // A link, or removed by another call.
  }
  rmSync(path, { force: true });
  if (end !== null) closeSync(end);
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

/** Removes the `commondir` file that protected a main checkout while a worker was in it; git itself creates none there. */
export function releaseCheckout({ own, common }: WrittenFolders): void {
  const file = join(common, 'commondir');
  if (own === common && readRegularFile(file)?.trim() === '.') rmSync(file, { force: true });
}

/** Files that git reads by name in every folder of a worktree. */
const READ_BY_NAME = new Set(['.gitattributes', '.gitignore', '.gitmodules', '.mailmap']);

/** Finds a pipe in a worktree at which git would wait; null if there is none. */
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
      // inaccessible, or gone
    }
  }
  return null;
}
