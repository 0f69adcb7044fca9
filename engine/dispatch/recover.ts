import { existsSync } from 'node:fs';
import type { ExitResult, RunningProcess } from '../runner/processes/index.ts';
import type { Session } from '../sessions/index.ts';
import { seatOfRun } from './confined.ts';
import type { DispatchDeps } from './context.ts';
import { runDir } from './folders.ts';

export interface Steps {
  own(sessionId: string, work: () => Promise<void>): void;
  begin(sessionId: string): Promise<void>;
  follow(sessionId: string, runId: string, running: RunningProcess): Promise<void>;
  /** The process has ended: what it said, and its exit, make the end or a pause. */
  over(sessionId: string, exit: ExitResult): Promise<void>;
  recordRunning(sessionId: string, running: RunningProcess): Promise<void>;
}

/**
 * Takes over what an earlier host left. A run that never began begins again under a new mark; one that lives is
 * adopted; one that ended meanwhile is recorded. The wrapper's `started` file decides, so nothing runs twice.
 */
export async function recover(deps: DispatchDeps, steps: Steps): Promise<void> {
  takeUp(deps, steps);
  await deps.setup.endAbandonedTeardowns();
  await forgetMissingWorktrees(deps);
}

/** Every live session that has no owner in this host gets one: at the start, and when its owner gave up. */
export function takeUp(deps: DispatchDeps, steps: Steps): void {
  for (const session of deps.sessions.listLive()) {
    // One that waits is stopped by its end alone; see `stop`.
    if (session.state === 'queued' && session.stopReason === null) continue;
    steps.own(session.sessionId, () => takeOver(deps, steps, session));
  }
}

/** A worktree that someone removed by hand is no longer on record; its branch still is what git says (R4). */
async function forgetMissingWorktrees({ storage, sessions, events, worktrees }: DispatchDeps): Promise<void> {
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

async function takeOver(deps: DispatchDeps, steps: Steps, session: Session): Promise<void> {
  const { sessionId } = session;
  if (session.state === 'queued') return steps.over(sessionId, { code: null, signal: null });
  const { runId, pidStart } = deps.sessions.private(sessionId);
  if (runId === null) return steps.begin(sessionId);
  const folder = runDir(deps, sessionId, runId);
  const neverRan = session.state === 'starting' && (!existsSync(folder) || deps.processes.claimStart(folder));
  if (neverRan) {
    deps.log.info({ session: sessionId }, 'the worker had not started; starting it');
    await deps.setup.endAbandonedSetup(sessionId, runId);
    return steps.begin(sessionId);
  }
  const known = session.pid !== null && pidStart !== null ? { pid: session.pid, pidStart } : null;
  const found = known ?? deps.processes.findStartedWrapper({ runDir: folder, runId });
  if (found !== null) {
    deps.log.info({ session: sessionId, pid: found.pid }, 'adopting the worker');
    const running = deps.processes.adopt({ runDir: folder, runId, ...found });
    await steps.recordRunning(sessionId, running);
    return steps.follow(sessionId, runId, running);
  }
  await deps.processes.sweep(runId);
  // Of a host that died: its folder may be elsewhere than the run's.
  await (await seatOfRun(deps, session, runId))?.close();
  const code = deps.processes.readExit(folder);
  return steps.over(sessionId, { code, signal: null });
}
