import { mkdirSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { isAbsolute, join } from 'node:path';
import { findUnsafePart, isOwnFolder } from './folder-owner.ts';

/**
 * Caches compiled code between starts, in a folder private to this user: Node runs it without checking its author.
 * Returns that folder; without one nothing is cached. Removes a `NODE_COMPILE_CACHE` that others can write to, so that
 * no child process uses it.
 */
export function enablePrivateCompileCache(env: NodeJS.ProcessEnv): string | null {
  const given = env.NODE_COMPILE_CACHE;
  if (given !== undefined && isPrivateFolder(given)) return given;
  delete env.NODE_COMPILE_CACHE;
  const folder = makeCacheFolder(env);
  if (folder !== null) module.enableCompileCache(folder);
  return folder;
}

/**
 * Creates a folder below the user's cache folder (XDG Base Directory Specification). Null if it cannot be created or
 * others could change it.
 */
function makeCacheFolder({ XDG_CACHE_HOME, HOME }: NodeJS.ProcessEnv): string | null {
  const isGiven = XDG_CACHE_HOME !== undefined && isAbsolute(XDG_CACHE_HOME);
  if (!isGiven && (HOME === undefined || !isAbsolute(HOME))) return null;
  const caches = isGiven ? XDG_CACHE_HOME : join(HOME as string, '.cache');
  const folder = join(caches, 'svc', 'compile-cache');
  if (isPrivateFolder(folder)) return folder;
  for (const each of [caches, join(caches, 'svc'), folder]) {
    try {
      mkdirSync(each, { mode: 0o700 });
    } catch {
      // It exists, or its parent does not and it is refused below.
    }
  }
  return isPrivateFolder(folder) ? folder : null;
}

/** Reports whether a folder belongs only to this user, and no one else can replace it. */
function isPrivateFolder(path: string): boolean {
  if (!isOwnFolder(path)) return false;
  // Without links in the path, the usual case, this saves a second check of each part.
  return findUnsafePart(path) === null || findUnsafePart(realpathSync(path)) === null;
}
