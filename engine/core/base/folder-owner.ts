import { lstatSync, type Stats } from 'node:fs';
import { join, parse, sep } from 'node:path';

// Imports no other file of ours: every program calls this before its own code is loaded.

/** Returns what a path is; undefined for nothing, and for what another user hides. */
function readPart(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/**
 * Reports whether no other user can change it or rename its contents: owned by us or root, and writable by others
 * only if sticky.
 */
function isSafePart(found: Stats): boolean {
  const me = process.getuid?.();
  if (me !== undefined && found.uid !== me && found.uid !== 0) return false;
  return (found.mode & 0o022) === 0 || (found.mode & 0o1000) !== 0;
}

/** Returns the first folder on the way to `path`, itself included, whose entries another user could replace; null for none. */
export function findUnsafePart(path: string): string | null {
  const { root } = parse(path);
  let at = root;
  for (const part of ['', ...path.slice(root.length).split(sep)]) {
    if (part !== '') at = join(at, part);
    const found = readPart(at);
    if (found === undefined || !found.isDirectory() || !isSafePart(found)) return at;
  }
  return null;
}

/** Reports whether a folder is real, owned by us, and not writable by others. */
export function isOwnFolder(path: string): boolean {
  const found = readPart(path);
  const me = process.getuid?.();
  return (
    found?.isDirectory() === true && (me === undefined || found.uid === me) && (found.mode & 0o022) === 0
  );
}
