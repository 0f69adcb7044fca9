import { SvcError } from '../core/base/errors.ts';
import { nameSavedWork } from '../core/base/saved-work.ts';
import type { KeptWorktree } from '../workers/runner/runs/index.ts';
import { findPlacement, type Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

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
  return async (session, isPause) => {
    const { sessionId, taskId, profile, runs } = session;
    const givingUp = new AbortController();
    const timers: NodeJS.Timeout[] = [];
    const giveUpAfter = (ms: number): void => void timers.push(setTimeout(() => givingUp.abort(), ms));
    const checkStop = (): void => {
      if (timers.length === 0 && sessions.get(sessionId).stopReason !== null) giveUpAfter(STOPPED_MS);
    };
    const close = (): void => giveUpAfter(CLOSING_MS);
    looks.add(checkStop);
    checkStop();
    closing.addEventListener('abort', close);
    if (closing.aborted) close();
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
      looks.delete(checkStop);
      closing.removeEventListener('abort', close);
      for (const timer of timers) clearTimeout(timer);
    }
  };
}
