import type { EngineClient } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { ShownSession } from '../state/rows.ts';
import { fetchSessions } from './fetch-rows.ts';

/** How often to poll what agents do, which changes without an event. */
const WATCH_MS = 1000;
/** How many sessions one request covers: working ones, then queued ones that may have started. */
const MOST_SESSIONS = 100;

const isShowingWork = ({ focus }: State): boolean => focus === 'work';

const isWorkingSession = ({ state }: ShownSession): boolean => state === 'running' || state === 'starting';

/**
 * Fetches what workers do, once a second while one works and the screen shows workers. Unchanged rows are not passed on,
 * so that an unchanged screen costs nothing.
 */
export function pollWorkers(options: {
  client(): EngineClient;
  getState(): State;
  onSessions(sessions: readonly ShownSession[]): void;
}): { onStateChange(): void; close(): void } {
  let isAsking = false;
  let wasShown = false;

  function listWantedSessions(state: State): string[] {
    if (state.link.phase !== 'live' || !isShowingWork(state)) return [];
    const all = [...state.data.sessions.values()];
    const working = all.filter(isWorkingSession);
    if (working.length === 0) return [];
    const next = all.filter((each) => each.state === 'queued' && each.resume_at === null);
    return [...working, ...next].slice(0, MOST_SESSIONS).map((each) => each.session_id);
  }

  async function readSessions(): Promise<void> {
    const ids = listWantedSessions(options.getState());
    if (isAsking || ids.length === 0) return;
    isAsking = true;
    try {
      const rows = await fetchSessions(options.client(), ids);
      const { sessions } = options.getState().data;
      const changed = rows.filter(
        (row) => JSON.stringify(row) !== JSON.stringify(sessions.get(row.session_id)),
      );
      if (changed.length > 0) options.onSessions(changed);
    } finally {
      isAsking = false;
    }
  }

  const readIgnoringErrors = (): void => void readSessions().catch(() => undefined);
  const timer = setInterval(readIgnoringErrors, WATCH_MS);
  return {
    /** Fetches immediately when workers come into view. */
    onStateChange() {
      const isShown = isShowingWork(options.getState());
      if (isShown && !wasShown) readIgnoringErrors();
      wasShown = isShown;
    },
    close: () => clearInterval(timer),
  };
}
