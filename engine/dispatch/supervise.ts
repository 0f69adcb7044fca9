import { asSvcError } from '../base/errors.ts';
import { createLogWatch, type RunningProcess } from '../runner/processes/index.ts';
import type { StopReason } from '../sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import type { RunExit } from './finish.ts';
import { logFile } from './folders.ts';
import type { Hearing } from './hear.ts';

/** How often limits are looked at, ms. */
const TICK_MS = 250;

export interface Run {
  sessionId: string;
  runId: string;
  running: RunningProcess;
  hearing: Hearing;
  /** Where a supervisor leaves its look, to be called when a stop was asked for. */
  looks: Set<() => void>;
  closing: AbortSignal;
  /** Of what comes before the agent: when that began, by the monotonic clock, ms. Its silence is no reason to stop it. */
  setupSince?: number;
}

/** When the agent was started, by the monotonic clock, ms; of a run of an earlier version as long ago as the other clock says. */
function startOf({ sessions, clock }: Pick<DispatchDeps, 'sessions' | 'clock'>, sessionId: string): number {
  const now = clock.monotonic();
  const { runStartedMonotonic: started } = sessions.private(sessionId);
  if (started !== null && started <= now) return started;
  const { runStartedAt } = sessions.get(sessionId);
  return runStartedAt === null ? now : now - Math.max(0, clock.now() - Date.parse(runStartedAt));
}

/**
 * Waits for the end of a run, and brings it about when a limit is reached or someone asked for it. Limits are counted by the
 * monotonic clock, on which the sleep of the machine takes no time. Null when the host closes first: the worker then goes
 * on alone.
 */
export async function supervise(
  deps: DispatchDeps,
  { sessionId, runId, running, hearing, looks, closing, setupSince }: Run,
): Promise<RunExit | null> {
  const { storage, sessions, events, processes, clock, log } = deps;
  const session = sessions.get(sessionId);
  const startedAt = setupSince ?? startOf(deps, sessionId);
  const idleTimeoutSec = setupSince === undefined ? session.idleTimeoutSec : 0;
  const watch = createLogWatch({ file: logFile(deps, sessionId), clock, onGrow: hearing.look });
  let stopping: Promise<void> | null = null;
  /** When its end was heard, and when its last question was seen waiting. */
  let endedAt: number | null = null;
  let askingAt = startedAt;

  async function stop(): Promise<void> {
    const { survivors } = await processes.stop({ ...running, runId }, { graceMs: deps.graceMs });
    if (survivors.length > 0)
      log.error({ session: sessionId, survivors }, 'processes of the worker could not be ended');
  }

  /** The reason is on disk before the first signal, so that a crash in between does not lose it. */
  async function stopFor(reason: StopReason): Promise<void> {
    await storage.write(() => {
      if (!sessions.stopping(sessionId, reason, 'svc')) return;
      events.append({
        kind: 'session_stopping',
        taskId: session.taskId,
        sessionId,
        via: 'engine',
        data: { reason },
      });
    });
    await stop();
  }

  function look(): void {
    if (stopping !== null) return;
    const now = clock.monotonic();
    if (deps.isAsking(sessionId)) askingAt = now;
    // It may go on after an end, when something that it waited for has come.
    endedAt = hearing.facts().end === null ? null : (endedAt ?? now);
    const idleSince = Math.max(watch.lastChangeAt(), startedAt, askingAt);
    const due: StopReason | null =
      now - startedAt >= session.timeoutSec * 1000
        ? 'timeout'
        : idleTimeoutSec > 0 && now - idleSince >= idleTimeoutSec * 1000
          ? 'idle_timeout'
          : null;
    // The end that it told is what counts, so this is no reason of ours.
    if (endedAt !== null && now - endedAt >= deps.graceMs) stopping = stop();
    else if (due !== null && endedAt === null) stopping = stopFor(due);
    else if (sessions.get(sessionId).stopReason !== null) stopping = stop();
    stopping?.catch((error: unknown) => {
      log.error({ session: sessionId, error: asSvcError(error).message }, 'stopping failed; trying again');
      stopping = null;
    });
  }

  const timer = setInterval(look, TICK_MS);
  looks.add(look);
  const aborted = new Promise<null>((resolve) => {
    if (closing.aborted) resolve(null);
    closing.addEventListener('abort', () => resolve(null), { once: true });
  });
  try {
    look();
    const exit = await Promise.race([running.exited, aborted]);
    if (exit === null) return null;
    // Nothing of the run may be left half stopped.
    await Promise.resolve(stopping).catch(() => undefined);
    watch.check();
    return { ...exit, wasStopped: stopping !== null };
  } finally {
    clearInterval(timer);
    looks.delete(look);
    watch.close();
  }
}
