import { layoutOf, listHeight, previewSize } from '../layout/layout.ts';
import { PANES, previewOf, tabOf } from '../panes/index.ts';
import { waiting } from '../panes/waiting.ts';
import { workersMode } from '../state/details.ts';
import { EMPTY_INPUT, inputOf } from '../state/input.ts';
import { moveTo, select } from '../state/lists.ts';
import { followed, paused } from '../state/log.ts';
import type { PaneId, Scroll, State } from '../state/model.ts';
import { plainText } from '../text/theme.ts';
import { type Step, said, step } from './transition.ts';

export const withList = (state: State, pane: PaneId, list: State['lists'][PaneId]): State => ({
  ...state,
  lists: { ...state.lists, [pane]: list },
});

/** Whose preview it is: another item begins at its top. */
export const previewKey = (state: State): string =>
  `${state.focus} ${state.lists[state.focus].selected} ${workersMode(state)}`;

export const scrollOf = (state: State): Scroll =>
  state.scroll.of === previewKey(state) ? state.scroll : { of: previewKey(state), top: 0, left: 0 };

/** A log that is followed shows its end; every other preview, and a paused log, where it was scrolled to. */
export const showsLog = (state: State): boolean => state.focus === 'workers' && workersMode(state) === 'log';

function previewEnd(state: State): { end: number; page: number } {
  const size = previewSize(layoutOf(state));
  if (size === null) return { end: 0, page: 1 };
  const preview = previewOf(state, state.focus, size.cells);
  const page = Math.max(1, size.lines - (preview?.pinned?.length ?? 0));
  return { end: Math.max(0, (preview?.lines.length ?? 0) - page), page };
}

/** The first visible line of the focused preview. */
export function topOf(state: State): number {
  const { end } = previewEnd(state);
  return showsLog(state) && state.log.following ? end : Math.min(scrollOf(state).top, end);
}

function scrollTo(state: State, top: number): State {
  const { end } = previewEnd(state);
  const to = Math.max(0, Math.min(top, end));
  const scrolled = { ...state, scroll: { ...scrollOf(state), top: to } };
  if (!showsLog(state)) return scrolled;
  // Reaching the end of a log takes up following it again.
  return { ...scrolled, log: to >= end ? followed(state.log) : paused(state.log) };
}

const scrollBy =
  (lines: number) =>
  (state: State): Step =>
    step(scrollTo(state, topOf(state) + lines));

const move =
  (by: (state: State) => number) =>
  (state: State): Step => {
    const list = state.lists[state.focus];
    return step(withList(state, state.focus, moveTo(list, list.index + by(state))));
  };

/** In a list the cursor, in a full preview the text. */
const either =
  (inList: (state: State) => Step, inFull: (state: State) => Step) =>
  (state: State): Step =>
    state.view === 'full' ? inFull(state) : inList(state);

const page = (state: State): number => Math.max(1, previewEnd(state).page - 1);

export const up = either(
  move(() => -1),
  scrollBy(-1),
);
export const down = either(
  move(() => 1),
  scrollBy(1),
);
export const top = either(
  move(() => -Infinity),
  (state) => step(scrollTo(state, 0)),
);
export const bottom = either(
  move((state) => state.lists[state.focus].ids.length),
  (state) => step(scrollTo(state, Number.MAX_SAFE_INTEGER)),
);
export const pageUp = (state: State): Step => step(scrollTo(state, topOf(state) - page(state)));
export const pageDown = (state: State): Step => step(scrollTo(state, topOf(state) + page(state)));

const pageOfList = (state: State): number => listHeight(layoutOf(state), state.focus);
export const listUp = either(
  move((state) => -pageOfList(state)),
  pageUp,
);
export const listDown = either(move(pageOfList), pageDown);

export const sideways =
  (cells: number) =>
  (state: State): Step => {
    const scroll = scrollOf(state);
    return step({ ...state, scroll: { ...scroll, left: Math.max(0, scroll.left + cells) } });
  };

