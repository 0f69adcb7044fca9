import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../../engine/core/base/backoff.ts';
import { asSvcError, SvcError } from '../../engine/core/base/errors.ts';
import type { EngineClient } from '../../engine/index.ts';

const PAUSES = { firstMs: 200, longestMs: 5000 };

/**
 * Keeps a connection to the engine while the dashboard is open. At most the first attempt may start the engine: an
 * engine that was stopped must not come back by itself.
 */
export function keepConnected(options: {
  connect(start: boolean): Promise<EngineClient>;
  /** Subscribes and fetches the first data. A failure counts as a lost connection. */
  onConnected(client: EngineClient): Promise<void>;
  onLost(reason: string): void;
  /** True if the first attempt starts an engine that is not running. */
  startsFirst: boolean;
  signal: AbortSignal;
}): { startEngine(): void; client(): EngineClient } {
  let current: EngineClient | null = null;
  let wantsStart = options.startsFirst;
  let wakeConnection: () => void = () => undefined;

  async function runConnectionLoop(): Promise<void> {
    for (let failures = 1; !options.signal.aborted; failures += 1) {
      try {
        const start = wantsStart;
        wantsStart = false;
        const client = await options.connect(start);
        current = client;
        await options.onConnected(client);
        failures = 1;
        await client.closed;
        if (options.signal.aborted) return;
        options.onLost('the connection ended');
      } catch (error) {
        current?.close();
        if (options.signal.aborted) return;
        options.onLost(asSvcError(error).message);
      }
      current = null;
      const waited = new AbortController();
      wakeConnection = () => waited.abort();
      const signal = AbortSignal.any([waited.signal, options.signal]);
      await delay(backoffMs(failures, PAUSES), undefined, { signal }).catch(() => undefined);
    }
  }
  void runConnectionLoop();

  return {
    startEngine() {
      wantsStart = true;
      wakeConnection();
    },
    client() {
      if (current === null)
        throw new SvcError('engine_not_running', 'the engine is not running', { hint: 'u starts it' });
      return current;
    },
  };
}
