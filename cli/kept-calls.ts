import { setTimeout as delay } from 'node:timers/promises';
import { SvcError } from '../engine/core/base/errors.ts';
import { sentence } from '../engine/core/base/sentence.ts';
import type { EngineClient } from '../engine/index.ts';

/**
 * Rule for starting an engine: `new_call` starts one if none is running, `after_crash` only if the last one died. An
 * engine that a person has stopped stays stopped until a new request arrives.
 */
export type StartCondition = 'new_call' | 'after_crash';

const PAUSE_MS = 100;

/** Codes that mean that the engine went away, not that it refused. */
const LOSSES = new Set(['engine_unreachable', 'engine_closing', 'engine_not_running']);
export const isLoss = (error: unknown): error is SvcError =>
  error instanceof SvcError && LOSSES.has(error.code);

/** Returns a function that sends a call until it is answered. */
export function createKeptCalls({
  current,
  isConnected,
  isClosed,
  patienceMs,
  waitsForFirst,
}: {
  /** Returns the connection, opened if there is none. */
  current(start: StartCondition): Promise<EngineClient>;
  isConnected(): boolean;
  isClosed(): boolean;
  /** How long a call waits for an engine that went away. */
  patienceMs: number;
  /** Also waits for an engine that is not running yet. */
  waitsForFirst: boolean;
}) {
  /** @param name for messages about the call */
  return async function keepCalling<T>(
    name: string,
    signal: AbortSignal,
    send: (client: EngineClient) => Promise<T>,
  ): Promise<T> {
    /** From here on an engine may have received it. */
    let isSent = false;
    let sentAt = 0;
    let lostAt: number | null = null;
    for (;;) {
      if (signal.aborted) throw new SvcError('cancelled', `${name} was cancelled`);
      const isTried = isConnected();
      try {
        const client = await current(isSent ? 'after_crash' : 'new_call');
        isSent = true;
        sentAt = Date.now();
        return await send(client);
      } catch (error) {
        if (!isLoss(error) || isClosed()) throw error;
        // Another call's attempt may have been one that starts nothing; this call's own attempt has the right error.
        if (!isSent && !isTried && !waitsForFirst) throw error;
        // A stable connection resets the waiting time.
        if (lostAt === null || (sentAt > lostAt && Date.now() - sentAt > patienceMs)) lostAt = Date.now();
        if (Date.now() - lostAt > patienceMs) throw isSent ? createLostAnswerError(error) : error;
      }
      if (isSent || waitsForFirst) await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  };
}

/** If the engine received the call, its effects remain; only the answer is missing. */
export const createLostAnswerError = ({ code, message }: SvcError): SvcError =>
  new SvcError(code, `${message}: the engine stopped while this call waited for its answer`, {
    hint: sentence`svc up starts it; check what this call has done before you repeat it ({task.list}, {ask.list}, {msg.inbox})`,
  });
