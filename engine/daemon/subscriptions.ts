import { z } from 'zod';
import type { Caller } from '../core/api/operation.ts';
import type { Engine } from './compose/compose.ts';
import { followEvents, followLog } from './follow-streams.ts';
import {
  createOpenSubscriptions,
  type SubscriptionChannel,
  type SubscriptionQuota,
} from './open-subscriptions.ts';

const secretList = z.array(z.string().min(1)).min(1);

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

/**
 * The streams that a client can follow: events from a resume point, a session's log, the branches of its repository,
 * notices for a person, and the access log of a receiver that lives as long as the subscription. Waits for a slow client instead of
 * buffering without bound.
 */
export function createSubscriptions(
  engine: Engine,
  quota: SubscriptionQuota,
  channel: SubscriptionChannel,
): { methods: readonly StreamMethod[] } {
  const subscriptions = createOpenSubscriptions(quota, channel);
  const openLog = (sessionId: string, form: 'readable' | 'raw', command: string | undefined) =>
    command === undefined
      ? {
          read: engine.logs.open(sessionId, form),
          findTail: (lines: number) => engine.logs.findTail(sessionId, lines),
          hasEnded: () => engine.sessionEnded(sessionId),
        }
      : engine.openCommandLog(sessionId, command);

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
          const subscription = subscriptions.begin();
          const own = seat === 'worker' && sessionId !== null ? engine.ownWorkOf(sessionId) : null;
          subscriptions.keep(subscription, (signal) =>
            followEvents({ engine, channel }, subscription, from, own?.taskId ?? null, signal),
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
          /** A run command in its worktree, instead of the session's agent. */
          command: z.string().optional(),
        }),
        async run({ session, from, lines = 200, form = 'readable', command }, caller) {
          const { sessionId } = engine.resolveSession(session);
          engine.logs.checkReader(sessionId, caller);
          const log = openLog(sessionId, form, command);
          const start = from ?? (await log.findTail(lines));
          const subscription = subscriptions.begin();
          subscriptions.keep(subscription, (signal) => followLog(channel, subscription, log, start, signal));
          return { subscription, sessionId, from: start };
        },
      }),
      defineStream({
        name: 'refs.follow',
        seat: 'chair',
        input: z.strictObject({ session: z.string() }),
        async run({ session }) {
          const { sessionId } = engine.resolveSession(session);
          const subscription = subscriptions.begin();
          const notifyRefs = (repository: string): void =>
            void channel.notify('refs', { subscription, session: sessionId, repository });
          await subscriptions.hold(subscription, engine.followRefs(sessionId, notifyRefs));
          return { subscription, sessionId };
        },
      }),
      defineStream({
        name: 'notices.follow',
        seat: 'chair',
        input: z.strictObject({ shows: z.boolean() }),
        async run({ shows }) {
          const subscription = subscriptions.begin();
          const onNotice = (notice: object): void => void channel.notify('notice', { subscription, notice });
          await subscriptions.hold(subscription, Promise.resolve(engine.followNotices({ shows, onNotice })));
          return { subscription };
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
          const subscription = subscriptions.begin();
          const listener = await subscriptions.hold(
            subscription,
            engine.listen({
              host,
              port,
              secrets,
              allowRemote: allow_remote,
              onAccess: (entry) => void channel.notify('access', { subscription, entry }),
            }),
          );
          return { subscription, ...listener.address };
        },
      }),
      defineStream({
        name: 'unsubscribe',
        seat: 'any',
        input: z.strictObject({ subscription: z.int() }),
        async run({ subscription }) {
          await subscriptions.end(subscription);
          return { subscription, ended: true };
        },
      }),
    ],
  };
}
