import type { SentenceWords } from '../engine/core/base/sentence.ts';
import { closeStaleAnswer } from './actions/asks.ts';
import { handleMouse, type MouseInput } from './actions/mouse.ts';
import { finishJump, replaceList } from './actions/navigation.ts';
import { bringFormBack, isFormUnwelcome, keepWhileAway, setFormAside } from './actions/set-aside.ts';
import { sortList } from './actions/sorting.ts';
import {
  type DashboardEffect,
  type StateTransition,
  showMessage,
  transitionTo,
  withdraw,
} from './actions/transition.ts';
import { askWhenKnown, settleBulkCall } from './keymap/bulk.ts';
import { findBinding, findBindingById, getKeymap } from './keymap/index.ts';
import { isForeignLetter, toLatinKey } from './keymap/latin-keys.ts';
import { nameKey } from './keymap/name-key.ts';
import {
  answerQuestion,
  askAwaited,
  askWhenFetched,
  disarmIfChanged,
  ignoreRefused,
  runBinding,
} from './keymap/run-binding.ts';
import { getLayout, getListHeight } from './layout/layout.ts';
import { handleOverlayBurst, handleOverlayKey, insertInOverlay, takesText } from './overlays/index.ts';
import { PANE_IDS, type PaneId } from './pane-ids.ts';
import { getPane } from './panes/index.ts';
import type { Pane } from './panes/pane.ts';
import { applyDataChange, type DataChange } from './state/data.ts';
import { addDetail, dropWorkDetails } from './state/details.ts';
import { filterRows } from './state/filter.ts';
import { moveCursorTo, replaceRows, scrollIntoView } from './state/lists.ts';
import { appendLogLines, EMPTY_LOG, isSameLog } from './state/log.ts';
import {
  type EngineLink,
  type LogSource,
  MESSAGE_MS,
  type ScreenSize,
  type State,
  type StatusMessage,
} from './state/model.ts';
import type { OverlayState } from './state/overlays.ts';
import type { LoadedDetail } from './state/rows.ts';
import { getSelectedItem } from './state/selection.ts';
import { applyOrder } from './state/sorting.ts';

/** Everything that can happen to the dashboard. `at` is wall-clock time in milliseconds. */
export type DashboardEvent =
  /** Keys that arrived together: a single one from a hand, several from a paste or a held key. */
  | { type: 'keys'; keys: readonly string[]; at: number }
  | { type: 'paste'; text: string }
  | { type: 'resize'; size: ScreenSize }
  | { type: 'mouse'; input: MouseInput }
  | { type: 'focus'; hasFocus: boolean }
  | { type: 'tick'; at: number }
  | { type: 'link'; link: Partial<EngineLink> }
  | { type: 'data'; change: DataChange; at: number }
  | { type: 'detail'; loaded: LoadedDetail }
  /** Branches of a repository have moved. */
  | { type: 'refs'; repository: string }
  | { type: 'log'; source: LogSource; lines: readonly string[]; ended: boolean; reset: boolean }
  | { type: 'answered'; effect: Extract<DashboardEffect, { do: 'call' }>; answer: unknown }
  | {
      type: 'refused';
      busy: string;
      text: string;
      hint?: SentenceWords | undefined;
      form?: OverlayState | undefined;
    }
  | { type: 'edited'; effect: Extract<DashboardEffect, { do: 'edit' }>; text: string }
  | { type: 'exited'; effect: Extract<DashboardEffect, { do: 'command' }>; code: number }
  | { type: 'message'; text: string; tone: StatusMessage['tone']; hint?: SentenceWords | undefined }
  | { type: 'go'; pane: PaneId; id: string }
  /** The dashboard of several workspaces replaces this one's part, and the lists follow. */
  | { type: 'replace'; change(state: State): State };

const renderHint = (state: State, hint: SentenceWords | undefined): string | undefined =>
  typeof hint === 'object' ? hint.render((mention) => nameKey(mention, getKeymap(state))) : hint;

/** Pause after which a hand that was typing for a removed question or form is at rest. */
const PAUSE_MS = 500;

