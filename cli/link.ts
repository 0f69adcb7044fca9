import { SvcError } from '../engine/core/base/errors.ts';
import { settleWithin } from '../engine/core/base/settle-within.ts';
import type { EngineClient, EngineLink, LoggedEvent, WireValue } from '../engine/index.ts';
import { createFollowing } from './following.ts';
import { createKeptCalls, isLoss, type StartCondition } from './kept-calls.ts';

export interface KeptLink extends Pick<EngineLink, 'call' | 'callTool' | 'sessionId'> {
  /** Delivers every event after `begun` resolves, until `stop` is called. */
  onEvent(listener: (event: WireValue<LoggedEvent>) => void): { begun: Promise<void>; stop(): void };
  close(): Promise<void>;
}

/** How long a call waits for an engine that went away: a restart takes less than a second. */
const PATIENCE_MS = 30_000;
/** How often a client that only follows events looks for an engine. */
const REJOIN_MS = 1000;
/** A hanging engine must not keep this process alive. */
const LEAVE_MS = 2000;

export interface LinkOptions {
  /** How long a call waits for an engine that went away, ms; 30 s. */
  patienceMs?: number;
  /** Also waits for an engine that is not running yet, while a first call would otherwise fail immediately. */
  waitsForFirst?: boolean;
  /** Joins under its own seat, which closing releases. */
  attends?: boolean;
}

/**
 * One engine connection for as long as its user lives, over as many reconnects as needed. A call whose connection is
 * lost is sent again under its own key, so its effects happen once and it keeps waiting for the same result.
 */
export function createEngineLink(
  connect: (start: StartCondition) => Promise<EngineClient>,
  { patienceMs = PATIENCE_MS, waitsForFirst = false, attends = false }: LinkOptions = {},
): KeptLink {
  let connection: Promise<EngineClient> | null = null;
  let isClosed = false;
  let rejoining: NodeJS.Timeout | undefined;
  const following = createFollowing(rejoinLater);

  async function openConnection(start: StartCondition): Promise<EngineClient> {
    const client = await connect(start);
    try {
      if (isClosed) throw new SvcError('cancelled', 'the client has gone');
      await following.continueOver(client).catch((error: unknown) => {
        if (isLoss(error)) throw error;
        // Calls are answered even if nothing more can be followed.
        rejoinLater();
      });
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }

  function current(start: StartCondition): Promise<EngineClient> {
    if (connection !== null) return connection;
    const opening = openConnection(start);
    const forgetConnection = (): void => {
      if (connection === opening) connection = null;
    };
    connection = opening;
    opening.then(
      (client) => client.closed.then(forgetConnection).then(rejoin),
      () => {
        forgetConnection();
        rejoinLater();
      },
    );
    return opening;
  }

  /** Reconnects, because a client that follows events must receive them without making calls. */
  function rejoin(): void {
    clearTimeout(rejoining);
    if (isClosed || !following.isWanted()) return;
    current('after_crash')
      .then(following.continueOver)
      .catch(() => rejoinLater());
  }

  function rejoinLater(): void {
    clearTimeout(rejoining);
    if (isClosed || !following.isWanted()) return;
    rejoining = setTimeout(rejoin, REJOIN_MS);
    rejoining.unref();
  }

  const keepCalling = createKeptCalls({
    current,
    isConnected: () => connection !== null,
    isClosed: () => isClosed,
    patienceMs,
    waitsForFirst,
  });

  return {
    call: (operation, input, options) =>
      keepCalling(operation, options.signal, (client) => client.run(operation, input, options)),
    callTool: (name, input, options) =>
      keepCalling(name, options.signal, (client) => client.callTool(name, input, options)),
    onEvent(listener) {
      const stop = following.add(listener);
      const begun = current('new_call').then(following.continueOver);
      begun.catch(() => rejoinLater());
      return { begun, stop };
    },
    async sessionId() {
      return (await current('new_call')).welcome.session_id;
    },
    async close() {
      isClosed = true;
      clearTimeout(rejoining);
      const leaving = connection?.then(async (client) => {
        if (attends) await client.call('seat.leave', {}).catch(() => undefined);
        client.close();
      });
      await settleWithin(LEAVE_MS, leaving?.catch(() => undefined) ?? Promise.resolve());
    },
  };
}
