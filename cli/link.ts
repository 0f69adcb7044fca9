import { setTimeout as delay } from 'node:timers/promises';
import { type EngineClient, type EngineLink, SvcError, sentence, settleWithin } from '../engine/index.ts';
import { createFollowing } from './following.ts';

export interface KeptLink extends EngineLink {
  close(): Promise<void>;
}

/**
 * Rule for starting an engine: `new_call` starts one if none is running, `after_crash` only if the last one died. An
 * engine that a person has stopped stays stopped until a new request arrives.
 */
export type StartCondition = 'new_call' | 'after_crash';

/** How long a call waits for an engine that went away: a restart takes less than a second. */
const PATIENCE_MS = 30_000;
const PAUSE_MS = 100;
/** How often a client that only follows events looks for an engine. */
const REJOIN_MS = 1000;
/** A hanging engine must not keep this process alive. */
const LEAVE_MS = 2000;

/** Codes that mean that the engine went away, not that it refused. */
const LOSSES = new Set(['engine_unreachable', 'engine_closing', 'engine_not_running']);
const isLoss = (error: unknown): error is SvcError => error instanceof SvcError && LOSSES.has(error.code);

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

  /** Sends a call until it is answered. @param name for messages about it */
  async function keepCalling<T>(
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
      const isTried = connection !== null;
      try {
        const client = await current(isSent ? 'after_crash' : 'new_call');
        isSent = true;
        sentAt = Date.now();
        return await send(client);
      } catch (error) {
        if (!isLoss(error) || isClosed) throw error;
        // Another call's attempt may have been one that starts nothing; this call's own attempt has the right error.
        if (!isSent && !isTried && !waitsForFirst) throw error;
        // A stable connection resets the waiting time.
        if (lostAt === null || (sentAt > lostAt && Date.now() - sentAt > patienceMs)) lostAt = Date.now();
        if (Date.now() - lostAt > patienceMs) throw isSent ? createLostAnswerError(error) : error;
      }
      if (isSent || waitsForFirst) await delay(PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  }

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

/** If the engine received the call, its effects remain; only the answer is missing. */
const createLostAnswerError = ({ code, message }: SvcError): SvcError =>
  new SvcError(code, `${message}: the engine stopped while this call waited for its answer`, {
    hint: sentence`svc up starts it; check what this call has done before you repeat it ({task.list}, {ask.list}, {msg.inbox})`,
  });
