import type { EngineClient } from '../../engine/index.ts';
import type { DataChange } from '../state/data.ts';
import type { Store } from '../store.ts';
import { fetchDeliveries, fetchMessages, fetchUsage } from './fetch-rows.ts';

/** Usage is polled at every Nth interval while another pane has the focus. */
const USAGE_POLLS = 5;

/** Returns a function that polls data that changes without an event. */
export function createPendingPoll({
  store,
  client,
  sendDataChange,
  retryUnsettled,
}: {
  store: Store;
  /** Throws while there is no connection. */
  client(): EngineClient;
  sendDataChange(data: DataChange): void;
  retryUnsettled(): void;
}): () => Promise<void> {
  /** The events at the last poll. Newer ones may have caused deliveries. */
  let polledEvents = store.getState().data.events;
  let polls = 0;
  return async function pollPending(): Promise<void> {
    const { link: now, data, focus } = store.getState();
    if (now.phase !== 'live') return;
    retryUnsettled();
    const isPending = [...data.deliveries.values()].some((each) => each.state === 'pending');
    const hasNew = data.events !== polledEvents;
    polledEvents = data.events;
    const messages = [...data.messages.values()].filter((each) => each.delivery === 'pending');
    if (messages.length > 0) {
      const ids = messages.map((each) => each.id);
      sendDataChange({ messages: await fetchMessages(client(), ids) });
    }
    polls += 1;
    if (focus === 'usage' || hasNew || polls % USAGE_POLLS === 0) {
      const usage = await fetchUsage(client());
      if (JSON.stringify(usage) !== JSON.stringify(store.getState().data.usage)) sendDataChange({ usage });
    }
    if (isPending || hasNew) sendDataChange({ deliveries: await fetchDeliveries(client()) });
  };
}
