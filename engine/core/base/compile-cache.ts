import { mkdirSync, realpathSync } from 'node:fs';
import module from 'node:module';
import { isAbsolute, join } from 'node:path';
import { findUnsafePart, isOwnFolder } from './folder-owner.ts';

/**
 * Keeps compiled code between starts, in a folder of this user alone: Node runs what it finds there, and does not check who
 * wrote it. Without such a folder nothing is kept. Removes a `NODE_COMPILE_CACHE` that others can write to, so that no
 * program started from here uses it.
 */
export function enablePrivateCompileCache(env: NodeJS.ProcessEnv): void {
  const given = env.NODE_COMPILE_CACHE;
  if (given !== undefined && isPrivateFolder(given)) return;
  delete env.NODE_COMPILE_CACHE;
  const folder = makeCacheFolder(env);
  if (folder !== null) module.enableCompileCache(folder);
}

/** Below the user's cache folder (XDG Base Directory Specification). Null where it cannot be made or others could change it. */
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

/** Whether a folder is ours alone, and nobody else can put another one in its place. */
function isPrivateFolder(path: string): boolean {
  if (!isOwnFolder(path)) return false;
  // Without a link on the way, which is the usual case, this saves a second look at each part.
  return findUnsafePart(path) === null || findUnsafePart(realpathSync(path)) === null;
}
