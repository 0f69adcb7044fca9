import type { RunName } from '../workers/runner/runs/index.ts';
import type { RunProcess, Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import type { RunEnd } from './verdict.ts';

/** The handling of an adopted session. */
export interface RecoverySteps {
  beginSession(sessionId: string): Promise<void>;
  recordProcess(sessionId: string, process: RunProcess): Promise<void>;
  /** Its process runs and is recorded. */
  followRun(run: RunName): Promise<void>;
  /** Its process has ended. */
  finishRun(run: RunName, end: RunEnd): Promise<void>;
  /** It had paused and was stopped. */
  endPaused(sessionId: string): Promise<void>;
  /** Its machine was removed or cut off. */
  loseRun(sessionId: string): Promise<void>;
}

/**
 * Adopts a live session without an owner in this host. A run that never started starts again under a new mark; a
 * living one is adopted; an ended one is recorded. The runner decides which it is, so that nothing runs twice.
 */
export async function takeOver(
  { sessions, runner, machines, log }: Pick<DispatchDeps, 'sessions' | 'runner' | 'machines' | 'log'>,
  steps: RecoverySteps,
  session: Session,
): Promise<void> {
  const { sessionId, profile, state } = session;
  if (session.runner !== null && machines.isGone(session.runner)) return steps.loseRun(sessionId);
  if (state === 'queued') return steps.endPaused(sessionId);
  const { runId, process } = sessions.private(sessionId);
  if (runId === null) return steps.beginSession(sessionId);
  const run = { sessionId, runId };
  const found = await runner.adopt({ run, profile, process, mayNotHaveStarted: state === 'starting' });
  if (found.state === 'not_started') {
    log.info({ session: sessionId }, 'the worker had not started; starting it');
    return steps.beginSession(sessionId);
  }
  if (found.state === 'ended') return steps.finishRun(run, found.exit);
  await steps.recordProcess(sessionId, found.process);
  return steps.followRun(run);
}
