import type { EngineClient } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { RunnerRow } from '../state/rows.ts';
import { fetchRunners } from './fetch-rows.ts';

/** How often to poll the state of machines, which changes without an event. */
const WATCH_MS = 3000;

/**
 * Fetches the machines while their list is on the screen: when it is opened, and every few seconds. The engine tries
 * silent machines again for each list, so nothing is fetched while it is hidden.
 */
export function followRunners(options: {
  client(): EngineClient;
  getState(): State;
  onRunners(found: readonly RunnerRow[]): void;
  onFailed(error: unknown): void;
}): { onStateChange(): void; close(): void } {
  let timer: NodeJS.Timeout | null = null;
  /** The connection by which the machines were fetched; empty while their list is hidden. */
  let asked = '';
  let isAsking = false;

  async function readRunners(): Promise<void> {
    if (isAsking) return;
    isAsking = true;
    try {
      const found = await fetchRunners(options.client());
      if (JSON.stringify(found) !== JSON.stringify(options.getState().data.runners)) options.onRunners(found);
    } finally {
      isAsking = false;
    }
  }

  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  return {
    onStateChange() {
      const { focus, link } = options.getState();
      const key = focus === 'runners' && link.phase === 'live' ? `${link.since}` : '';
      if (key === asked) return;
      asked = key;
      stop();
      if (key === '') return;
      readRunners().catch(options.onFailed);
      timer = setInterval(() => void readRunners().catch(() => undefined), WATCH_MS);
    },
    close: stop,
  };
}
