import { once } from 'node:events';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import { errorToWire } from './wire.ts';

/** A subscription's interface to its connection. */
export interface SubscriptionChannel {
  /** False if the client reads slower than we write. */
  notify(method: string, params: object): boolean;
  /** Resolves when the client has caught up, or on abort. */
  drained(until: AbortSignal): Promise<unknown>;
  /** Aborted when the client has disconnected. */
  signal: AbortSignal;
}

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

/** The open subscriptions of a connection. */
export function createOpenSubscriptions(quota: SubscriptionQuota, channel: SubscriptionChannel) {
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

  /** Holds what `opening` opens until the subscription ends; the subscription ends if that fails. */
  async function holdSubscription<T extends { close(): unknown }>(
    subscription: number,
    opening: Promise<T>,
  ): Promise<T> {
    const opened = await opening.catch((error: unknown) => {
      releaseSubscription();
      throw error;
    });
    keepSubscription(subscription, async (signal) => {
      if (!signal.aborted) await once(signal, 'abort');
      await opened.close();
    });
    return opened;
  }

  async function endSubscription(subscription: number): Promise<void> {
    const ending = open.get(subscription);
    if (ending === undefined) {
      throw new SvcError('not_found', `this connection has no subscription ${subscription}`, {
        hint: 'it has already ended, or belongs to another connection',
      });
    }
    ending.stop.abort();
    // Answered after it has ended, so that no notification follows the answer.
    await ending.over;
  }

  return {
    begin: beginSubscription,
    keep: keepSubscription,
    hold: holdSubscription,
    end: endSubscription,
  };
}
