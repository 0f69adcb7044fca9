import type { DashboardEffect } from './actions/transition.ts';
import { PANE_IDS, type PaneId } from './pane-ids.ts';
import { DEFAULT_PREFERENCES, type Preferences } from './preferences/preferences.ts';
import { type DashboardEvent, reduceState } from './reducer.ts';
import { EMPTY_DATA } from './state/data.ts';
import { EMPTY_LIST } from './state/lists.ts';
import { EMPTY_LOG } from './state/log.ts';
import type { ListView, ScreenSize, State } from './state/model.ts';
import { parseSort } from './state/sorting.ts';

export interface Store {
  getState(): State;
  send(event: DashboardEvent): void;
  subscribe(listener: () => void): () => void;
}

export const createInitialState = (options: {
  size: ScreenSize;
  now: number;
  preferences?: Preferences;
  plain?: boolean;
  focus?: PaneId;
}): State => ({
  size: options.size,
  now: options.now,
  link: { phase: 'connecting', since: options.now, reason: null, workspace: '', root: '' },
  data: EMPTY_DATA,
  lists: Object.fromEntries(
    PANE_IDS.map((id) => [id, { ...EMPTY_LIST, sort: parseSort(options.preferences?.sort[id]) }]),
  ) as Record<PaneId, ListView>,
  focus: options.focus ?? 'work',
  view: 'list',
  isZoomed: false,
  shown: null,
  statsBy: 'agent',
  scroll: { of: '', top: 0, left: 0 },
  diffCursor: null,
  search: null,
  log: EMPTY_LOG,
  details: [],
  overlay: null,
  setAside: [],
  draft: null,
  bases: {},
  jump: null,
  urgentAt: null,
  armed: null,
  refused: null,
  awaited: null,
  message: null,
  busy: [],
  bulk: null,
  movedAt: Number.NEGATIVE_INFINITY,
  withdrawnAt: null,
  preferences: options.preferences ?? DEFAULT_PREFERENCES,
  across: null,
  hasFocus: null,
  isPlain: options.plain ?? false,
  farewell: [],
});

/** Holds the state, runs the reducer and passes effects on. A reducer that throws is a bug and ends the dashboard. */
export function createStore(
  first: State,
  deps: { run(effect: DashboardEffect): void; crash(error: unknown): void },
): Store {
  let state = first;
  const listeners = new Set<() => void>();
  return {
    getState: () => state,
    send(event) {
      try {
        const { state: next, effects } = reduceState(state, event);
        if (next !== state) {
          state = next;
          for (const listener of listeners) listener();
        }
        for (const effect of effects) deps.run(effect);
      } catch (error) {
        deps.crash(error);
      }
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
