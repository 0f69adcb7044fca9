import { asSvcError } from '../core/base/errors.ts';
import type { RunName } from '../workers/runner/runs/index.ts';
import type { StopReason } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

/** How often limits are looked at, ms. */
const TICK_MS = 250;

/** What a run does, as far as its limits depend on it. */
export interface RunActivity {
  /** It has told its end. */
  hasTold(): boolean;
  /** When its output last grew, by the monotonic clock, ms. */
  lastOutputAt(): number;
}

/** Work on a run that is held to the limits of its session. */
export interface LimitedWork<T> {
  run: RunName;
  /** When it began, by the monotonic clock, ms. */
  startedAt: number;
  /** Null for what comes before the agent, whose silence is no reason to stop it. */
  activity: RunActivity | null;
  /** Where the look at the limits is left, to be called when a stop was asked for. */
  looks: Set<() => void>;
  /** Resolves or rejects when the work is over; `stop` of the runner brings that about. */
  over: Promise<T>;
}

/** When the agent was started, by the monotonic clock, ms; of a run of an earlier version as long ago as the other clock says. */
export function findRunStart(
  { sessions, clock }: Pick<DispatchDeps, 'sessions' | 'clock'>,
  sessionId: string,
): number {
  const now = clock.monotonic();
  const { runStartedMonotonic: started } = sessions.private(sessionId);
  if (started !== null && started <= now) return started;
  const { runStartedAt } = sessions.get(sessionId);
  return runStartedAt === null ? now : now - Math.max(0, clock.now() - Date.parse(runStartedAt));
}

/**
 * Waits until work on a run is over, and stops the run when a limit is reached or someone asked for it. Limits are counted
 * by the monotonic clock, on which the sleep of the machine takes no time.
 */
export async function enforceLimits<T>(
  deps: Pick<
    DispatchDeps,
    'storage' | 'sessions' | 'events' | 'runner' | 'clock' | 'log' | 'isAsking' | 'graceMs'
  >,
  { run, startedAt, activity, looks, over }: LimitedWork<T>,
): Promise<{ value: T; wasStopped: boolean }> {
  const { storage, sessions, events, runner, clock, log, graceMs } = deps;
  const { sessionId } = run;
  const session = sessions.get(sessionId);
  const idleTimeoutSec = activity === null ? 0 : session.idleTimeoutSec;
  let stopping: Promise<void> | null = null;
  /** When its end was heard, and when its last question was seen waiting. */
  let endedAt: number | null = null;
  let askingAt = startedAt;

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
    await runner.stop(run, graceMs);
  }

  function look(): void {
    if (stopping !== null) return;
    const now = clock.monotonic();
    if (deps.isAsking(sessionId)) askingAt = now;
    // It may go on after an end, when something that it waited for has come.
    endedAt = activity?.hasTold() ? (endedAt ?? now) : null;
    const idleSince = Math.max(activity?.lastOutputAt() ?? startedAt, startedAt, askingAt);
    const due: StopReason | null =
      now - startedAt >= session.timeoutSec * 1000
        ? 'timeout'
        : idleTimeoutSec > 0 && now - idleSince >= idleTimeoutSec * 1000
          ? 'idle_timeout'
          : null;
    // The end that it told is what counts, so this is no reason of ours.
    if (endedAt !== null && now - endedAt >= graceMs) stopping = runner.stop(run, graceMs);
    else if (due !== null && endedAt === null) stopping = stopFor(due);
    else if (sessions.get(sessionId).stopReason !== null) stopping = runner.stop(run, graceMs);
    stopping?.catch((error: unknown) => {
      log.error({ session: sessionId, error: asSvcError(error).message }, 'stopping failed; trying again');
      stopping = null;
    });
  }

  const timer = setInterval(look, TICK_MS);
  looks.add(look);
  try {
    look();
    const value = await over;
    // Nothing of the run may be left half stopped.
    if (value !== null) await Promise.resolve(stopping).catch(() => undefined);
    return { value, wasStopped: stopping !== null };
  } finally {
    clearInterval(timer);
    looks.delete(look);
  }
}
