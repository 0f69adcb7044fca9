import { lstatSync } from 'node:fs';
import { join, sep } from 'node:path';

/** A folder that has moved as a whole, with a workspace and its data folder in it. */
export interface MovedFolder {
  from: string;
  to: string;
}

/**
 * Finds the folder that moved, by where the data folder was and where it is. Null where it is still in the old place, so this one
 * is a copy, and where its own name differs.
 */
export function findMovedFolder(before: string | null, now: string): MovedFolder | null {
  if (before === null || before === now || lstatSync(before, { throwIfNoEntry: false }) !== undefined)
    return null;
  const [old, fresh] = [before.split(sep), now.split(sep)];
  let same = 0;
  while (old.at(-1 - same) === fresh.at(-1 - same)) same += 1;
  if (same === 0) return null;
  const cut = (parts: string[]): string => parts.slice(0, parts.length - same).join(sep) || sep;
  return { from: cut(old), to: cut(fresh) };
}

/** Where a path is now; the path itself when it was not in the folder. */
export const followMove = (path: string, moved: MovedFolder | null): string => {
  if (moved === null || !`${path}${sep}`.startsWith(`${moved.from}${sep}`)) return path;
  return join(moved.to, path.slice(moved.from.length));
};
