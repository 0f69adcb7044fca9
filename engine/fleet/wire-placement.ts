import { SvcError } from '../core/base/errors.ts';
import type { Transfers } from '../workers/runner/worktrees/transfer/index.ts';
import { type SessionPlacement, writeSitePath } from '../workers/sessions/index.ts';
import type { WirePlacement } from './messages.ts';

/** Writes a placement for its machine, which knows repositories by their ids. Throws `worktree_unsafe`. */
export async function writeWirePlacement(
  transfers: Pick<Transfers, 'identifyRepository'>,
  { repository, worktree, branch, baseCommit, cwd, base, port }: SessionPlacement,
): Promise<WirePlacement> {
  if (repository === null || worktree === null || branch === null || baseCommit === null)
    throw new SvcError('worktree_unsafe', 'the session has no worktree on its machine');
  return {
    runner: null,
    repository: await transfers.identifyRepository(repository, baseCommit),
    worktree: writeSitePath<never>(worktree),
    cwd: writeSitePath<never>(cwd),
    ...{ branch, base, baseCommit, port },
  };
}
