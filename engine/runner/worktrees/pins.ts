import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { SvcError } from '../../base/errors.ts';
import { makePrivateFolder, replacePrivate } from '../../base/private-files.ts';
import { sentence } from '../../base/sentence.ts';

/**
 * Remembers which repository each folder that workers start in belongs to: the one at its first use, until a person
 * says otherwise.
 */
export interface RepositoryPins {
  /**
   * Throws `worktree_unsafe` where a folder is in another repository than at its first use: a worker that may write
   * to the folder could have created one there, with a configuration that names programs. Calls no git.
   */
  checkPin(folder: string): void;
  /** Pins a folder to the repository that it is in now. Returns that repository's top folder; null for none. */
  repinRepository(folder: string): string | null;
}

/** Whether a folder has the three entries that make it a bare repository to git. */
export const looksLikeBareRepository = (folder: string): boolean =>
  ['HEAD', 'objects', 'refs'].every((name) => existsSync(join(folder, name)));

/** The top folder of the repository that git would find from a folder; null for none. */
export function findTopAround(folder: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git')) || looksLikeBareRepository(at)) return at;
    if (at === dirname(at)) return null;
  }
}

/** @param file where they are kept; null for in memory */
export function createRepositoryPins(file: string | null): RepositoryPins {
  /** An empty string stands for no repository. */
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
        // A folder outside any repository may get one: the first repository is pinned.
        if (now !== null) recordPin(folder, now);
        return;
      }
      if (before === (now ?? '')) return;
      throw new SvcError(
        'worktree_unsafe',
        `${path} was in the repository ${before}, and is in ${now ?? 'none'} now; nothing was done there`,
        {
          hint: sentence`when that is meant, {project.repin <project>} takes the new one; else remove what was put there`,
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
