import { randomBytes } from 'node:crypto';
import type { Log } from '../../core/base/log.ts';
import { version } from '../../core/base/own-package.ts';
import type { MachineFacts } from '../messages.ts';
import { FLEET_PROTOCOL, keepLinked, type Link, type LinkHandlers, openLink } from '../wire/index.ts';
import { subjectsOf } from '../wire/join-line.ts';
import { createMessageStream, type MessageStream } from '../wire/message-stream.ts';
import { type Broker, connectToBroker } from '../wire/nats.ts';
import { secureAsClient } from '../wire/secure.ts';
import type { BoardLink } from './board-link.ts';
import type { JoinedFleet } from './joined-fleet.ts';

/** A broker that reads its list again may refuse a machine for a moment, ms. */
const REFUSED_MS = 60_000;

/** Keeps this machine connected to the board over the broker of its fleet, from inside outwards. */
export function dialBoard({
  fleet,
  joined,
  handlers,
  board,
  describe,
  readLeaseMs,
  onRefused,
  log,
}: {
  fleet: string;
  joined: JoinedFleet;
  handlers: LinkHandlers;
  board: Pick<BoardLink, 'attach'>;
  describe(): Promise<MachineFacts>;
  /** Returns how long the runs here may continue without the board, ms; null for ever. */
  readLeaseMs(): number | null;
  /** Called at each attempt, once the broker has refused this machine for a minute: it was taken out of the fleet. */
  onRefused?(): void;
  log: Log;
}): { close(): Promise<void> } {
  const { runner, servers, authority, nkeySeed, key, certificate, board: peer } = joined;
  const subjects = subjectsOf(fleet);
  let broker: Broker | null = null;
  let current: MessageStream | null = null;
  let lastError = '';
  let refusedAt: number | null = null;

  async function reachBroker(): Promise<Broker> {
    const access = { servers, authority, inbox: subjects.toRunner(runner).slice(0, -2), login: { nkeySeed } };
    if (broker !== null) return broker;
    const made = await connectToBroker(access, (isUp) => {
      if (isUp) return;
      // The next attempt connects again, and so learns whether this machine is refused.
      if (broker === made) broker = null;
      current?.stream.destroy();
      void made.close();
    });
    broker = made;
    broker.subscribe(subjects.reset(runner), () => {
      current?.stream.destroy();
      kept.reconnectNow();
    });
    return broker;
  }

  async function open(signal: AbortSignal): Promise<Link> {
    const reached = await reachBroker();
    const number = randomBytes(16).toString('hex');
    const made = createMessageStream((message) => reached.publish(subjects.up(runner, number), message));
    current = made;
    const release = reached.subscribe(subjects.down(runner, number), made.receive);
    made.stream.on('error', () => made.stream.destroy());
    made.stream.once('close', release);
    try {
      reached.publish(subjects.open(runner), Buffer.from(number));
      const stream = await secureAsClient(made.stream, { key, certificate, peer });
      const hello = { protocol: FLEET_PROTOCOL, version, about: await describe() };
      const link = await openLink(stream, hello, handlers, { signal });
      void link.ended.then(() => made.stream.destroy());
      return link;
    } catch (error) {
      made.stream.destroy();
      throw error;
    }
  }

  const kept = keepLinked({
    ...{ open, readLeaseMs },
    onLinked(link) {
      lastError = '';
      refusedAt = null;
      board.attach(link);
    },
    onLost({ message }) {
      refusedAt = /authorization/i.test(message) ? (refusedAt ?? performance.now()) : null;
      if (refusedAt !== null && performance.now() - refusedAt >= REFUSED_MS) onRefused?.();
      if (message !== lastError) log.warn({ error: message }, 'the board is not connected');
      lastError = message;
    },
  });
  return {
    async close() {
      await kept.close();
      await broker?.close();
    },
  };
}