/** The only place where the state changes. It is pure, so tests can prove what a key does without terminal or engine. */
export function reduceState(before: State, event: DashboardEvent): StateTransition {
  const { state: after, effects } = applyEvent(before, event);
  // Entering a list sorts it by its current values.
  const state = after.focus === before.focus ? after : sortList(after, after.focus);
  const settled = bringFormBack(before, disarmIfChanged(state));
  return {
    state: settleLists(before, askAwaited(askWhenKnown(closeStaleAnswer(settled), findBindingById))),
    effects,
  };
}

function applyEvent(state: State, event: DashboardEvent): StateTransition {
  switch (event.type) {
    case 'keys':
      return handleKeys(
        awaitPause({ ...state, now: Math.max(state.now, event.at) }, event.at),
        event.keys,
        event.at,
      );
    case 'paste':
      if (state.overlay !== null) return transitionTo(insertInOverlay(state, state.overlay, event.text));
      return transitionTo(showMessage({ ...state, armed: null }, 'pasted text is ignored here'));
    case 'mouse':
      return handleMouse({ ...state, refused: null, awaited: null }, event.input);
    case 'resize':
      return transitionTo({ ...state, size: event.size });
    case 'focus':
      return transitionTo({ ...state, hasFocus: event.hasFocus });
    case 'tick':
      return transitionTo(expireMessage({ ...state, now: event.at }));
    case 'link':
      return transitionTo(changeLink(state, event.link));
    case 'data': {
      const { data, arrived } = applyDataChange(state.data, event.change);
      // With another configuration or engine, what a run would do may have changed.
      const isPlanOutdated = event.change.events?.some(({ kind }) =>
        /^(?:config_reloaded|engine_started)$/.test(kind),
      );
      const details = isPlanOutdated ? [] : state.details;
      const next = { ...state, data, details, now: Math.max(state.now, event.at) };
      return transitionTo(next, ...(arrived && next.preferences.bell ? [{ do: 'bell' } as const] : []));
    }
    case 'detail':
      return transitionTo(askWhenFetched({ ...state, details: addDetail(state, event.loaded) }));
    case 'refs':
      return transitionTo({
        ...state,
        details: dropWorkDetails(state.details, state.data, event.repository),
      });
    case 'log': {
      const log = event.reset ? { ...EMPTY_LOG, source: event.source } : state.log;
      return transitionTo(
        isSameLog(log.source, event.source)
          ? { ...state, log: appendLogLines(log, event.lines, event.ended) }
          : state,
      );
    }
    case 'answered': {
      const { effect, answer: answered } = event;
      const refusal = effect.findRefusal?.(answered as never) ?? null;
      const settled = settleBulkCall(state, effect.busy, refusal);
      if (settled !== null) return transitionTo(settled);
      const text = effect.describeAnswer(answered as never);
      const tone = refusal === null ? 'good' : 'bad';
      const next = showMessage({ ...state, busy: removeOne(state.busy, effect.busy) }, text, tone);
      const url = effect.findPage?.(answered as never);
      return transitionTo(
        effect.onAnswer?.(next, answered as never) ?? next,
        ...(url === undefined ? [] : [{ do: 'browse', url } as const]),
      );
    }
    case 'refused':
      return transitionTo(settleBulkCall(state, event.busy, event.text) ?? settleRefusal(state, event));
    case 'edited':
      return event.effect.onEdited(state, event.text);
    case 'exited': {
      const { effect, code } = event;
      const after = effect.onExit(state, code);
      return code === 0 && effect.next !== undefined ? effect.next(after) : transitionTo(after);
    }
    case 'message':
      return transitionTo(showMessage(state, event.text, event.tone, renderHint(state, event.hint)));
    case 'replace':
      return transitionTo(event.change(state));
    case 'go':
      return transitionTo({
        ...state,
        focus: event.pane,
        view: 'list',
        jump: { pane: event.pane, id: event.id },
      });
  }
}

function settleRefusal(
  state: State,
  { busy, text, hint, form }: Extract<DashboardEvent, { type: 'refused' }>,
): State {
  const idle = { ...state, busy: removeOne(state.busy, busy) };
  const isLater = form !== undefined && isFormUnwelcome(idle);
  return showMessage(
    form === undefined ? idle : setFormAside(idle, form),
    isLater ? `${text}; what you wrote comes back` : text,
    'bad',
    renderHint(state, hint),
  );
}

