import { existsSync, realpathSync } from 'node:fs';
import { SvcError } from '../../../../core/base/errors.ts';
import { sentence } from '../../../../core/base/sentence.ts';
import { findTopAround } from './git-folders.ts';
import { createKeptRecords } from './kept-records.ts';

/**
 * Remembers which repository each folder that workers start in belongs to: the repository at its first use, until a
 * person changes it.
 */
export interface RepositoryPins {
  /**
   * Throws `worktree_unsafe` if a folder is in another repository than at its first use: a worker that may write to
   * the folder could have created one there, with a configuration that names programs. Calls no git.
   */
  checkPin(folder: string): void;
  /** Reports whether `checkPin` would refuse the folder; records nothing. */
  isMoved(folder: string): boolean;
  /** Pins a folder to its current repository. Returns that repository's top folder; null for none. */
  repinRepository(folder: string): string | null;
}

/** @param file the location of the record; null for in memory */
export function createRepositoryPins(file: string | null): RepositoryPins {
  /** An empty string stands for no repository. */
  const tops = createKeptRecords(file, (top: string) => top);
  const recordPin = (folder: string, top: string | null): void => tops.set(folder, top ?? '');

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
        `${path} was in the repository ${before}, but is now in ${now ?? 'none'}; nothing was done there`,
        {
          hint: sentence`if this is intended, {project.repin <project>} accepts the new one; otherwise remove what was put there`,
          data: { path, before, now },
        },
      );
    },
    isMoved(path) {
      if (!existsSync(path)) return false;
      const folder = realpathSync(path);
      const before = tops.get(folder);
      return before !== undefined && before !== (findTopAround(folder) ?? '');
    },
    repinRepository(path) {
      const folder = realpathSync(path);
      const top = findTopAround(folder);
      recordPin(folder, top);
      return top;
    },
  };
}
