import { asSvcError, type EngineClient } from '../../engine/index.ts';
import type { DashboardEffect } from '../actions/transition.ts';
import type { DataChange } from '../state/data.ts';
import type { Store } from '../store.ts';
import { keepConnected } from './connection.ts';
import { fetchDetails } from './fetch-details.ts';
import { fetchDeliveries, fetchMessages, fetchSessions, fetchUsage } from './fetch-rows.ts';
import { followEngineEvents, type ResumePoint } from './follow-events.ts';
import { followLogs } from './follow-logs.ts';
import { followMemories } from './follow-memories.ts';
import { followRefs } from './follow-refs.ts';
import { followStats } from './follow-stats.ts';
import { pollWorkers } from './poll-workers.ts';
import { readShownHandoffs } from './read-handoffs.ts';
import { watchNotices } from './watch-notices.ts';

/** How often ages are updated. Nothing is written if no text changes. */
const TICK_MS = 10_000;
/** How often to poll data that changes without an event: deliveries, message notices, details. */
const POLL_MS = 2000;
/** Usage is polled at every Nth interval while another pane has the focus. */
const USAGE_POLLS = 5;

export interface EngineSync {
  /** Sends a call that the reducer requested, and passes the answer to the store. */
  performCall(effect: Extract<DashboardEffect, { do: 'call' }>): Promise<void>;
  /** Sends calls sequentially: each one sees the changes of the one before, such as the base of a merge. */
  performCalls(effects: readonly Extract<DashboardEffect, { do: 'call' }>[]): Promise<void>;
  /** Restarts the engine after it has gone. */
  startEngine(): void;
  close(): Promise<void>;
}

