import { SvcError } from '../core/base/errors.ts';
import { nameSavedWork } from '../core/base/saved-work.ts';
import type { KeptWorktree } from '../workers/runner/runs/index.ts';
import { findPlacement, type Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import { withStopSignal } from './stop-signal.ts';

/** How long saving may still take once a stop is requested, ms: a filter of git may wait for ever. */
const STOPPED_MS = 60_000;
/** How long it may still take once the engine stops, ms: the next one repeats it. */
const CLOSING_MS = 10_000;

/** Saves the work of a session. @param isPause it continues later: nothing is committed */
export type KeepSessionWork = (session: Session, isPause: boolean) => Promise<KeptWorktree>;

/**
 * Creates the function that saves the work of a session. It throws `engine_closing` if the engine stops before that
 * ends.
 * @param looks are called when a stop was requested
 */
export function createKeepWork(
  { sessions, runner }: Pick<DispatchDeps, 'sessions' | 'runner'>,
  looks: Set<() => void>,
  closing: AbortSignal,
): KeepSessionWork {
  async function keepUntil(session: Session, isPause: boolean, stopping: AbortSignal): Promise<KeptWorktree> {
    const { sessionId, taskId, profile, runs } = session;
    const givingUp = new AbortController();
    const over = new AbortController();
    const timers: NodeJS.Timeout[] = [];
    function giveUpAfter(signal: AbortSignal, ms: number): void {
      const begin = (): void => void timers.push(setTimeout(() => givingUp.abort(), ms));
      if (signal.aborted) begin();
      else signal.addEventListener('abort', begin, { signal: over.signal });
    }
    giveUpAfter(stopping, STOPPED_MS);
    giveUpAfter(closing, CLOSING_MS);
    try {
      const kept = await runner.keep({
        sessionId,
        number: runs,
        profile,
        placement: findPlacement(session),
        isAlone: sessions.isOnlyInplace(sessionId),
        message: isPause ? null : nameSavedWork(`${sessionId} (${taskId})`),
        signal: givingUp.signal,
      });
      if (closing.aborted && givingUp.signal.aborted)
        throw new SvcError('engine_closing', `the engine stops before the work of ${sessionId} is saved`);
      return kept;
    } finally {
      over.abort();
      for (const timer of timers) clearTimeout(timer);
    }
  }

  return (session, isPause) =>
    withStopSignal({ sessions }, looks, session.sessionId, (stopping) =>
      keepUntil(session, isPause, stopping),
    );
}
