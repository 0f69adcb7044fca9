import { lstatSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';

/** What `look` says; null where nothing is or where this user may not look. */
function tried<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** Where a path leads, links resolved; null when nothing is there. */
export const realOf = (path: string): string | null => tried(() => realpathSync(path));

export const isFolder = (path: string): boolean => tried(() => statSync(path).isDirectory()) ?? false;

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
    const isLink = tried(() => lstatSync(next).isSymbolicLink()) ?? false;
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
