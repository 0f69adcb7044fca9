import { lstatSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInsideFolder } from '../../engine/core/base/paths.ts';

/** The number of chained links that Linux follows. */
const MOST_LINKS = 40;

/** Resolves a path, which need not exist yet, following links as a write would. Throws if that fails. */
function resolveLinks(path: string, links = 0): string {
  if (links > MOST_LINKS) throw new Error('too many links');
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
  }
  const parent = resolveLinks(dirname(path), links);
  const here = join(parent, basename(path));
  // A dangling link: a write would create its target.
  if (lstatSync(here, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return here;
  return resolveLinks(resolve(parent, readlinkSync(here)), links + 1);
}

/** Paths that always need a person: git's own files and the data of svc decide what else runs. */
const isReserved = (path: string): boolean => /(?:^|\/)(?:\.git|\.svc)(?:\/|$)/.test(path);

/**
 * Resolves paths as an agent names them, relative to `folder`, which a worker may change; null if one is outside of
 * it, reserved or unknown. Relative paths are relative to `cwd`.
 */
export function createPathCheck(folder: string, cwd: string, reserved: readonly string[] = []) {
  const resolveReal = (path: string): string | null => {
    try {
      return resolveLinks(path);
    } catch {
      return null;
    }
  };
  const root = resolveReal(folder);
  const closed = reserved.map(resolveReal);
  return (named: string): string | null => {
    const path = parseLocation(named);
    const found = path === null || root === null ? null : resolveReal(resolve(cwd, path));
    if (found === null || root === null || closed.includes(found)) return null;
    const inside = relative(root, found);
    if (!isInsideFolder(root, found) || isReserved(inside)) return null;
    return inside === '' ? '.' : inside;
  };
}

/** Reads a path or a `file:` address; null for text that a tool may expand in its own way. */
function parseLocation(named: string): string | null {
  if (named === '' || named.startsWith('~') || named.includes('\0')) return null;
  if (!/^[a-z][a-z0-9+.-]+:/i.test(named)) return named;
  try {
    return fileURLToPath(named);
  } catch {
    return null;
  }
}
