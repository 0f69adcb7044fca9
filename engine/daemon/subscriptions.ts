import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Caller } from '../core/api/operation.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { Engine } from './compose/compose.ts';
import { errorToWire } from './wire.ts';

const secretList = z.array(z.string().min(1)).min(1);

/** A subscription's interface to its connection. */
export interface SubscriptionChannel {
  /** False if the client reads slower than we write. */
  notify(method: string, params: object): boolean;
  /** Resolves when the client has caught up, or on abort. */
  drained(until: AbortSignal): Promise<unknown>;
  /** Aborted when the client has disconnected. */
  signal: AbortSignal;
}

export interface StreamMethod {
  name: string;
  seat: 'any' | 'chair';
  input: z.ZodType;
  run(input: never, caller: Caller): unknown;
}

const defineStream = <I extends z.ZodType>(method: {
  name: string;
  seat: 'any' | 'chair';
  input: I;
  run(input: z.infer<I>, caller: Caller): unknown;
}): StreamMethod => method as unknown as StreamMethod;

const LOG_PART_BYTES = 64 * 1024;
const LOG_LOOK_MS = 100;

/** A subscription, which runs until the client ends it or disconnects. */
interface Open {
  stop: AbortController;
  over: Promise<void>;
}

/** Limit for one connection; a dashboard has four. */
const MOST_OF_A_CONNECTION = 64;
const MOST = 2048;

/** Counts the subscriptions of all connections. */
export interface SubscriptionQuota {
  /** Throws `limit_reached`. */
  take(): void;
  giveBack(): void;
}

export function createSubscriptionQuota(most = MOST): SubscriptionQuota {
  let taken = 0;
  return {
    take() {
      if (taken >= most)
        throw new SvcError('limit_reached', `the engine already serves ${most} subscriptions`, {
          hint: sentence`close some clients: {engine.status} lists what is running`,
        });
      taken += 1;
    },
    giveBack() {
      taken -= 1;
    },
  };
}

/**
 * The streams that a client can follow: events from a resume point, a session's log, the branches of its repository,
 * and the access log of a receiver that lives as long as the subscription. Waits for a slow client instead of
 * buffering without bound.
 */