function changeLink(state: State, change: Partial<EngineLink>): State {
  const next = { ...state, link: { ...state.link, ...change } };
  if (change.phase !== 'lost') return next;
  const idle = { ...next, busy: [] };
  return state.armed === null || findBindingById(state.armed.binding)?.asksOnlyOnLoss === true
    ? idle
    : withdraw(idle, `${state.armed.subject.id}: nothing was done, the engine is not running`);
}

const removeOne = (all: readonly string[], one: string): string[] => {
  const at = all.indexOf(one);
  return all.filter((_, index) => index !== at);
};

/** Removes a message after a while, unless it is a failure: that stays until it is dismissed. */
const expireMessage = (state: State): State =>
  state.message !== null && state.message.tone !== 'bad' && state.now - state.message.at > MESSAGE_MS
    ? { ...state, message: null }
    : state;

/** Ignores keys until the first one after a pause; each earlier key restarts the pause. */
const awaitPause = (state: State, at: number): State =>
  state.withdrawnAt === null
    ? state
    : { ...state, withdrawnAt: at - state.withdrawnAt < PAUSE_MS ? at : null };

/** Maps a letter of another layout to its key, unless it is text or one of a person's own keys. */
function readLayout(state: State, keys: readonly string[]): readonly string[] {
  if (state.overlay !== null && takesText(state.overlay)) return keys;
  const own = Object.values(state.preferences.keys).flat();
  return keys.map((key) => (own.includes(key) ? key : toLatinKey(key)));
}

function handleKeys(state: State, typed: readonly string[], at: number): StateTransition {
  const keys = readLayout(state, typed);
  const [only] = keys;
  if (state.withdrawnAt !== null && only !== 'ctrl+c') return transitionTo(state);
  if (keys.length === 1 && only !== undefined) return handleKey(state, only, at);
  if (state.overlay !== null) return handleOverlayBurst(state, state.overlay, keys, at);
  // A burst disarms and moves, but never acts.
  const moved = keys.reduce<StateTransition>(
    (sofar, key) => {
      const binding = findBinding(key, sofar.state);
      const step = binding?.moves ? binding.run?.(sofar.state) : undefined;
      return step === undefined ? sofar : { ...step, effects: [...sofar.effects, ...step.effects] };
    },
    transitionTo({ ...state, armed: null }),
  );
  const acts = keys.some((key) => findBinding(key, state)?.moves === undefined);
  if (!acts) return moved;
  const told = showMessage(
    moved.state,
    'keys that arrive in a burst only move: press them one after the other',
  );
  return transitionTo(told, ...moved.effects);
}

function handleKey(state: State, key: string, at: number): StateTransition {
  // These work everywhere, and leave an armed question armed.
  if (key === 'ctrl+c') return transitionTo(state, { do: 'quit' });
  if (key === 'ctrl+l') return transitionTo(state, { do: 'redraw' });
  if (state.armed !== null) return answerQuestion(state, key, at);
  if (state.overlay !== null) {
    const next = handleOverlayKey(state, state.overlay, key, at);
    return key === 'esc' ? keepWhileAway(state, next) : next;
  }
  const ignored = ignoreRefused(state, key, at);
  if (ignored !== null) return ignored;
  const isIdle = state.refused === null && state.awaited === null;
  const idle = isIdle ? state : { ...state, refused: null, awaited: null };
  const binding = findBinding(key, idle);
  if (binding !== undefined) return runBinding(idle, binding, at);
  return transitionTo(
    isForeignLetter(key) ? showMessage(idle, 'keys are Latin letters: switch the keyboard layout') : idle,
  );
}

