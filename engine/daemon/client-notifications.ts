import type { SvcError } from '../core/base/errors.ts';

/** A notification of a subscription: `event`, `log`, `refs`, `notice`, `access` or `subscription_failed`. */
export type EngineNotification = {
  method: string;
  params: Record<string, unknown> & { subscription: number };
};

/** Passes the notifications of a connection to those who have subscribed to them. */
export function createClientNotifications(sendRequest: <T>(method: string, input: object) => Promise<T>) {
  const listeners = new Map<number, (notification: EngineNotification) => void>();
  /** Notifications that arrived before the answer that started their subscription. */
  let early: EngineNotification[] = [];

  async function subscribe<T extends { subscription: number }>(
    method: string,
    input: object,
    onNotification: (notification: EngineNotification, answer: T) => void,
  ): Promise<T> {
    const answer = await sendRequest<T>(method, input);
    const notifyListener = (notification: EngineNotification): void => onNotification(notification, answer);
    listeners.set(answer.subscription, notifyListener);
    const waiting = early;
    early = [];
    for (const each of waiting) {
      if (each.params.subscription === answer.subscription) notifyListener(each);
      else early.push(each);
    }
    return answer;
  }

  async function unsubscribe(subscription: number): Promise<void> {
    const isOurs = listeners.has(subscription);
    // Drops notifications in transit; without a listener they would be stored as early ones.
    listeners.set(subscription, () => undefined);
    try {
      await sendRequest('unsubscribe', { subscription });
    } catch (error) {
      if (!isOurs || (error as SvcError).code !== 'not_found') throw error;
    } finally {
      listeners.delete(subscription);
    }
  }

  return {
    deliver(notification: EngineNotification): void {
      const listener = listeners.get(notification.params.subscription);
      if (listener) listener(notification);
      else early.push(notification);
    },
    subscribe,
    unsubscribe,
  };
}
