import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { ping, WebSocket } from 'undici';
import { z } from 'zod';
import { createOutgoing } from '../../../core/http/outgoing.ts';
import type { ProxySettings } from '../../../core/http/proxies.ts';
import { ChatSendError } from '../service.ts';

// undici's WebSocket is that of Node itself; the package also allows pings and limits unpacked message sizes.

const LARGEST_MESSAGE_BYTES = 1024 ** 2;
/** Number of checks without a sign of life after which a connection counts as dead. */
const MOST_SILENT_LOOKS = 2;
const CLOSING_MS = 1000;
const PONG = 'undici:websocket:pong';

/** The reason to stop using a connection. */
export type SocketEnd =
  /** Slack is about to close it. */
  | 'refresh'
  /** Socket Mode was switched off for the app. */
  | 'link_disabled'
  /** The app has as many connections as Slack allows. */
  | 'too_many'
  /** It broke, or Slack was silent for too long. */
  | 'lost';

/** A received payload that must be acknowledged. */
export interface SlackEnvelope {
  payload: unknown;
  acknowledge(): void;
}

/** One connection of Socket Mode. */
export interface SlackSocket {
  /** The app's id, as reported by Slack; null if it is not reported. */
  appId: string | null;
  /** Resolves with the first reason to open another one. Payloads that arrive until it is closed are still accepted. */
  over: Promise<SocketEnd>;
  close(): Promise<void>;
}

const hello = z.looseObject({
  type: z.literal('hello'),
  connection_info: z.looseObject({ app_id: z.string().nullish() }).nullish(),
});
const disconnect = z.looseObject({ type: z.literal('disconnect'), reason: z.string().nullish() });
const envelope = z.looseObject({
  type: z.string(),
  envelope_id: z.string().min(1).max(200),
  payload: z.unknown(),
});

function readSocketMessage(data: unknown): unknown {
  try {
    return typeof data === 'string' ? JSON.parse(data) : undefined;
  } catch {
    return undefined;
  }
}

const readEnd = (reason: string | null | undefined): SocketEnd => {
  if (reason === 'link_disabled') return 'link_disabled';
  return reason === 'too_many_websockets' ? 'too_many' : 'refresh';
};

export interface SocketWishes {
  onEnvelope(envelope: SlackEnvelope): void;
  proxies: ProxySettings;
  signal: AbortSignal;
  /** Time limit for the greeting. */
  helloMs: number;
  /** Interval for checking for a sign of life. */
  pingMs: number;
}

/**
 * Opens a connection and resolves after Slack's greeting. Throws `ChatSendError`.
 * @param url contains a secret
 */
export async function openSlackSocket(
  url: URL,
  { onEnvelope, proxies, signal, helloMs, pingMs }: SocketWishes,
): Promise<SlackSocket> {
  const wires = new Set<Socket>();
  const agent = createOutgoing(url, proxies, {
    connectMs: helloMs,
    onWire: (wire) => void wires.add(wire),
    webSocket: { maxPayloadSize: LARGEST_MESSAGE_BYTES },
  });
  const socket = new WebSocket(url, { dispatcher: agent });
  const greeted = Promise.withResolvers<string | null>();
  const over = Promise.withResolvers<SocketEnd>();
  const closed = Promise.withResolvers<void>();
  let silentLooks = 0;
  let isGreeted = false;

  const cutConnection = (): void => {
    for (const wire of wires) wire.destroy();
    void agent.destroy();
  };
  const onPong = (message: unknown): void => {
    if ((message as { websocket?: unknown }).websocket === socket) silentLooks = 0;
  };
  subscribe(PONG, onPong);
  const looking = setInterval(() => {
    if (silentLooks >= MOST_SILENT_LOOKS) return cutConnection();
    silentLooks += 1;
    ping(socket);
  }, pingMs);
  const waiting = setTimeout(() => failHello(`Slack did not greet within ${helloMs / 1000} s`), helloMs);
  const onAbort = (): void => failHello('it is closing');
  signal.addEventListener('abort', onAbort);

  function failHello(words: string): void {
    greeted.reject(new ChatSendError('later', words));
    if (!isGreeted) cutConnection();
  }

  socket.addEventListener('message', ({ data }) => {
    silentLooks = 0;
    const message = readSocketMessage(data);
    const greeting = hello.safeParse(message);
    if (greeting.success) {
      isGreeted = true;
      return greeted.resolve(greeting.data.connection_info?.app_id ?? null);
    }
    const ending = disconnect.safeParse(message);
    if (ending.success) {
      const end = readEnd(ending.data.reason);
      over.resolve(end);
      return greeted.reject(describeSocketEnd(end));
    }
    const given = envelope.safeParse(message);
    if (!given.success) return;
    const { envelope_id, payload } = given.data;
    let isAcknowledged = false;
    onEnvelope({
      payload,
      acknowledge() {
        if (!isAcknowledged) socket.send(JSON.stringify({ envelope_id }));
        isAcknowledged = true;
      },
    });
  });
  socket.addEventListener('error', () => failHello('the connection to Slack could not be opened'));
  socket.addEventListener('close', () => {
    clearInterval(looking);
    unsubscribe(PONG, onPong);
    over.resolve('lost');
    failHello('Slack closed the connection immediately');
    cutConnection();
    closed.resolve();
  });

  async function closeSocket(): Promise<void> {
    socket.close();
    // Slack leaves connections open after its goodbye.
    const cutting = setTimeout(cutConnection, CLOSING_MS);
    await closed.promise;
    clearTimeout(cutting);
  }

  try {
    return { appId: await greeted.promise, over: over.promise, close: closeSocket };
  } catch (error) {
    cutConnection();
    throw error;
  } finally {
    clearTimeout(waiting);
    signal.removeEventListener('abort', onAbort);
  }
}

const END_WORDS: Readonly<Record<SocketEnd, string>> = {
  refresh: 'Slack wants the connection to be reopened',
  link_disabled: 'Socket Mode is switched off for the Slack app',
  too_many: 'the Slack app has as many connections as Slack allows',
  lost: 'the connection to Slack broke off',
};

export const describeSocketEnd = (end: SocketEnd): ChatSendError =>
  new ChatSendError(end === 'link_disabled' ? 'refused' : 'later', END_WORDS[end]);
