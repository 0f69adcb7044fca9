import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { asSvcError, SvcError } from '../../../../core/base/errors.ts';
import { createKeyedQueue } from '../../../../core/base/serial-queue.ts';
import type { Git } from '../git/git.ts';
import {
  listPrivateGits,
  locatePrivateGit,
  type PrivateGit,
  type PrivateGitRecord,
  readPrivateGit,
  readPrivateTip,
  writePrivateGit,
} from '../git/private-git.ts';
import { buildObjectsEnvironment, PLAIN } from '../git/received-objects.ts';
import { branchRef, sessionNameOf } from '../git/refs.ts';
import { findTraps } from '../git/traps.ts';
import { takeBranch } from './take-branch.ts';
import { takeLfsObjects } from './take-lfs.ts';
import { END_MS, takeObjects } from './take-objects.ts';
import { takeIndex, takeOtherCommits } from './take-unbranched.ts';

/** The result of taking over a private git folder at the end of a run. */
export interface TakenOver {
  /** The reason why the branch, or a part of it, was not taken over; one sentence. */
  problem: string | null;
  /** True if the branch and everything reachable from it is in the repository. */
  isWhole: boolean;
  /** Refs that now hold commits that were not on the session's branch, or do not descend from its base. */
  savedRefs: string[];
  /** The environment in which git calls in the worktree read and write the private objects too. */
  env: Record<string, string>;
  /** Takes over a commit that was made with `env`. Throws `worktree_unsafe`. */
  takeCommit(commit: string): Promise<void>;
}

export interface TakeOver {
  /**
   * Copies what a strict worker has committed so far into the repository for reading. Failures are left to the end of
   * the run. Never throws.
   */
  takeOverBranch(branch: string): Promise<void>;
  /** `takeOverBranch` for every branch. */
  takeOverAllBranches(): Promise<void>;
  /**
   * Takes over, at the end of a run or of a person's stay, the branch, other commits that the worktree names and,
   * with `index`, staged changes. Null if there is no private folder. Never throws.
   */
  takeOverAtEnd(worktree: string, options?: { index?: boolean }): Promise<TakenOver | null>;
}

const LIVE_MS = 20_000;

/**
 * Takes over commits of strict workers. They write objects into private folders, where any content may have any name:
 * git does not compare a blob's content with its name when reading it. So everything is read from there exactly once,
 * into a pack in which every object is renamed by its content, and which is only accepted when everything reachable
 * is in the repository. The engine's own reads only use the repository.
 */
export function createTakeOver(plain: Git, agentsDir: string): TakeOver {
  /** Tips that could not be taken over during their run; the end of the run will report why. */
  const refused = new Map<string, string>();
  /** Work runs one at a time for each private folder. */
  const enqueue = createKeyedQueue();

  async function followStore(store: PrivateGit): Promise<void> {
    const record = readPrivateGit(store);
    if (record === null || record.refused !== null) return;
    const tip = readPrivateTip(store, record);
    if (tip === null || tip === record.known || refused.get(store.folder) === tip) return;
    await enqueue(store.folder, async () => {
      const seen = readPrivateGit(store);
      if (seen === null || seen.known === tip) return;
      try {
        if (findTraps(store.objects, { links: true }).length > 0)
          throw new SvcError('worktree_unsafe', 'links or pipes are among its objects');
        await takeBranch(plain, store, seen, tip, LIVE_MS);
      } catch (error) {
        if (!(error instanceof SvcError)) throw error;
        refused.set(store.folder, tip);
      }
    }).catch(() => undefined);
  }

  async function settleStore(
    store: PrivateGit,
    record: PrivateGitRecord,
    withIndex: boolean,
  ): Promise<TakenOver> {
    const env = { ...PLAIN, ...buildObjectsEnvironment(store.objects, record.common) };
    const result: TakenOver = {
      problem: record.refused,
      isWhole: record.refused === null,
      savedRefs: [],
      env: record.refused === null ? env : {},
      async takeCommit(commit) {
        const now = readPrivateGit(store) ?? record;
        await enqueue(store.folder, () =>
          takeObjects(plain, store, now, { wanted: [commit], known: [now.known], timeoutMs: END_MS }),
        );
      },
    };
    if (record.refused !== null) return result;
    removeTraps(store);
    const tip = readPrivateTip(store, record);
    try {
      // First, so that no branch of the repository names missing content.
      await takeLfsObjects(store.lfs, join(record.common, 'lfs'));
      if (tip === null)
        Object.assign(result, {
          isWhole: false,
          env: {},
          problem: 'its branch no longer exists inside, or is not a commit',
        });
      else if (tip !== record.known) {
        const ref = await takeBranch(plain, store, record, tip, END_MS);
        if (ref !== null) result.savedRefs.push(ref);
      }
    } catch (error) {
      const why = asSvcError(error).message;
      writePrivateGit(store, { ...record, refused: why });
      // HEAD may be just as untrustworthy: saves the files on its branch instead.
      const back = ['symbolic-ref', '-m', 'svc: back on its branch', 'HEAD', branchRef(record.branch)];
      await plain.run(record.worktree, back, { allowFail: true });
      return {
        ...result,
        isWhole: false,
        env: {},
        problem: `${why}; its commits are kept in ${store.folder} and not used`,
      };
    }
    const after = readPrivateGit(store) ?? record;
    try {
      result.savedRefs.push(...(await takeOtherCommits(plain, store, after)));
      if (withIndex) await takeIndex(plain, store, after, env);
    } catch (error) {
      const why = asSvcError(error).message;
      result.problem ??= `the work outside its branch could not be taken over: ${why}; it is in ${store.folder}`;
    }
    return result;
  }

  return {
    takeOverBranch: (branch) => followStore(locatePrivateGit(agentsDir, sessionNameOf(branch))),
    async takeOverAllBranches() {
      for (const store of listPrivateGits(agentsDir)) await followStore(store);
    },
    async takeOverAtEnd(worktree, { index = false } = {}) {
      const store = locatePrivateGit(agentsDir, worktree);
      refused.delete(store.folder);
      return enqueue(store.folder, async () => {
        const record = readPrivateGit(store);
        return record === null ? null : settleStore(store, record, index);
      });
    },
  };
}

function removeTraps({ objects, refs, logs, ownRefs, ownLogs }: PrivateGit): void {
  for (const folder of [objects, refs, logs, ownRefs, ownLogs])
    for (const path of findTraps(folder, { links: true })) rmSync(path, { force: true });
}
