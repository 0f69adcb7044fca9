import type { EngineClient } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { ListedStats } from '../state/rows.ts';

/** Minimum interval between two counts of the visible figures. */
const PAUSE_MS = 30_000;

/**
 * Fetches the figures while they are on the screen: when they are opened, when their grouping changes, and a while
 * after something has happened.
 */
export function followStats(options: {
  client(): EngineClient;
  getState(): State;
  onStats(found: ListedStats): void;
  onFailed(error: unknown): void;
}): { onStateChange(): void } {
  /** The last requested view and connection; empty while the figures are hidden. */
  let asked = '';
  let askedAt = 0;
  let lastEvent = 0;
  let calls = 0;

  async function fetchStats(): Promise<void> {
    calls += 1;
    const call = calls;
    const found = await options.client().call('stats.read', { by: options.getState().statsBy });
    // A later request has been sent in the meantime.
    if (call === calls) options.onStats(found);
  }

  return {
    onStateChange() {
      const { focus, link, statsBy, data, now } = options.getState();
      const key = focus === 'stats' && link.phase === 'live' ? `${link.since} ${statsBy}` : '';
      const event = data.events.at(-1)?.seq ?? 0;
      const isDue = event !== lastEvent && now - askedAt >= PAUSE_MS;
      if (key === asked && !(key !== '' && isDue)) return;
      asked = key;
      if (key === '') return;
      askedAt = now;
      lastEvent = event;
      fetchStats().catch(options.onFailed);
    },
  };
}
