import type { EngineClient } from '../../engine/index.ts';
import type { DataChange } from '../state/data.ts';
import type { Store } from '../store.ts';
import { fetchDetails } from './fetch-details.ts';
import { fetchSessions } from './fetch-rows.ts';
import { followLogs } from './follow-logs.ts';
import { followMemories } from './follow-memories.ts';
import { followNotices, type NoticeTerminal } from './follow-notices.ts';
import { followRefs } from './follow-refs.ts';
import { followRunners } from './follow-runners.ts';
import { followStats } from './follow-stats.ts';
import { pollWorkers } from './poll-workers.ts';
import { readShownHandoffs } from './read-handoffs.ts';

/** Starts what loads the data behind the rows that are shown, as the state of the dashboard changes. */
export function startFollowers({
  store,
  client,
  sendWhileOpen,
  sendDataChange,
  showFailure,
  noticeTerminal,
}: {
  store: Store;
  /** Throws while there is no connection. */
  client(): EngineClient;
  sendWhileOpen: Store['send'];
  sendDataChange(data: DataChange): void;
  showFailure(error: unknown): void;
  /** Null for a dashboard without a screen. */
  noticeTerminal: NoticeTerminal | null;
}) {
  const details = fetchDetails({
    client,
    getState: store.getState,
    onLoaded: (loaded) => sendWhileOpen({ type: 'detail', loaded }),
  });
  const logs = followLogs({
    client,
    getState: store.getState,
    onLines: (source, lines, ended, reset) => sendWhileOpen({ type: 'log', source, lines, ended, reset }),
  });
  const workers = pollWorkers({
    client,
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
    if (ids.length > 0) sendDataChange({ sessions: await fetchSessions(client(), ids) });
  }
  const refs = followRefs({
    client,
    getState: store.getState,
    onMoved: (repository) => void refreshMovedWork(repository).catch(() => undefined),
  });
  const memories = followMemories({
    client,
    getState: store.getState,
    onMemories: (found) => sendDataChange({ memories: found }),
    onFailed: showFailure,
  });
  const stats = followStats({
    client,
    getState: store.getState,
    onStats: (found) => sendDataChange({ stats: found }),
    onFailed: showFailure,
  });
  const runners = followRunners({
    client,
    getState: store.getState,
    onRunners: (found) => sendDataChange({ runners: found }),
    onFailed: showFailure,
  });
  const handoffs = readShownHandoffs({ client, getState: store.getState });
  const notices =
    noticeTerminal === null
      ? null
      : followNotices({ client, getState: store.getState, terminal: noticeTerminal });
  const unsubscribe = store.subscribe(() => {
    details.onStateChange();
    logs.onStateChange();
    refs.onStateChange();
    workers.onStateChange();
    memories.onStateChange();
    stats.onStateChange();
    runners.onStateChange();
    handoffs.onStateChange();
    notices?.onStateChange();
  });

  return {
    /** Follows again over a new connection. */
    restart(): void {
      logs.restart();
      refs.restart();
    },
    retryUnsettled: (): void => details.retryUnsettled(),
    close(): void {
      unsubscribe();
      details.close();
      logs.close();
      workers.close();
      memories.close();
      runners.close();
      handoffs.close();
    },
  };
}
