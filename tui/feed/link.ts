import { setTimeout as delay } from 'node:timers/promises';
import { asSvcError, backoffMs, type EngineClient, SvcError } from '../../engine/index.ts';

const PAUSES = { firstMs: 200, longestMs: 5000 };

/**
 * Keeps a connection to the engine for as long as the dashboard lives. The first try may start the engine; later ones
 * only wait for it, because a person who stopped it does not want it back by itself.
 */
export function keepConnected(options: {
  connect(start: boolean): Promise<EngineClient>;
  /** Subscribes and fetches what is needed; a failure counts as a lost connection. */
  onConnected(client: EngineClient): Promise<void>;
  onLost(reason: string): void;
  signal: AbortSignal;
}): { start(): void; client(): EngineClient } {
  let current: EngineClient | null = null;
  let wantsStart = true;
  let wake: () => void = () => undefined;

  async function run(): Promise<void> {
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
      wake = () => waited.abort();
      const signal = AbortSignal.any([waited.signal, options.signal]);
      await delay(backoffMs(failures, PAUSES), undefined, { signal }).catch(() => undefined);
    }
  }
  void run();

  return {
    start() {
      wantsStart = true;
      wake();
    },
    client() {
      if (current === null)
        throw new SvcError('engine_not_running', 'the engine is away', { hint: 'u starts it' });
      return current;
    },
  };
}
