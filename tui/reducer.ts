import { stillAsked } from './actions/asks.ts';
import { jumped, withList } from './actions/navigation.ts';
import { type Effect, type Step, said, step } from './actions/transition.ts';
import { bindingFor } from './keymap/index.ts';
import { answer, press, stillArmed } from './keymap/run-binding.ts';
import { layoutOf, listHeight } from './layout/layout.ts';
import { burstInOverlay, pressInOverlay, typeInOverlay } from './overlays/index.ts';
import { paneOf } from './panes/index.ts';
import type { Pane } from './panes/pane.ts';
import { applyData, type DataChange } from './state/data.ts';
import { withDetail, withoutWork } from './state/details.ts';
import { matching } from './state/filter.ts';
import { inView, moveTo, withRows } from './state/lists.ts';
import { EMPTY_LOG, withLines } from './state/log.ts';
import {
  type Link,
  type Loaded,
  type Message,
  PANE_IDS,
  type PaneId,
  type Size,
  type State,
} from './state/model.ts';

/** What can happen to the dashboard. `at` is milliseconds of the wall clock. */
export type Happening =
  /** Keys that arrived together: one when a hand typed it, several from a paste or a held key. */
  | { type: 'keys'; keys: readonly string[]; at: number }
  | { type: 'paste'; text: string }
  | { type: 'resize'; size: Size }
  | { type: 'tick'; at: number }
  | { type: 'link'; link: Partial<Link> }
  | { type: 'data'; change: DataChange; at: number }
  | { type: 'detail'; loaded: Loaded }
  /** Branches of a repository are elsewhere than they were. */
  | { type: 'refs'; repository: string }
  | { type: 'log'; session: string; lines: readonly string[]; ended: boolean; reset: boolean }
  | { type: 'answered'; effect: Extract<Effect, { do: 'call' }>; answer: unknown }
  | { type: 'refused'; busy: string; text: string; hint?: string | undefined }
  | { type: 'edited'; effect: Extract<Effect, { do: 'edit' }>; text: string }
  | { type: 'ran'; effect: Extract<Effect, { do: 'command' }>; code: number }
  | { type: 'said'; text: string; tone: Message['tone']; hint?: string | undefined }
  | { type: 'go'; pane: PaneId; id: string };

const GOOD_NEWS_MS = 8000;

/** The one reducer: pure, so that what a key may do can be proven without a terminal and without an engine. */
export function update(before: State, happening: Happening): Step {
  const { state, effects } = apply(before, happening);
  return { state: settled(before, stillAsked(stillArmed(state))), effects };
}

function apply(state: State, happening: Happening): Step {
  switch (happening.type) {
    case 'keys':
      return pressKeys({ ...state, now: Math.max(state.now, happening.at) }, happening.keys, happening.at);
    case 'paste':
      if (state.overlay !== null) return step(typeInOverlay(state, state.overlay, happening.text));
      return step(said({ ...state, armed: null }, 'pasted text does nothing here'));
    case 'resize':
      return step({ ...state, size: happening.size });
    case 'tick':
      return step(faded({ ...state, now: happening.at }));
    case 'link':
      return step({
        ...state,
        link: { ...state.link, ...happening.link },
        ...(happening.link.phase === 'lost' ? { armed: null, busy: [] } : {}),
      });
    case 'data': {
      const { data, arrived } = applyData(state.data, happening.change);
      // Another configuration, or another engine: what a run would do may be something else now.
      const isOther = happening.change.events?.some(({ kind }) =>
        /^(?:config_reloaded|engine_started)$/.test(kind),
      );
      const details = isOther ? [] : state.details;
      const next = { ...state, data, details, now: Math.max(state.now, happening.at) };
      return arrived && state.bell ? step(next, { do: 'bell' }) : step(next);
    }
    case 'detail':
      return step({ ...state, details: withDetail(state.details, happening.loaded) });
    case 'refs':
      return step({ ...state, details: withoutWork(state.details, state.data, happening.repository) });
    case 'log': {
      const log = happening.reset ? { ...EMPTY_LOG, session: happening.session } : state.log;
      return step(
        log.session === happening.session
          ? { ...state, log: withLines(log, happening.lines, happening.ended) }
          : state,
      );
    }
    case 'answered': {
      const { effect, answer: answered } = happening;
      const text = effect.said(answered as never);
      const next = said({ ...state, busy: without(state.busy, effect.busy) }, text, 'good');
      return step(effect.after?.(next, answered as never) ?? next);
    }
    case 'refused':
      return step(
        said({ ...state, busy: without(state.busy, happening.busy) }, happening.text, 'bad', happening.hint),
      );
    case 'edited':
      return happening.effect.after(state, happening.text);
    case 'ran':
      return step(happening.effect.after(state, happening.code));
    case 'said':
      return step(said(state, happening.text, happening.tone, happening.hint));
    case 'go':
      return step({
        ...state,
        focus: happening.pane,
        view: 'list',
        jump: { pane: happening.pane, id: happening.id },
      });
  }
}

