import { hash, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { CLIENT_INFO_META_KEY } from '@modelcontextprotocol/server';
import type { Caller } from '../../core/api/operation.ts';
import { settleWithin } from '../../core/base/settle-within.ts';
import type { Engine } from '../compose/compose.ts';
import type { HttpCaller } from './http-callers.ts';
import type { ClientMessage } from './message.ts';

export type RepeatedCalls = ReturnType<typeof createRepeatedCalls>;

/** How long a call may follow whose first answer was lost, ms. */
const REPEATED_WITHIN_MS = 60_000;
/** How long a request may be replayed whose answer was sent, ms; later its id may belong to another request. */
const REPLAYED_WITHIN_MS = 10_000;
/** How long a call waits for an equal one in progress, ms: its client may be gone, which the machine reports later. */
const SETTLED_WITHIN_MS = 200;
/** The number of calls that are remembered; each takes about 300 bytes. */
const MOST_REMEMBERED = 10_000;

interface RememberedCall {
  key: string;
  id: string | number;
  at: number;
  /** `open`: a request with the same content is from another client of the process, even with the same id. */
  state: 'open' | 'answered' | 'lost';
  /** Resolves when it is no longer open. */
  settled: Promise<void>;
}

/**
 * Recognises tool calls that a client without a session sends again: a call of the same client with the same name and
 * arguments, if the answer to the first one was lost, or if it has the id of one that has just been answered. A call
 * that an engine ran just before it was killed counts as one whose answer was lost.
 */
export function createRepeatedCalls({ findLastCall }: Pick<Engine, 'findLastCall'>) {
  const startedAt = Date.now();
  /** By a digest of client, name and arguments; the oldest first. */
  const remembered = new Map<string, RememberedCall>();
  /** When a client began, by its identity: its ids start again. */
  const begun = new Map<string, number>();

  function findRepeated(digest: string, client: string, id: string | number | null): string | null {
    const call = remembered.get(digest);
    if (call === undefined) return null;
    const age = Date.now() - call.at;
    if (call.state === 'lost' && age < REPEATED_WITHIN_MS) return call.key;
    const isReplayed = call.state === 'answered' && call.id === id && age < REPLAYED_WITHIN_MS;
    return isReplayed && (begun.get(client) ?? 0) <= call.at ? call.key : null;
  }

  /** Finds the call that an earlier engine ran just before it ended. */
  function findInterrupted(digest: string, tool: string, caller: Caller): string | null {
    if (remembered.has(digest) || Date.now() - startedAt > REPEATED_WITHIN_MS) return null;
    const last = findLastCall(caller, tool, digest);
    return last !== null && last.at < startedAt && startedAt - last.at < REPEATED_WITHIN_MS ? last.key : null;
  }

  /** The last call of each connection. */
  const lastCalls = new WeakMap<Socket, RememberedCall>();
  /** A connection that breaks instead of ending took its last answer with it, although that had been sent. */
  function watchSocket(socket: Socket | null, call: RememberedCall): void {
    if (socket === null) return;
    if (!lastCalls.has(socket))
      socket.once('close', (isBroken) => {
        const last = lastCalls.get(socket);
        if (isBroken && last !== undefined) last.state = 'lost';
      });
    lastCalls.set(socket, call);
  }

  function remember(
    digest: string,
    { key, id }: Pick<RememberedCall, 'key' | 'id'>,
    response: ServerResponse,
  ): void {
    const settled = Promise.withResolvers<void>();
    const call: RememberedCall = { key, id, at: Date.now(), state: 'open', settled: settled.promise };
    remembered.delete(digest);
    remembered.set(digest, call);
    response.once('close', () => {
      call.state = response.writableFinished ? 'answered' : 'lost';
      settled.resolve();
    });
    watchSocket(response.socket, call);
    dropOldest(remembered);
  }

  return {
    /**
     * Returns the key of a request; its answer counts as received once `response` has been sent in full. Ids of a
     * session are its own, so an equal id means nothing there.
     */
    async begin(
      { identity, caller }: Pick<HttpCaller, 'identity' | 'caller'>,
      message: ClientMessage,
      response: ServerResponse,
      { isOfSession }: { isOfSession: boolean },
    ): Promise<string> {
      const params = (message.params ?? {}) as { name?: unknown; arguments?: unknown };
      const client = JSON.stringify([identity, message.params?._meta?.[CLIENT_INFO_META_KEY]]);
      if (message.method === 'server/discover') {
        begun.delete(client);
        begun.set(client, Date.now());
        dropOldest(begun);
      }
      if (message.method !== 'tools/call' || !('id' in message) || typeof params.name !== 'string')
        return randomUUID();
      const digest = hash('sha256', JSON.stringify([client, params.name, params.arguments]));
      const earlier = remembered.get(digest);
      if (earlier?.state === 'open') await settleWithin(SETTLED_WITHIN_MS, earlier.settled);
      if (earlier?.state === 'answered') await seeBrokenSockets();
      const key =
        findRepeated(digest, client, isOfSession ? null : message.id) ??
        findInterrupted(digest, params.name, caller) ??
        `${digest}:${randomUUID().slice(0, 8)}`;
      remember(digest, { key, id: message.id }, response);
      return key;
    },
  };
}

/** Lets sockets report that they broke before now: the request may have been read ahead of that, on another one. */
async function seeBrokenSockets(): Promise<void> {
  // Sockets close at the end of a turn, after its immediates.
  await setImmediate();
  await setImmediate();
}

function dropOldest(map: Map<string, unknown>): void {
  const [oldest] = map.size > MOST_REMEMBERED ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}
