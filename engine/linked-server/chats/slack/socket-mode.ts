import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { backoffMs } from '../../../core/base/backoff.ts';
import type { Clock } from '../../../core/base/clock.ts';
import type { Log } from '../../../core/base/log.ts';
import type { ProxySettings } from '../../../core/http/proxies.ts';
import { ChatSendError } from '../service.ts';
import type { IncomingPayloads } from './incoming.ts';
import type { SlackPace } from './pace.ts';
import { describeSocketEnd, openSlackSocket, type SlackEnvelope, type SlackSocket } from './socket.ts';
import type { WebApi } from './web-api.ts';

const opened = z.looseObject({ url: z.string() });

/** Receives over outgoing connections, so that this side need not be reachable. */
export interface SocketMode {
  start(): void;
  close(): Promise<void>;
}

export interface SocketModeDeps {
  api: WebApi;
  appToken: string;
  incoming: IncomingPayloads;
  pace: SlackPace;
  clock: Clock;
  log: Log;
  proxies: ProxySettings;
  /** True if the connection needs no TLS, like the methods. */
  mayBePlain: boolean;
  /** Called when a connection is open. Throws `ChatSendError` if it belongs to another app. */
  onGreeted(appId: string | null): void;
  onFailing(error: ChatSendError): void;
}

export function createSocketMode(deps: SocketModeDeps): SocketMode {
  const { api, appToken, pace, clock, proxies, mayBePlain, onGreeted, onFailing } = deps;
  const ending = new AbortController();
  const open = new Set<SlackSocket>();
  let running: Promise<void> = Promise.resolve();

  async function openSocket(): Promise<SlackSocket> {
    const { url } = await api.call('apps.connections.open', { token: appToken, answer: opened });
    const address = URL.parse(url);
    if (address?.protocol !== 'wss:' && !(mayBePlain && address?.protocol === 'ws:'))
      throw new ChatSendError('later', 'Slack gave no address to connect to');
    const socket = await openSlackSocket(address, {
      onEnvelope: (envelope) => void takeEnvelope(deps, envelope),
      proxies,
      signal: ending.signal,
      helloMs: pace.helloMs,
      pingMs: pace.pingMs,
    });
    open.add(socket);
    return socket;
  }

  async function closeSocket(socket: SlackSocket): Promise<void> {
    open.delete(socket);
    await socket.close();
  }

  /** Slack may still send over a connection that has a successor, and closes it by itself. */
  function retireSockets(sockets: readonly SlackSocket[]): void {
    const last = sockets.at(-1);
    for (const socket of sockets.slice(0, -1)) void closeSocket(socket);
    if (last !== undefined) setTimeout(() => void closeSocket(last), pace.lingerMs).unref();
  }

  /** Opens a connection and waits until another one is needed. */
  async function holdConnection(): Promise<{ error: ChatSendError; livedMs: number }> {
    const before = [...open];
    const socket = await openSocket();
    try {
      onGreeted(socket.appId);
    } catch (error) {
      await closeSocket(socket);
      throw error;
    }
    retireSockets(before);
    const begun = clock.monotonic();
    const end = await socket.over;
    const error = describeSocketEnd(end);
    if (end === 'lost') open.delete(socket);
    if (end !== 'refresh' && !ending.signal.aborted) onFailing(error);
    return { error, livedMs: clock.monotonic() - begun };
  }

  async function keepConnected(): Promise<void> {
    let failures = 0;
    while (!ending.signal.aborted) {
      let pause = 0;
      try {
        const { error, livedMs } = await holdConnection();
        // Reopened immediately, unless that happens repeatedly.
        failures = livedMs >= pace.steadyMs && error.problem === 'later' ? 0 : failures + 1;
      } catch (thrown) {
        failures += 1;
        const error =
          thrown instanceof ChatSendError ? thrown : new ChatSendError('later', 'Slack cannot be reached');
        if (ending.signal.aborted) return;
        onFailing(error);
        pause = error.problem === 'later' ? (error.retryAfterMs ?? 0) : pace.longestMs;
      }
      if (failures > 0) pause = Math.max(pause, backoffMs(failures, { ...pace, random: Math.random }));
      await delay(pause, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  }

  return {
    start() {
      running = keepConnected();
    },
    async close() {
      ending.abort();
      await Promise.all([...open].map(closeSocket));
      await running;
    },
  };
}

async function takeEnvelope(
  { incoming, pace, log }: Pick<SocketModeDeps, 'incoming' | 'pace' | 'log'>,
  { payload, acknowledge }: SlackEnvelope,
): Promise<void> {
  const late = setTimeout(acknowledge, pace.acknowledgeMs);
  try {
    const taken = await incoming.take(payload);
    if (taken !== 'taken') log.warn({ chat: 'slack', taken }, 'an envelope was ignored');
    clearTimeout(late);
    acknowledge();
  } catch (error) {
    // Not acknowledged: Slack notifies the person, or repeats it.
    clearTimeout(late);
    log.error({ chat: 'slack', error: (error as Error).message }, 'an envelope was not recorded');
  }
}