const without = (all: readonly string[], one: string): string[] => {
  const at = all.indexOf(one);
  return all.filter((_, index) => index !== at);
};

/** Good news goes by itself; a failure stays until it was seen. */
const faded = (state: State): State =>
  state.message !== null && state.message.tone !== 'bad' && state.now - state.message.at > GOOD_NEWS_MS
    ? { ...state, message: null }
    : state;

function pressKeys(state: State, keys: readonly string[], at: number): Step {
  const [only] = keys;
  if (keys.length === 1 && only !== undefined) return pressKey(state, only, at);
  if (state.overlay !== null) return burstInOverlay(state, state.overlay, keys, at);
  // A burst disarms and moves; it never acts.
  const moved = keys.reduce<State>(
    (sofar, key) => {
      const binding = bindingFor(key, sofar);
      return binding?.moves ? (binding.run?.(sofar).state ?? sofar) : sofar;
    },
    { ...state, armed: null },
  );
  const acts = keys.some((key) => bindingFor(key, state)?.moves === undefined);
  return step(
    acts ? said(moved, 'keys that arrive together only move: press them one after the other') : moved,
  );
}

function pressKey(state: State, key: string, at: number): Step {
  // Wherever the keyboard is; a question that is armed stays so.
  if (key === 'ctrl+c') return step(state, { do: 'quit' });
  if (key === 'ctrl+l') return step(state, { do: 'redraw' });
  if (state.armed !== null) return answer(state, key, at);
  if (state.overlay !== null) return pressInOverlay(state, state.overlay, key, at);
  const binding = bindingFor(key, state);
  return binding === undefined ? step(state) : press(state, binding, at);
}

/** Brings the lists in line with their data, filters and heights after whatever happened. */
function settled(before: State, after: State): State {
  let state = after;
  for (const id of PANE_IDS) {
    const list = state.lists[id];
    const hasChanged = paneOf(id).from.some((part) => state.data[part] !== before.data[part]);
    if (hasChanged || list.filter !== before.lists[id].filter) {
      const { list: next, moved } = withRows(list, idsOf(state, id));
      const isFollowing = paneOf(id).follows && id !== state.focus && list.index === 0;
      // Tasks older than the first page belong above it: a cursor that nobody has moved stays at the top.
      const isFilling = id === 'tasks' && !before.data.complete && list.index === 0 && state.armed === null;
      const toTop = isFollowing || isFilling;
      const isCarried = toTop && list.selected !== null && next.index !== 0;
      state = withList(state, id, toTop ? { ...moveTo(next, 0), top: 0 } : next);
      if ((moved || isCarried) && id === state.focus && list.filter === before.lists[id].filter)
        state = { ...state, movedAt: state.now };
    }
  }
  state = jumped(state);
  // A filter that hid the row has given way.
  if (state.jump !== null && state.lists[state.jump.pane].filter !== after.lists[state.jump.pane].filter) {
    const { pane } = state.jump;
    state = jumped(withList(state, pane, withRows(state.lists[pane], idsOf(state, pane)).list));
  }
  // It was not a hand that moved the cursor when what was asked for came later.
  if (before.jump?.pane === state.focus && state.jump === null) state = { ...state, movedAt: state.now };
  const layout = layoutOf(state);
  for (const id of PANE_IDS) {
    const list = inView(state.lists[id], listHeight(layout, id));
    if (list !== state.lists[id]) state = withList(state, id, list);
  }
  return state;
}

function idsOf(state: State, id: PaneId): readonly string[] {
  const pane = paneOf(id) as unknown as Pane<object>;
  return matching(pane.rows(state.data), state.lists[id].filter, pane.fields).map((row) => pane.idOf(row));
}