/** Keeps the store in sync with the engine. Only this folder talks to the engine and watches files. */
export function createEngineSync(options: {
  store: Store;
  /** With `start`, may start an engine. */
  connect(start: boolean): Promise<EngineClient>;
  /** True if an engine is started at first when none is running. */
  startsFirst?: boolean;
  /** The first connection failed, so there is nothing to show. */
  onFirstConnectFailed?(error: unknown): void;
}): EngineSync {
  const { store } = options;
  const closing = new AbortController();
  let resumePoint: ResumePoint | null = null;
  let notices: Promise<{ close(): Promise<void> }> | null = null;
  let isFirst = true;

  const sendWhileOpen: Store['send'] = (event) => {
    if (!closing.signal.aborted) store.send(event);
  };
  const sendDataChange = (data: DataChange): void =>
    sendWhileOpen({ type: 'data', change: data, at: Date.now() });

  const connection = keepConnected({
    signal: closing.signal,
    startsFirst: options.startsFirst ?? true,
    async connect(start) {
      try {
        return await options.connect(start);
      } catch (error) {
        if (isFirst) options.onFirstConnectFailed?.(error);
        throw error;
      }
    },
    async onConnected(client) {
      const { workspace, root, data } = client.welcome;
      sendWhileOpen({ type: 'link', link: { workspace, root } });
      await followEngineEvents({
        client,
        from: resumePoint,
        complete: store.getState().data.complete,
        onChange: sendDataChange,
        onPoint: (next) => {
          resumePoint = next;
        },
        onFailed: showFailure,
      });
      logs.restart();
      refs.restart();
      sendWhileOpen({ type: 'link', link: { phase: 'live', since: Date.now(), reason: null } });
      if (!isFirst) sendWhileOpen({ type: 'message', text: 'connected again', tone: 'good' });
      isFirst = false;
      await (await notices)?.close();
      notices = watchNotices({
        folder: `${data}/notices`,
        onNotices: (all) => sendDataChange({ notices: all }),
      });
    },
    onLost(reason) {
      const { phase, since } = store.getState().link;
      sendWhileOpen({
        type: 'link',
        link: { phase: 'lost', since: phase === 'lost' ? since : Date.now(), reason },
      });
    },
  });

  const details = fetchDetails({
    client: connection.client,
    getState: store.getState,
    onLoaded: (loaded) => sendWhileOpen({ type: 'detail', loaded }),
  });
  const logs = followLogs({
    client: connection.client,
    getState: store.getState,
    onLines: (session, lines, ended, reset) => sendWhileOpen({ type: 'log', session, lines, ended, reset }),
  });
  const workers = pollWorkers({
    client: connection.client,
    getState: store.getState,
    onSessions: (sessions) => sendDataChange({ sessions }),
  });
  /** Drops details about work in a repository whose branches moved, and fetches again what waits for review there. */
  async function refreshMovedWork(repository: string): Promise<void> {
    details.discardPendingWork();
    sendWhileOpen({ type: 'refs', repository });
    const rows = [...store.getState().data.sessions.values()].filter(
      (each) => each.repository === repository && each.state === 'ended' && each.promoted_at === null,
    );
    const ids = rows.map((each) => each.session_id);
    if (ids.length > 0) sendDataChange({ sessions: await fetchSessions(connection.client(), ids) });
  }
  const refs = followRefs({
    client: connection.client,
    getState: store.getState,
    onMoved: (repository) => void refreshMovedWork(repository).catch(() => undefined),
  });
  function showFailure(error: unknown): void {
    const { message, hint } = asSvcError(error);
    sendWhileOpen({ type: 'message', text: message, tone: 'bad', hint });
  }
  const memories = followMemories({
    client: connection.client,
    getState: store.getState,
    onMemories: (found) => sendDataChange({ memories: found }),
    onFailed: showFailure,
  });
  const stats = followStats({
    client: connection.client,
    getState: store.getState,
    onStats: (found) => sendDataChange({ stats: found }),
    onFailed: showFailure,
  });
  const handoffs = readShownHandoffs({ client: connection.client, getState: store.getState });
  const unsubscribe = store.subscribe(() => {
    details.onStateChange();
    logs.onStateChange();
    refs.onStateChange();
    workers.onStateChange();
    memories.onStateChange();
    stats.onStateChange();
    handoffs.onStateChange();
  });

  /** The events at the last poll. Newer ones may have caused deliveries. */
  let polledEvents = store.getState().data.events;
  let polls = 0;
  async function pollPending(): Promise<void> {
    const { link: now, data, focus } = store.getState();
    if (now.phase !== 'live') return;
    details.retryUnsettled();
    const isPending = [...data.deliveries.values()].some((each) => each.state === 'pending');
    const hasNew = data.events !== polledEvents;
    polledEvents = data.events;
    const messages = [...data.messages.values()].filter((each) => each.delivery === 'pending');
    if (messages.length > 0) {
      const ids = messages.map((each) => each.message_id);
      sendDataChange({ messages: await fetchMessages(connection.client(), ids) });
    }
    polls += 1;
    if (focus === 'usage' || hasNew || polls % USAGE_POLLS === 0) {
      const usage = await fetchUsage(connection.client());
      if (JSON.stringify(usage) !== JSON.stringify(store.getState().data.usage)) sendDataChange({ usage });
    }
    if (isPending || hasNew) sendDataChange({ deliveries: await fetchDeliveries(connection.client()) });
  }
  const timers = [
    setInterval(() => sendWhileOpen({ type: 'tick', at: Date.now() }), TICK_MS),
    setInterval(() => void pollPending().catch(() => undefined), POLL_MS),
  ];

  async function performCall(effect: Extract<DashboardEffect, { do: 'call' }>): Promise<void> {
    const { operation, input, busy, form } = effect;
    try {
      const answer = await connection.client().callByName(operation, input);
      sendWhileOpen({ type: 'answered', effect, answer });
    } catch (error) {
      const { message, hint } = asSvcError(error);
      sendWhileOpen({ type: 'refused', busy, text: message, hint, form });
    }
  }

  return {
    performCall,
    async performCalls(effects) {
      for (const effect of effects) await performCall(effect);
    },
    startEngine: () => connection.startEngine(),
    async close() {
      closing.abort();
      unsubscribe();
      details.close();
      logs.close();
      workers.close();
      memories.close();
      handoffs.close();
      for (const timer of timers) clearInterval(timer);
      try {
        connection.client().close();
      } catch {
        // There is no connection to close.
      }
      await (await notices)?.close();
    },
  };
}
