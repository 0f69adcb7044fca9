import { setTimeout as delay } from 'node:timers/promises';
import {
  type EngineClient,
  type EngineLink,
  type LoggedEvent,
  type RunOptions,
  SvcError,
  type Wire,
} from '../../engine/index.ts';

export interface KeptLink extends EngineLink {
  close(): Promise<void>;
}

/** How long a call waits for an engine that is away: a restart takes less than a second. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 100;

/** What says that the engine went away, not that it refused. */
const isLoss = (error: unknown): boolean =>
  error instanceof SvcError && (error.code === 'engine_unreachable' || error.code === 'engine_closing');

/**
 * One engine for as long as the MCP client lives, over as many connections as it takes. A call whose connection is lost
 * is sent again under its own key, so that what it did is not done twice and what it waited for is waited for on.
 */
export function createLink(connect: () => Promise<EngineClient>): KeptLink {
  let connection: Promise<EngineClient> | null = null;
  let isClosed = false;
  const listeners = new Set<(event: Wire<LoggedEvent>) => void>();
  /** Where following goes on after a lost connection. */
  let resume: { after: number; log_id: string } | null = null;

  async function open(): Promise<EngineClient> {
    const client = await connect();
    void client.closed.then(() => {
      connection = null;
      // Whoever follows is to hear of what happens without asking for anything.
      if (!isClosed && listeners.size > 0) void current().catch(() => undefined);
    });
    if (listeners.size > 0) await follow(client);
    return client;
  }

  function current(): Promise<EngineClient> {
    connection ??= open().catch((error: unknown) => {
      connection = null;
      throw error;
    });
    return connection;
  }

  async function follow(client: EngineClient): Promise<void> {
    const { log_id, from } = await client.subscribe<{ subscription: number; log_id: string; from: number }>(
      'events.subscribe',
      resume ?? {},
      ({ method, params }) => {
        if (method !== 'event') return;
        const event = params.event as Wire<LoggedEvent>;
        resume = { after: event.seq, log_id };
        for (const listener of listeners) listener(event);
      },
    );
    resume = { after: Math.max(from, resume?.log_id === log_id ? resume.after : 0), log_id };
  }

  async function call<T>(operation: string, input: object, options: Required<RunOptions>): Promise<T> {
    const until = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await (await current()).run<T>(operation, input, options);
      } catch (error) {
        if (!isLoss(error) || isClosed || options.signal.aborted || Date.now() > until) throw error;
      }
      await delay(PAUSE_MS);
    }
  }

  return {
    call,
    onEvent(listener) {
      const isFirst = listeners.size === 0;
      listeners.add(listener);
      if (isFirst)
        void current().then(
          (client) => (resume === null ? follow(client) : undefined),
          () => undefined,
        );
      return () => listeners.delete(listener);
    },
    async sessionId() {
      return (await current()).welcome.session_id;
    },
    async close() {
      isClosed = true;
      const client = await connection?.catch(() => null);
      await client?.call('seat.leave', {}).catch(() => undefined);
      client?.close();
    },
  };
}
