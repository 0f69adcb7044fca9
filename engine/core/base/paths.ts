import { dirname, isAbsolute, relative, sep } from 'node:path';

/**
 * Reports whether `path` is `folder` itself or below it, by name only: the caller resolves links. Both must be
 * absolute, or both relative to the same folder; otherwise the result is false. `..foo` is an ordinary name.
 */
export function isInsideFolder(folder: string, path: string): boolean {
  if (isAbsolute(folder) !== isAbsolute(path)) return false;
  const way = relative(folder, path);
  // Absolute on systems with drives, from one drive to another.
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Does the same without the folder itself. */
export const isBelowFolder = (folder: string, path: string): boolean =>
  isInsideFolder(folder, path) && relative(folder, path) !== '';

/** Returns the nearest folder at or above a path for which `holds` is true; null for none. */
export function findFolderAbove(path: string, holds: (folder: string) => boolean): string | null {
  for (let folder = path; ; folder = dirname(folder)) {
    if (holds(folder)) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** The longest path of a socket on every system, bytes: `sun_path` of macOS, without the zero at its end; Linux has four more. */
export const LONGEST_SOCKET_PATH = 103;
