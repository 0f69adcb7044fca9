import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/** Whether `path` is `folder` or lies below it; both absolute. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Where a path leads, links resolved; null when nothing is there. */
export function realOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

export const isFolder = (path: string): boolean =>
  statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

export interface Link {
  /** Its own place, the folders above it resolved. */
  path: string;
  /** Absolute, resolved. */
  target: string;
}

/** The links on the way to a path that exists: whoever comes by its name needs them as well as the place itself. */
export function linksTo(path: string): Link[] {
  const found: Link[] = [];
  let at: string = sep;
  for (const part of path.split(sep).filter((each) => each !== '')) {
    const next = join(at, part);
    const isLink = lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
    const target = isLink ? realOf(next) : next;
    if (target === null) return found;
    if (isLink) found.push({ path: next, target });
    at = target;
  }
  return found;
}

/** The nearest folder at or above a path of which `holds` is true; null for none. */
export function above(path: string, holds: (folder: string) => boolean): string | null {
  for (let folder = path; ; folder = dirname(folder)) {
    if (holds(folder)) return folder;
    if (folder === dirname(folder)) return null;
  }
}