export function createSubscriptions(
  engine: Engine,
  quota: SubscriptionQuota,
  channel: SubscriptionChannel,
): { methods: readonly StreamMethod[] } {
  let count = 0;
  /** Subscriptions that have started and not ended. */
  let held = 0;
  const open = new Map<number, Open>();
  channel.signal.addEventListener('abort', () => {
    for (const { stop } of open.values()) stop.abort();
  });

  /** Counts a new subscription and returns its number. Its end is counted by `releaseSubscription`. Throws `limit_reached`. */
  function beginSubscription(): number {
    if (held >= MOST_OF_A_CONNECTION)
      throw new SvcError('limit_reached', `this connection already has ${held} subscriptions`, {
        hint: 'end unneeded subscriptions (unsubscribe)',
      });
    quota.take();
    held += 1;
    return ++count;
  }

  function releaseSubscription(): void {
    held -= 1;
    quota.giveBack();
  }

  /** Runs `work` in the background until it ends or is aborted. */
  function keepSubscription(subscription: number, work: (signal: AbortSignal) => Promise<void>): void {
    const stop = new AbortController();
    if (channel.signal.aborted) stop.abort();
    const over = work(stop.signal)
      .catch((error: unknown) => {
        if (stop.signal.aborted) return;
        channel.notify('subscription_failed', { subscription, error: errorToWire(asSvcError(error)) });
      })
      .finally(() => {
        open.delete(subscription);
        releaseSubscription();
      });
    open.set(subscription, { stop, over });
  }

  async function pushNotification(signal: AbortSignal, method: string, params: object): Promise<void> {
    if (signal.aborted || channel.notify(method, params)) return;
    await channel.drained(signal);
  }

  /** @param taskId the only task whose events are sent; null for all */
  async function followEvents(
    subscription: number,
    from: number,
    taskId: string | null,
    signal: AbortSignal,
  ): Promise<void> {
    let cursor = from;
    let wakeReader: () => void = () => undefined;
    const stopListening = engine.onCommit(() => wakeReader());
    signal.addEventListener('abort', () => wakeReader(), { once: true });
    try {
      while (!signal.aborted) {
        const events = engine.events.listAfter(cursor, 200);
        if (events.length === 0) {
          await new Promise<void>((resolve) => {
            wakeReader = resolve;
          });
          continue;
        }
        for (const event of events) {
          if (taskId === null || event.taskId === taskId)
            await pushNotification(signal, 'event', { subscription, event });
          cursor = event.seq;
        }
      }
    } finally {
      stopListening();
    }
  }

  async function followLog(
    subscription: number,
    session: string,
    { from, form }: { from: number; form: 'readable' | 'raw' },
    signal: AbortSignal,
  ): Promise<void> {
    let offset = from;
    const read = engine.logs.open(session, form);
    while (!signal.aborted) {
      // Checked before reading, so that everything written before the end is read too.
      const ended = engine.sessionEnded(session);
      const part = await read({ from: offset, maxBytes: LOG_PART_BYTES, ended });
      const isLast = ended && part.next >= part.end;
      if (part.text !== '' || part.dropped > 0 || isLast) {
        await pushNotification(signal, 'log', {
          subscription,
          text: part.text,
          next: part.next,
          dropped: part.dropped,
          ended: isLast,
        });
      }
      const isStill = part.next === offset;
      offset = part.next;
      if (isLast) return;
      if (part.next >= part.end || isStill) await delay(LOG_LOOK_MS, undefined, { signal });
    }
  }

  return {
    methods: [
      defineStream({
        name: 'events.subscribe',
        seat: 'any',
        input: z.strictObject({ after: z.int().min(0).optional(), log_id: z.string().optional() }),
        run({ after, log_id }, { seat, sessionId }) {
          const { logId } = engine.events;
          const lastSeq = engine.events.lastSeq();
          // A resume point of another log is meaningless here: the data folder was created again.
          const reset =
            after !== undefined && ((log_id !== undefined && log_id !== logId) || after > lastSeq);
          const from = after === undefined || reset ? lastSeq : after;
          const subscription = beginSubscription();
          const own = seat === 'worker' && sessionId !== null ? engine.ownWorkOf(sessionId) : null;
          keepSubscription(subscription, (signal) =>
            followEvents(subscription, from, own?.taskId ?? null, signal),
          );
          return { subscription, logId, from, reset };
        },
      }),
      defineStream({
        name: 'log.follow',
        seat: 'any',
        input: z.strictObject({
          session: z.string(),
          from: z.int().min(0).optional(),
          lines: z.int().min(0).optional(),
          form: z.enum(['readable', 'raw']).optional(),
        }),
        async run({ session, from, lines, form = 'readable' }, caller) {
          const { sessionId } = engine.resolveSession(session);
          engine.logs.checkReader(sessionId, caller);
          const start = from ?? (await engine.logs.findTail(sessionId, lines ?? 200));
          const subscription = beginSubscription();
          keepSubscription(subscription, (signal) =>
            followLog(subscription, sessionId, { from: start, form }, signal),
          );
          return { subscription, sessionId, from: start };
        },
      }),
      defineStream({
        name: 'refs.follow',
        seat: 'chair',
        input: z.strictObject({ session: z.string() }),
        async run({ session }) {
          const { sessionId } = engine.resolveSession(session);
          const subscription = beginSubscription();
          const notifyRefs = (repository: string): void =>
            void channel.notify('refs', { subscription, session: sessionId, repository });
          const following = await engine.followRefs(sessionId, notifyRefs).catch((error: unknown) => {
            releaseSubscription();
            throw error;
          });
          keepSubscription(subscription, async (signal) => {
            if (!signal.aborted) await once(signal, 'abort');
            following.close();
          });
          return { subscription, sessionId };
        },
      }),
      defineStream({
        name: 'receiver.open',
        seat: 'chair',
        input: z.strictObject({
          host: z.string(),
          port: z.int().min(0).max(65535),
          secrets: z.union([secretList, z.record(z.string(), secretList)]),
          allow_remote: z.boolean(),
        }),
        async run({ host, port, secrets, allow_remote }) {
          const subscription = beginSubscription();
          const listener = await engine
            .listen({
              host,
              port,
              secrets,
              allowRemote: allow_remote,
              onAccess: (entry) => void channel.notify('access', { subscription, entry }),
            })
            .catch((error: unknown) => {
              releaseSubscription();
              throw error;
            });
          keepSubscription(subscription, async (signal) => {
            if (!signal.aborted) await once(signal, 'abort');
            await listener.close();
          });
          return { subscription, ...listener.address };
        },
      }),
      defineStream({
        name: 'unsubscribe',
        seat: 'any',
        input: z.strictObject({ subscription: z.int() }),
        async run({ subscription }) {
          const ending = open.get(subscription);
          if (ending === undefined) {
            throw new SvcError('not_found', `this connection has no subscription ${subscription}`, {
              hint: 'it has already ended, or belongs to another connection',
            });
          }
          ending.stop.abort();
          // Answered after it has ended, so that no notification follows the answer.
          await ending.over;
          return { subscription, ended: true };
        },
      }),
    ],
  };
}
