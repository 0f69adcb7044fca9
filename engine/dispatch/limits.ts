import { asSvcError } from '../core/base/errors.ts';
import type { RunName } from '../workers/runner/runs/index.ts';
import type { StopReason } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

/** Interval for checking limits, ms. */
const TICK_MS = 250;
/** How long a machine that is connected again may take to say what has become of a run, ms. */
const RETURN_MS = 5000;

/** The state of a run that its limits depend on. */
export interface RunActivity {
  /** True if it has reported its end. */
  hasTold(): boolean;
  /** When its output last grew, by the monotonic clock, ms. */
  lastOutputAt(): number;
}

/** Work on a run under the limits of its session. */
export interface LimitedWork<T> {
  run: RunName;
  /** When it started, by the monotonic clock, ms. */
  startedAt: number;
  /** Null for work before the agent, whose silence must not stop it. */
  activity: RunActivity | null;
  /** Receives the check of limits, to be called when a stop was requested. */
  looks: Set<() => void>;
  /** Resolves or rejects when the work is over; the runner's `stop` ends it. */
  over: Promise<T>;
}

/** Returns when the agent was started, by the monotonic clock, ms; for a run of an earlier version derived from the other clock. */
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
 * Waits until work on a run is over, and stops the run when a limit is reached or a stop is requested. Limits use the
 * monotonic clock, which ignores the sleep of the machine.
 */
export async function enforceLimits<T>(
  deps: Pick<
    DispatchDeps,
    'storage' | 'sessions' | 'events' | 'runner' | 'machines' | 'clock' | 'log' | 'questions' | 'graceMs'
  >,
  { run, startedAt, activity, looks, over }: LimitedWork<T>,
): Promise<{ value: T; wasStopped: boolean }> {
  const { storage, sessions, events, runner, machines, clock, log, graceMs } = deps;
  const { sessionId } = run;
  const session = sessions.get(sessionId);
  const idleTimeoutSec = activity === null ? 0 : session.idleTimeoutSec;
  let stopping: Promise<void> | null = null;
  /** When its end was reported, and when its last question was seen open. */
  let endedAt: number | null = null;
  let askingAt = startedAt;
  /** When its machine was last seen away, where it may have ended. */
  let awayAt = Number.NEGATIVE_INFINITY;

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

  function checkLimits(): void {
    if (stopping !== null) return;
    const now = clock.monotonic();
    const hold = deps.questions.hold(sessionId);
    if (hold !== 'none') askingAt = now;
    // It may continue after an end, when something that it waited for has arrived.
    endedAt = activity?.hasTold() ? (endedAt ?? now) : null;
    if (session.runner !== null && !machines.isReachable(session.runner)) awayAt = now;
    const isAway = now - awayAt < RETURN_MS;
    const idleSince = Math.max(activity?.lastOutputAt() ?? startedAt, startedAt, askingAt);
    const due: StopReason | null = isAway
      ? null
      : hold === 'overdue'
        ? 'unanswered'
        : now - startedAt >= session.timeoutSec * 1000
          ? hold === 'pausable'
            ? 'unanswered'
            : 'timeout'
          : idleTimeoutSec > 0 && now - idleSince >= idleTimeoutSec * 1000
            ? 'idle_timeout'
            : null;
    // The reported end is decisive, so this is not a reason of ours.
    if (endedAt !== null && now - endedAt >= graceMs) stopping = runner.stop(run, graceMs);
    else if (due !== null && endedAt === null) stopping = stopFor(due);
    else if (sessions.get(sessionId).stopReason !== null) stopping = runner.stop(run, graceMs);
    stopping?.catch((error: unknown) => {
      log.error({ session: sessionId, error: asSvcError(error).message }, 'stopping failed; trying again');
      stopping = null;
    });
  }

  const timer = setInterval(checkLimits, TICK_MS);
  looks.add(checkLimits);
  try {
    checkLimits();
    const value = await over;
    // The run must not be left half stopped.
    if (value !== null) await Promise.resolve(stopping).catch(() => undefined);
    return { value, wasStopped: stopping !== null };
  } finally {
    clearInterval(timer);
    looks.delete(checkLimits);
  }
}
