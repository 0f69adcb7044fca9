import { existsSync } from 'node:fs';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { Worktrees } from '../../workers/runner/worktrees/index.ts';
import type { Sessions } from '../../workers/sessions/index.ts';

/** Clears records of worktrees that someone removed by hand; git still decides about their branches (R4). */
export async function forgetMissingWorktrees({
  storage,
  sessions,
  events,
  worktrees,
}: {
  storage: Pick<Storage, 'write'>;
  sessions: Pick<Sessions, 'endedWithWorktree' | 'worktreeGone'>;
  events: Pick<EventLog, 'append'>;
  worktrees: Pick<Worktrees, 'forgetWorktree' | 'returnFromAside'>;
}): Promise<void> {
  // Their removal may have been interrupted before anything was deleted.
  for (const { worktree } of sessions.endedWithWorktree())
    if (worktree !== null && !existsSync(worktree)) worktrees.returnFromAside(worktree);
  const missing = sessions.endedWithWorktree().filter(({ worktree }) => !existsSync(worktree ?? ''));
  if (missing.length === 0) return;
  for (const { worktree } of missing) if (worktree !== null) worktrees.forgetWorktree(worktree);
  await storage.write(() => {
    for (const { sessionId, taskId, branch } of missing) {
      sessions.worktreeGone(sessionId);
      events.append({
        kind: 'worktree_pruned',
        sessionId,
        taskId,
        via: 'engine',
        data: { branch, found: 'missing' },
      });
    }
  });
}
