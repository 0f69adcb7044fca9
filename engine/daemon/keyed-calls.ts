import type { Caller, CallOptions } from '../core/api/operation.ts';

/** The calls of a connection that can be cancelled, by their key. */
export function createKeyedCalls(
  gone: AbortSignal,
  waitForCaller: () => Promise<Caller>,
  sendProgress: (params: { key: string; message: string }) => void,
) {
  const running = new Map<string, AbortController>();
  gone.addEventListener('abort', () => {
    for (const call of running.values()) call.abort();
  });
  async function answerUnderKey<T>(
    key: string,
    answer: (from: Caller, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const from = await waitForCaller();
    const cancelled = new AbortController();
    if (gone.aborted) cancelled.abort();
    running.set(key, cancelled);
    try {
      return await answer(from, {
        key,
        signal: cancelled.signal,
        progress: (message) => sendProgress({ key, message }),
      });
    } finally {
      running.delete(key);
    }
  }

  return { answerUnderKey, cancel: (key: string) => running.get(key)?.abort() };
}
