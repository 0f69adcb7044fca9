import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { makePrivateFolder, replacePrivate } from '../../base/private-files.ts';

/** Which repository each folder belongs to that workers are started in: the one at its first use, until a person says otherwise. */
export interface RepositoryPins {
  /**
   * Throws `worktree_unsafe` where a folder is in another repository than at its first use: a worker that may write the folder
   * could have made one there, with a configuration that names programs. Calls no git.
   */
  checkPin(folder: string): void;
  /** The repository that a folder is in now counts from here on. Returns its top; null for none. */
  repinRepository(folder: string): string | null;
}

/** Three names make a folder a repository to git. */
export const looksLikeBareRepository = (folder: string): boolean =>
  ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));

/** The top of the repository that git would find from a folder; null for none. */
export function findTopAround(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git')) || looksLikeBareRepository(at)) return at;
    if (at === dirname(at)) return null;
  }
}

/** @param file where they are kept; null for in memory */
export function createRepositoryPins(file: string | null): RepositoryPins {
  /** An empty text stands for: in none. */
  const tops = new Map<string, string>(Object.entries(readPins(file)));

  function recordPin(folder: string, top: string | null): void {
    tops.set(folder, top ?? '');
    if (file === null) return;
    makePrivateFolder(dirname(dirname(file)), dirname(file));
    replacePrivate(file, JSON.stringify(Object.fromEntries(tops)));
  }

  return {
    checkPin(path) {
      if (!existsSync(path)) return;
      const folder = realpathSync(path);
      const now = findTopAround(folder);
      const before = tops.get(folder);
      if (before === undefined) {
        // A folder outside of any may become one: what counts is the first repository.
        if (now !== null) recordPin(folder, now);
        return;
      }
      if (before === (now ?? '')) return;
      throw new SvcError(
        'worktree_unsafe',
        `${path} was in the repository ${before}, and is in ${now ?? 'none'} now; nothing was done there`,
        {
          hint: 'when that is meant, svc project repin <project> takes the new one; else remove what was put there',
          data: { path, before, now },
        },
      );
    },
    repinRepository(path) {
      const folder = realpathSync(path);
      const top = findTopAround(folder);
      recordPin(folder, top);
      return top;
    },
  };
}

function readPins(file: string | null): Record<string, string> {
  if (file === null || !existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
  } catch {
    return {};
  }
}
