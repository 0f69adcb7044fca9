import type { EngineClient } from '../../engine/index.ts';
import { splitSearch } from '../state/filter.ts';
import type { State } from '../state/model.ts';
import type { ListedMemories } from '../state/rows.ts';

/** Pause in typing that starts a search. */
const TYPED_MS = 80;

/** Fetches the memories while their list is on the screen: when it is opened, when the query changes, and when a memory changes. */
export function followMemories(options: {
  client(): EngineClient;
  getState(): State;
  onMemories(found: ListedMemories): void;
  onFailed(error: unknown): void;
}): { onStateChange(): void; close(): void } {
  let timer: NodeJS.Timeout | null = null;
  let asked = '';
  let answered = 0;
  let calls = 0;

  const makeQueryKey = ({ focus, link, lists, data }: State): string => {
    if (focus !== 'memories' || link.phase !== 'live') return '';
    const changed = data.events.findLast(({ kind }) => kind === 'memory_changed')?.seq ?? 0;
    return `${link.since} ${changed} ${lists.memories.filter}`;
  };

  async function fetchMemories(): Promise<void> {
    const { filter } = options.getState().lists.memories;
    const { query, type } = splitSearch(filter);
    calls += 1;
    const call = calls;
    const found = await options.client().call('memory.browse', { query, ...(type === null ? {} : { type }) });
    // An earlier search may be answered later.
    if (call < answered) return;
    answered = call;
    options.onMemories({ ...found, filter });
  }

  return {
    onStateChange() {
      const key = makeQueryKey(options.getState());
      if (key === asked) return;
      asked = key;
      if (timer !== null) clearTimeout(timer);
      timer = null;
      if (key === '') return;
      timer = setTimeout(() => {
        timer = null;
        fetchMemories().catch(options.onFailed);
      }, TYPED_MS);
    },
    close() {
      if (timer !== null) clearTimeout(timer);
    },
  };
}
