import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInsideFolder } from '../../engine/index.ts';

/** As many links after each other as Linux follows. */
const MOST_LINKS = 40;

/**
 * Where a path really is, also one that is not there yet: its links are followed as a write would follow them.
 * Throws when that cannot be told.
 */
function realPath(path: string, links = 0): string {
  if (links > MOST_LINKS) throw new Error('too many links');
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const parent = realPath(dirname(path), links);
  const here = join(parent, basename(path));
  // A link to what is not there yet: a write makes it there.
  if (lstatSync(here, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return here;
  return realPath(resolve(parent, readlinkSync(here)), links + 1);
}

/** Never without a person: the repository's own files, the data of svc, and its configuration decide what else runs. */
const isReserved = (path: string): boolean => /(?:^|\/)(?:\.git|\.svc)(?:\/|$)/.test(path);

/**
 * Paths as an agent names them, relative to `folder`, which a worker may work in; null for one that is outside of it
 * or reserved, or that cannot be told. Relative ones are relative to `cwd`.
 */
export function insideOf(folder: string, cwd: string, reserved: readonly string[] = []) {
  const real = (path: string): string | null => {
    try {
      return realPath(path);
    } catch {
      return null;
    }
  };
  const root = real(folder);
  const closed = reserved.map(real);
  return (named: string): string | null => {
    const path = located(named);
    const found = path === null || root === null ? null : real(resolve(cwd, path));
    if (found === null || root === null || closed.includes(found)) return null;
    const inside = relative(root, found);
    if (!isInsideFolder(root, found) || isReserved(inside)) return null;
    return inside === '' ? '.' : inside;
  };
}

/** A path or a `file:` address; null for what a tool may expand in a way of its own. */
function located(named: string): string | null {
  if (named === '' || named.startsWith('~') || named.includes('\0')) return null;
  if (!/^[a-z][a-z0-9+.-]+:/i.test(named)) return named;
  try {
    return fileURLToPath(named);
  } catch {
    return null;
  }
}
