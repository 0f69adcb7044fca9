import type { DispatchOptions } from '../board/index.ts';
import { SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { Destination, DispatchDeps } from './context.ts';

/**
 * Finds where a session may run; null for this machine. A session that continues another works where its worktree is.
 * Throws `usage`, `no_runner`, `share_missing`.
 */
export function findDestination(
  { machines, sessions }: Pick<DispatchDeps, 'machines' | 'sessions'>,
  project: string | null,
  options: DispatchOptions,
): Destination | null {
  if (options.continues !== undefined) {
    const { sessionId, taskId, pool, runner, commits } = sessions.get(options.continues);
    if (pool === null || runner === null) return null;
    if (machines.isKnown(runner)) return { pool, runner };
    // Its branch is here, and continues on another machine.
    if (commits !== null) return { pool, runner: null };
    throw new SvcError('no_runner', `the machine of ${sessionId} was removed, and its work with it`, {
      hint: sentence`{task.run ${taskId}} starts over`,
    });
  }
  const destination = machines.findDestination(project, options);
  if (destination !== null && options.inplace === true)
    throw new SvcError('usage', 'a run in the project’s own folder cannot be on another machine', {
      hint: 'leave out inplace, or name the pool local',
    });
  return destination;
}
