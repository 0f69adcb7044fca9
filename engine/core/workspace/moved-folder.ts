import { lstatSync } from 'node:fs';
import { join, sep } from 'node:path';

/** A folder that was moved as a whole, with a workspace and its data folder in it. */
export interface MovedFolder {
  from: string;
  to: string;
}

/**
 * Finds the moved folder by the old and the new location of the data folder. Null if the old one still exists, so
 * this one is a copy, or if its own name differs.
 */
export function findMovedFolder(before: string | null, now: string): MovedFolder | null {
  if (before === null || before === now || lstatSync(before, { throwIfNoEntry: false }) !== undefined)
    return null;
  const [old, fresh] = [before.split(sep), now.split(sep)];
  let same = 0;
  while (old.at(-1 - same) === fresh.at(-1 - same)) same += 1;
  if (same === 0) return null;
  const cutSharedEnd = (parts: string[]): string => parts.slice(0, parts.length - same).join(sep) || sep;
  return { from: cutSharedEnd(old), to: cutSharedEnd(fresh) };
}

/** Returns the current location of a path; the path itself if it was not in the folder. */
export const followMove = (path: string, moved: MovedFolder | null): string => {
  if (moved === null || !`${path}${sep}`.startsWith(`${moved.from}${sep}`)) return path;
  return join(moved.to, path.slice(moved.from.length));
};