/** Aligns every list with its data, filter and height. */
function settleLists(before: State, after: State): State {
  let state = after;
  for (const id of PANE_IDS) {
    if (isFirstOrder(before, state, id)) state = sortList(state, id);
    const list = state.lists[id];
    const hasChanged = getPane(id).dataParts.some((part) => state.data[part] !== before.data[part]);
    const was = before.lists[id];
    if (hasChanged || list.filter !== was.filter || list.order !== was.order) {
      const { ids, sections } = listRowIds(state, id);
      const { list: next, moved } = replaceRows(list, ids, sections);
      const isFollowing = getPane(id).staysOnFirstRow && id !== state.focus && list.index === 0;
      // Older tasks arrive later and belong above the first page. An untouched cursor stays at the top in the meantime.
      const isFilling =
        hasChanged && id === 'work' && !before.data.complete && list.index === 0 && state.armed === null;
      // The best result of a new search comes first.
      const isSearched = id === 'memories' && state.data.memories?.filter !== before.data.memories?.filter;
      const toTop = isFollowing || isFilling || isSearched;
      const isCarried = toTop && list.selected !== null && next.index !== 0;
      state = replaceList(state, id, toTop ? { ...moveCursorTo(next, 0), top: 0 } : next);
      if ((moved || isCarried) && id === state.focus && list.filter === was.filter)
        state = { ...state, movedAt: state.now };
    }
  }
  // The row under the cursor has become something else: a decision a run, a run work to review.
  if (hasChangedKind(before, state)) state = { ...state, movedAt: state.now };
  state = finishJump(state);
  // The filter that hid the row was just cleared, so the row can be found now.
  if (state.jump !== null && state.lists[state.jump.pane].filter !== after.lists[state.jump.pane].filter) {
    const { pane } = state.jump;
    state = finishJump(
      replaceList(
        state,
        pane,
        replaceRows(state.lists[pane], listRowIds(state, pane).ids, listRowIds(state, pane).sections).list,
      ),
    );
  }
  // The jump finished later, so the program moved the cursor and not a key.
  if (before.jump?.pane === state.focus && state.jump === null) {
    if (before.jump.ask === undefined) state = { ...state, movedAt: state.now };
    else state = askAfterJump(state, before.jump.ask);
  }
  const layout = getLayout(state);
  for (const id of PANE_IDS) {
    const list = scrollIntoView(state.lists[id], getListHeight(layout, id));
    if (list !== state.lists[id]) state = replaceList(state, id, list);
  }
  return state;
}

/** Asks the question of a jump about its row, unless the person is doing something else. */
function askAfterJump(state: State, id: string): State {
  const binding = findBindingById(id);
  if (binding === undefined || state.overlay !== null || state.armed !== null) return state;
  return runBinding({ ...state, movedAt: Number.NEGATIVE_INFINITY }, binding, state.now).state;
}

function hasChangedKind(before: State, state: State): boolean {
  const { selected } = state.lists.work;
  if (selected === null || selected !== before.lists.work.selected || state.data === before.data)
    return false;
  const [was, is] = [getSelectedItem(before), getSelectedItem(state)];
  return was?.kind !== is?.kind || was?.ask?.id !== is?.ask?.id;
}

/** Reports whether a sorted list has rows that arrived while it was being fetched. */
const isFirstOrder = (before: State, state: State, id: PaneId): boolean =>
  state.lists[id].sort !== null &&
  state.data !== before.data &&
  (state.lists[id].order === null || !before.data.complete || before.data.choices === null);

/** Lists the rows that match the filter, in the chosen order within each section, and counts them by section. */
function listRowIds(state: State, id: PaneId): { ids: readonly string[]; sections: readonly number[] } {
  const pane = getPane(id) as unknown as Pane<object>;
  const rows = pane.listRows(state.data);
  const listed = pane.isSearchedByEngine ? rows : filterRows(rows, state.lists[id].filter, pane.fields);
  const { order } = state.lists[id];
  const sort = (part: readonly object[]): readonly string[] => {
    const ids = part.map((row) => pane.getRowId(row));
    return order === null ? ids : applyOrder(ids, order);
  };
  const { sections, getSection } = pane;
  if (sections === undefined || getSection === undefined) return { ids: sort(listed), sections: [] };
  const parts = sections.map((): object[] => []);
  for (const row of listed) parts[getSection(row)]!.push(row);
  return { ids: parts.flatMap(sort), sections: parts.map(({ length }) => length) };
}
