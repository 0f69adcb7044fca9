import { asSvcError } from '../../engine/core/base/errors.ts';
import type { EngineClient } from '../../engine/index.ts';
import { type DataChange, listFollowingTasks } from '../state/data.ts';
import { MESSAGE_MS, type State } from '../state/model.ts';
import type { Store } from '../store.ts';
import { keepConnected } from './connection.ts';
import { followEngineEvents, type ResumePoint } from './follow-events.ts';
import type { NoticeTerminal } from './follow-notices.ts';
import { createPendingPoll } from './poll-pending.ts';
import { createCallSender, type SentCalls } from './send-calls.ts';
import { startFollowers } from './start-followers.ts';
import { watchNotices } from './watch-notices.ts';

/** How often ages are updated. Nothing is written if no text changes. */
const TICK_MS = 10_000;
/** How often to poll data that changes without an event: deliveries, message notices, details. */
const POLL_MS = 2000;
export interface EngineSync extends SentCalls {
  /** Restarts the engine after it has gone. */
  startEngine(): void;
  close(): Promise<void>;
}

interface EngineSyncOptions {
  store: Store;
  /** With `start`, may start an engine. */
  connect(start: boolean): Promise<EngineClient>;
  /** The place where notices for the person are shown; nowhere by default. */
  noticeTerminal?: NoticeTerminal;
  /** True if an engine is started at first when none is running. */
  startsFirst?: boolean;
  /** The first connection failed, so there is nothing to show. */
  onFirstConnectFailed?(error: unknown): void;
}

/** Keeps the store in sync with the engine. Only this folder talks to the engine and watches files. */
export function createEngineSync(options: EngineSyncOptions): EngineSync {
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
        listFollowing: (ids) => listFollowingTasks(store.getState().data, ids),
        onChange: sendDataChange,
        onPoint: (next) => {
          resumePoint = next;
        },
        onFailed: showFailure,
      });
      followers.restart();
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

  function showFailure(error: unknown): void {
    const { message, hint } = asSvcError(error);
    sendWhileOpen({ type: 'message', text: message, tone: 'bad', hint });
  }
  const followers = startFollowers({
    store,
    client: connection.client,
    sendWhileOpen,
    sendDataChange,
    showFailure,
    noticeTerminal: options.noticeTerminal ?? null,
  });
  const pollPending = createPendingPoll({
    store,
    client: connection.client,
    sendDataChange,
    retryUnsettled: followers.retryUnsettled,
  });
  const timers = [
    setInterval(() => sendWhileOpen({ type: 'tick', at: Date.now() }), TICK_MS),
    setInterval(() => void pollPending().catch(() => undefined), POLL_MS),
  ];

  // Good news goes away by itself, also while nothing else happens.
  let news: State['message'] = null;
  let newsTimer: NodeJS.Timeout | undefined;
  const unsubscribe = store.subscribe(() => {
    const { message } = store.getState();
    if (message === news) return;
    news = message;
    clearTimeout(newsTimer);
    if (message === null || message.tone === 'bad') return;
    const sendTick = (): void => sendWhileOpen({ type: 'tick', at: Date.now() });
    newsTimer = setTimeout(sendTick, MESSAGE_MS + 50);
  });

  return {
    ...createCallSender(connection.client, sendWhileOpen),
    startEngine: () => connection.startEngine(),
    async close() {
      closing.abort();
      followers.close();
      for (const timer of timers) clearInterval(timer);
      clearTimeout(newsTimer);
      unsubscribe();
      try {
        connection.client().close();
      } catch {
        // There is no connection to close.
      }
      await (await notices)?.close();
    },
  };
}
