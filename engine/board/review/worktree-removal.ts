import { type PruneEntry, samePath } from '../../workers/runner/worktrees/index.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { WorktreeActionsDeps } from './deps.ts';

/** Steps around removing a worktree: its teardown before, its record after. */
export interface WorktreeRemoval {
  recordGone(branches: string[]): Promise<void>;
  /** Runs the teardown before a worktree is removed. A failure is reported and does not prevent the removal. */
  prepareRemoval(warnings: string[]): (entry: Pick<PruneEntry, 'branch' | 'path'>) => Promise<void>;
}

export function createWorktreeRemoval(
  deps: Pick<WorktreeActionsDeps, 'storage' | 'events' | 'sessions' | 'clearWorktree'>,
): WorktreeRemoval {
  const { storage, events, sessions } = deps;
  const findSessionOfBranch = (branch: string): Session | null => sessions.byBranch(branch);

  async function recordGone(branches: string[]): Promise<void> {
    const gone = branches.flatMap((branch) => findSessionOfBranch(branch) ?? []);
    if (gone.length === 0) return;
    await storage.write(() => {
      for (const { sessionId, taskId, branch } of gone) {
        sessions.worktreeGone(sessionId);
        // A branch is only removed if its base contains it.
        sessions.branchBecame(sessionId, 'merged');
        events.append({ kind: 'worktree_pruned', sessionId, taskId, data: { branch } });
      }
    });
  }

  const prepareRemoval =
    (warnings: string[]) =>
    async ({ branch, path }: Pick<PruneEntry, 'branch' | 'path'>): Promise<void> => {
      const session = findSessionOfBranch(branch);
      if (session === null || !isOwnWorktree(session, path)) return;
      const found = await deps.clearWorktree(session);
      warnings.push(...found);
      if (found.length === 0) return;
      const { sessionId, taskId, title } = session;
      const data = {
        title,
        reason: 'the teardown of a worktree failed',
        detail: found.join('; '),
      };
      await storage.write(() => events.append({ kind: 'alert', sessionId, taskId, via: 'engine', data }));
    };

  return { recordGone, prepareRemoval };
}

/** Another workspace may have a worktree of that branch. One on another machine is at no path here. */
function isOwnWorktree({ worktree }: Session, path: string | null): boolean {
  if (worktree === null) return false;
  return typeof worktree === 'string' ? path !== null && samePath(path, worktree) : path === null;
}
