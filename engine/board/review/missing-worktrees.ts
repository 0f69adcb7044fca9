import { existsSync } from 'node:fs';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { Worktrees } from '../../workers/runner/worktrees/index.ts';
import { findLocalPath, type Session, type Sessions } from '../../workers/sessions/index.ts';

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
  for (const { worktree } of listMissing(sessions)) worktrees.returnFromAside(worktree);
  const missing = listMissing(sessions);
  if (missing.length === 0) return;
  for (const { worktree } of missing) worktrees.forgetWorktree(worktree);
  await storage.write(() => {
    for (const { session } of missing) {
      const { sessionId, taskId, branch } = session;
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

/** Lists ended sessions whose worktree should be on this machine, and is not. */
const listMissing = (
  sessions: Pick<Sessions, 'endedWithWorktree'>,
): { session: Session; worktree: string }[] =>
  sessions.endedWithWorktree().flatMap((session) => {
    const worktree = findLocalPath(session.worktree);
    return worktree === null || existsSync(worktree) ? [] : [{ session, worktree }];
  });