export const focusOn =
  (pane: PaneId) =>
  (state: State): Step =>
    step({ ...state, focus: pane, view: 'list' });

export const nextPane =
  (by: 1 | -1) =>
  (state: State): Step => {
    const at = PANES.findIndex((each) => each.id === tabOf(state.focus));
    const next = PANES[(at + by + PANES.length) % PANES.length]!;
    return focusOn(next.id)(state);
  };

export function nextWaiting(state: State): Step {
  const all = waiting(state);
  if (state.link.phase === 'connecting') return step(said(state, 'what waits is not known yet: connecting'));
  if (all.length === 0) return step(said(state, 'nothing waits for you', 'good'));
  const here = all.findIndex(({ pane, id }) => pane === state.focus && id === state.lists[pane].selected);
  const { pane, id } = all[(here + 1) % all.length]!;
  const isReview = pane === 'workers';
  return step({
    ...state,
    focus: pane,
    view: 'list',
    jump: { pane, id },
    ...(isReview ? { workers: 'work' as const } : {}),
  });
}

export function open(state: State): Step {
  if (state.lists[state.focus].selected === null) return step(said(state, 'nothing is selected'));
  return step({ ...state, view: 'full', workers: workersMode(state) });
}

/** One level back, whatever there is. */
export function back(state: State): Step {
  if (state.search !== null && state.view === 'full') return step({ ...state, search: null });
  if (state.view === 'full') return step({ ...state, view: 'list' });
  if (state.message !== null) return step({ ...state, message: null });
  const list = state.lists[state.focus];
  if (list.filter !== '') return step(withList(state, state.focus, { ...list, filter: '' }));
  return step({ ...state, focus: tabOf(state.focus) });
}

export function filter(state: State): Step {
  const { filter: before } = state.lists[state.focus];
  return step({ ...state, overlay: { kind: 'filter', pane: state.focus, before, input: inputOf(before) } });
}

export const search = (state: State): Step =>
  step({ ...state, overlay: { kind: 'search', of: previewKey(state), input: EMPTY_INPUT } });

const hits = (state: State, query: string): number[] => {
  const size = previewSize(layoutOf(state));
  const lines = size === null ? [] : (previewOf(state, state.focus, size.cells)?.lines ?? []);
  const wanted = query.toLowerCase();
  return lines.flatMap((line, index) => (plainText(line).toLowerCase().includes(wanted) ? [index] : []));
};

export const nextHit =
  (by: 1 | -1) =>
  (state: State): Step => {
    const { search } = state;
    if (search === null) return step(state);
    const found = hits(state, search.query);
    if (found.length === 0) return step(said(state, `no line holds ${search.query}`));
    const next =
      by > 0
        ? (found.find((line) => line > search.at) ?? found[0]!)
        : (found.findLast((line) => line < search.at) ?? found.at(-1)!);
    const note = said(state, `${search.query}: ${found.indexOf(next) + 1} of ${found.length}`);
    return step(scrollTo({ ...note, search: { ...search, at: next } }, next));
  };

/** Begins a search at the line that is on top of the screen. */
export function searchFor(state: State, query: string): Step {
  if (query === '') return step({ ...state, search: null });
  return nextHit(1)({ ...state, search: { of: previewKey(state), query, at: topOf(state) - 1 } });
}

/** The worker that a person has just started is the one whose log they see next. */
export const withWorker = (state: State, session: { session_id: string } | null): State =>
  session === null ? state : { ...state, jump: { pane: 'workers', id: session.session_id } };

/** Goes to the row that was asked for, as soon as it is there; a filter that hides it gives way. */
export function jumped(state: State): State {
  const { jump } = state;
  if (jump === null) return state;
  const list = state.lists[jump.pane];
  if (list.ids.includes(jump.id)) return { ...withList(state, jump.pane, select(list, jump.id)), jump: null };
  return list.filter === '' ? state : withList(state, jump.pane, { ...list, filter: '' });
}
