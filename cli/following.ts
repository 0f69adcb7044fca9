import type { EngineClient, LoggedEvent, WireValue } from '../engine/index.ts';

type Listener = (event: WireValue<LoggedEvent>) => void;

/** Follows the event log across restarts of the engine. */
export interface EventFollower {
  isWanted(): boolean;
  /** Returns a function that ends it. */
  add(listener: Listener): () => void;
  /** Continues over this connection where the last one ended; does nothing for the current connection. */
  continueOver(client: EngineClient): Promise<void>;
}

interface Subscription {
  client: EngineClient;
  /** Its number, once the engine has answered. */
  begun: Promise<number>;
}

/**
 * Each event is delivered once and in order over all connections: only the newest subscription delivers, and it
 * starts after the last delivered event.
 * @param onFailed the engine ended a subscription although the connection is still open
 */
export function createFollowing(onFailed: () => void): EventFollower {
  const listeners = new Set<Listener>();
  let current: Subscription | null = null;
  /** The last delivered event, and its log; null before the first subscription. */
  let point: { after: number; log_id: string } | null = null;

  async function subscribe(client: EngineClient, isCurrent: () => boolean): Promise<number> {
    const asked = point;
    const answer = await client.subscribe<{ subscription: number; log_id: string; from: number }>(
      'events.subscribe',
      asked ?? {},
      ({ method, params }, { log_id }) => {
        if (!isCurrent()) return;
        if (method !== 'event') {
          current = null;
          onFailed();
          return;
        }
        const event = params.event as WireValue<LoggedEvent>;
        point = { after: event.seq, log_id };
        for (const listener of [...listeners]) listener(event);
      },
    );
    // Missed events arrive before the answer, and have moved it forward.
    if (isCurrent() && point === asked) point = { after: answer.from, log_id: answer.log_id };
    return answer.subscription;
  }

  function endSubscription({ client, begun }: Subscription): void {
    begun.then((subscription) => client.unsubscribe(subscription)).catch(() => undefined);
  }

  return {
    isWanted: () => listeners.size > 0,
    add(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0 || current === null) return;
        endSubscription(current);
        current = null;
        point = null;
      };
    },
    async continueOver(client) {
      if (listeners.size === 0) return;
      if (current?.client !== client) {
        const own: Subscription = { client, begun: subscribe(client, () => current === own) };
        current = own;
        own.begun.catch(() => {
          if (current === own) current = null;
        });
      }
      await current.begun;
    },
  };
}
