import { dirname, isAbsolute, relative, sep } from 'node:path';

/**
 * Whether `path` is `folder` itself or lies below it, by their names alone: the caller resolves links. Both are absolute, or
 * both relative to the same folder; of one of each the answer is no. `..foo` is an ordinary name.
 */
export function isInsideFolder(folder: string, path: string): boolean {
  if (isAbsolute(folder) !== isAbsolute(path)) return false;
  const way = relative(folder, path);
  // Absolute on systems with drives, from one to another.
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The same without the folder itself. */
export const isBelowFolder = (folder: string, path: string): boolean =>
  isInsideFolder(folder, path) && relative(folder, path) !== '';

/** The nearest folder at or above a path for which `holds` is true; null for none. */
export function findFolderAbove(path: string, holds: (folder: string) => boolean): string | null {
  for (let folder = path; ; folder = dirname(folder)) {
    if (holds(folder)) return folder;
    if (folder === dirname(folder)) return null;
  }
}
