import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Engine } from '../compose.ts';
import { asSvcError } from '../errors.ts';
import { errorToWire } from './wire.ts';

/** What a subscription needs of its connection. */
export interface Channel {
  /** False when the client reads slower than we write. */
  notify(method: string, params: object): boolean;
  drained(): Promise<unknown>;
  /** Aborted when the client is gone. */
  signal: AbortSignal;
}

export interface StreamMethod {
  name: string;
  seat: 'any' | 'chair';
  input: z.ZodType;
  run(input: never): unknown;
}

const stream = <I extends z.ZodType>(method: {
  name: string;
  seat: 'any' | 'chair';
  input: I;
  run(input: z.infer<I>): unknown;
}): StreamMethod => method as unknown as StreamMethod;

const LOG_PART_BYTES = 64 * 1024;
const LOG_LOOK_MS = 100;

/**
 * What a client can follow: events from a resume point, a session's log, and the access log of a receiver that lives
 * as long as the connection. A slow client is waited for, never buffered without bound.
 */
export function createSubscriptions(engine: Engine, channel: Channel): { methods: readonly StreamMethod[] } {
  let count = 0;

  async function push(method: string, params: object): Promise<void> {
    if (!channel.notify(method, params)) await channel.drained();
  }

  async function followEvents(subscription: number, from: number): Promise<void> {
    let cursor = from;
    let wake: () => void = () => undefined;
    const stopListening = engine.onCommit(() => wake());
    channel.signal.addEventListener('abort', () => wake(), { once: true });
    try {
      while (!channel.signal.aborted) {
        const events = engine.events.after(cursor, 200);
        if (events.length === 0) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
          continue;
        }
        for (const event of events) {
          await push('event', { subscription, event });
          cursor = event.seq;
        }
      }
    } finally {
      stopListening();
    }
  }

  async function followLog(subscription: number, session: string, from: number): Promise<void> {
    let offset = from;
    while (!channel.signal.aborted) {
      // Asked before reading: what was written before the end is then read too.
      const ended = engine.sessionEnded(session);
      const part = engine.readLog(session, { from: offset, maxBytes: LOG_PART_BYTES, ended });
      const isLast = ended && part.next >= part.end;
      if (part.text !== '' || part.dropped > 0 || isLast) {
        await push('log', {
          subscription,
          text: part.text,
          next: part.next,
          dropped: part.dropped,
          ended: isLast,
        });
      }
      offset = part.next;
      if (isLast) return;
      if (part.next >= part.end || part.text === '') await delay(LOG_LOOK_MS);
    }
  }

  function inBackground(subscription: number, work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (channel.signal.aborted) return;
      channel.notify('subscription_failed', { subscription, error: errorToWire(asSvcError(error)) });
    });
  }

  return {
    methods: [
      stream({
        name: 'events.subscribe',
        seat: 'any',
        input: z.strictObject({ after: z.int().min(0).optional(), log_id: z.string().optional() }),
        run({ after, log_id }) {
          const { logId } = engine.events;
          const lastSeq = engine.events.lastSeq();
          // A resume point of another log (the data folder was made anew) says nothing about this one.
          const reset =
            after !== undefined && ((log_id !== undefined && log_id !== logId) || after > lastSeq);
          const from = after === undefined || reset ? lastSeq : after;
          const subscription = ++count;
          inBackground(subscription, followEvents(subscription, from));
          return { subscription, logId, from, reset };
        },
      }),
      stream({
        name: 'log.follow',
        seat: 'any',
        input: z.strictObject({
          session: z.string(),
          from: z.int().min(0).optional(),
          lines: z.int().min(0).optional(),
        }),
        run({ session, from, lines }) {
          const { sessionId } = engine.resolveSession(session);
          const start = from ?? engine.tailOffset(sessionId, lines ?? 200);
          const subscription = ++count;
          inBackground(subscription, followLog(subscription, sessionId, start));
          return { subscription, sessionId, from: start };
        },
      }),
      stream({
        name: 'receiver.open',
        seat: 'chair',
        input: z.strictObject({
          host: z.string(),
          port: z.int().min(0).max(65535),
          secrets: z.array(z.string().min(1)).min(1),
          allow_remote: z.boolean(),
        }),
        async run({ host, port, secrets, allow_remote }) {
          const subscription = ++count;
          const listener = await engine.listen({
            host,
            port,
            secrets,
            allowRemote: allow_remote,
            onAccess: (entry) => void channel.notify('access', { subscription, entry }),
          });
          const close = () => void listener.close();
          if (channel.signal.aborted) close();
          else channel.signal.addEventListener('abort', close, { once: true });
          return { subscription, ...listener.address };
        },
      }),
    ],
  };
}
