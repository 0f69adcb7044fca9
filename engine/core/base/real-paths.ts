import { lstatSync, realpathSync, statSync } from 'node:fs';
import { join, sep } from 'node:path';

/** The result of `look`; null if nothing exists or this user may not look. */
function tryOrNull<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** Resolves a path's links, and the case in which its names are stored; null when nothing is there. */
export const findRealPath = (path: string): string | null => tryOrNull(() => realpathSync.native(path));

export const isFolder = (path: string): boolean => tryOrNull(() => statSync(path).isDirectory()) ?? false;

export interface SymbolicLink {
  /** Path of the link, with the folders above it resolved. */
  path: string;
  /** The path that it leads to, with all links resolved. */
  target: string;
}

/** Finds the links on the way to an existing path: they are needed to reach it by that name. */
export function findLinks(path: string): SymbolicLink[] {
  const found: SymbolicLink[] = [];
  let at: string = sep;
  for (const part of path.split(sep).filter((each) => each !== '')) {
    const next = join(at, part);
    const isLink = tryOrNull(() => lstatSync(next).isSymbolicLink()) ?? false;
    const target = isLink ? findRealPath(next) : next;
    if (target === null) return found;
    if (isLink) found.push({ path: next, target });
    at = target;
  }
  return found;
}
