import type { DispatchDeps } from './context.ts';

/**
 * Runs work with a signal that aborts when a stop of the session is requested, or was requested before.
 * @param looks are called when a stop was requested
 */
export async function withStopSignal<T>(
  { sessions }: Pick<DispatchDeps, 'sessions'>,
  looks: Set<() => void>,
  sessionId: string,
  work: (stopping: AbortSignal) => Promise<T>,
): Promise<T> {
  const stopping = new AbortController();
  const checkStop = (): void => {
    if (sessions.get(sessionId).stopReason !== null) stopping.abort();
  };
  looks.add(checkStop);
  checkStop();
  try {
    return await work(stopping.signal);
  } finally {
    looks.delete(checkStop);
  }
}
