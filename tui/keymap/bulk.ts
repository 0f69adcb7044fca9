import { formatCount } from '../../engine/core/base/text.ts';
import { stampRow } from '../actions/marks.ts';
import { replaceList } from '../actions/navigation.ts';
import {
  type DashboardEffect,
  type ScreenQuestion,
  type StateTransition,
  showMessage,
  transitionTo,
} from '../actions/transition.ts';
import { getPane, joinPreview } from '../panes/index.ts';
import { findDetail, listBulkDetails } from '../state/details.ts';
import type { State } from '../state/model.ts';
import type { BulkQuestion, BulkRun, LeftOut } from '../state/overlays.ts';
import { wrapText } from '../text/text.ts';
import { type StyledLine, span, toPlainText } from '../text/theme.ts';
import { getDisabledReason, isBindingHere, type KeyBinding } from './index.ts';

type Call = Extract<DashboardEffect, { do: 'call' }>;

/** How many rows one question may cover. Reading each takes separate calls. */
const MOST_ROWS = { rows: 500, details: 100 } as const;
/** The text of a row is compared at one width, so that a resized terminal changes nothing. */
const COMPARED_CELLS = 80;

/** A marked row in a question about several. */
export interface BulkEntry {
  id: string;
  /** Why it is left out; null if the answer applies to it. */
  reason: string | null;
  /** By key, the effect of the answer on this row. */
  answers: ReadonlyMap<string, { label: string; call: Call }>;
}

interface AskedRow {
  here: State;
  row: object;
}

/** Reports whether a key applies to the marked rows instead of the selected one. */
export const isAboutMarks = (binding: KeyBinding, state: State): boolean =>
  binding.bulk !== undefined &&
  state.view === 'list' &&
  (binding.panes?.includes(state.focus) ?? false) &&
  state.lists[state.focus].marks.size > 0;

/** Opens the question about every marked row. */
export function openBulkQuestion(state: State, binding: KeyBinding, at: number): StateTransition {
  const pane = state.focus;
  const { size } = state.lists[pane].marks;
  const most = MOST_ROWS[binding.bulk!];
  if (state.link.phase === 'lost')
    return transitionTo(showMessage(state, 'the engine is not running; u starts it'));
  if (state.bulk !== null)
    return transitionTo(
      showMessage(state, `${state.bulk.label}: ${state.bulk.waiting.length} are in progress`),
    );
  if (size > most)
    return transitionTo(showMessage(state, `${size} are marked, but ${binding.label} takes at most ${most}`));
  const overlay: BulkQuestion = {
    kind: 'bulk',
    pane,
    binding: binding.id,
    needsDetails: binding.bulk === 'details',
    at,
    top: 0,
    seen: 0,
    asked: null,
  };
  return transitionTo({ ...state, overlay, message: null });
}

/** Returns the state with one marked row selected, as if the key were about that row. */
function selectMarked(state: State, { pane }: BulkQuestion, id: string): AskedRow | null {
  const row = getPane(pane).findRow(state.data, id) as object | undefined;
  if (row === undefined) return null;
  const list = { ...state.lists[pane], selected: id, marks: new Map() };
  const here: State = {
    ...replaceList(state, pane, list),
    focus: pane,
    view: 'list',
    shown: { row: id, as: 'work' },
    overlay: null,
    armed: null,
    message: null,
  };
  return { here, row };
}

/**
 * Returns the lines that a person agrees to, as the preview of the row shows them; its row of the list if nothing has
 * to be read.
 */
function renderAgreedLines(
  { here, row }: AskedRow,
  overlay: BulkQuestion,
  binding: KeyBinding,
  cells: number,
): StyledLine[] {
  const pane = getPane(overlay.pane);
  if (binding.requiresReading === true) {
    const { lines, essential } = joinPreview(pane.renderPreview(here, row as never, cells));
    return lines.slice(0, essential?.[overlay.binding] ?? 0);
  }
  const title = (pane.fields.title ?? pane.fields.text)?.(row as never) ?? '';
  return wrapText(title, cells)
    .slice(0, 1)
    .map((text) => [span(text)]);
}

/** The effect of a key on one row: the calls of its answers. Answers that open an input line work for a single row only. */
function listCalls({ here }: AskedRow, binding: KeyBinding): BulkEntry['answers'] {
  const answers: ScreenQuestion['answers'] = binding.ask?.(here)?.answers ?? [
    { key: 'y', label: binding.label, run: binding.run! },
  ];
  const calls = answers.flatMap(({ key, label, run }) => {
    const [effect, ...more] = run(here).effects;
    return effect?.do === 'call' && more.length === 0 ? [[key, { label, call: effect }] as const] : [];
  });
  return new Map(calls);
}

const listEntry = (state: State, overlay: BulkQuestion, binding: KeyBinding, id: string): BulkEntry => {
  const leaveOut = (reason: string): BulkEntry => ({ id, reason, answers: new Map() });
  const marked = selectMarked(state, overlay, id);
  if (marked === null) return leaveOut('it is gone');
  if (stampRow(state, overlay.pane, id) !== state.lists[overlay.pane].marks.get(id))
    return leaveOut('it has changed since it was marked');
  if (!isBindingHere(binding, marked.here)) return leaveOut(`${binding.label} is for other rows`);
  const reason = getDisabledReason(binding, marked.here);
  if (reason !== null) return leaveOut(reason.startsWith(`${id} `) ? reason.slice(id.length + 1) : reason);
  if (
    binding.requiresReading === true &&
    renderAgreedLines(marked, overlay, binding, COMPARED_CELLS).length === 0
  )
    return leaveOut('its consequences are not known');
  const answers = listCalls(marked, binding);
  if (answers.size === 0) return leaveOut('it needs a separate answer');
  if ([...answers.values()].some(({ call }) => state.busy.includes(call.busy)))
    return leaveOut('the answer is on its way');
  if (overlay.asked === null || overlay.asked.get(id) === describeAgreement(marked, overlay, binding))
    return { id, reason: null, answers };
  return leaveOut('it has changed since the question');
};

/** Describes everything the question states about a row, to detect changes. */
function describeAgreement(marked: AskedRow, overlay: BulkQuestion, binding: KeyBinding): string {
  const lines =
    binding.requiresReading === true ? renderAgreedLines(marked, overlay, binding, COMPARED_CELLS) : [];
  const question = binding.ask?.(marked.here)?.text ?? '';
  return [question, ...lines.map(toPlainText)].join('\n');
}

// States are immutable, so each question is computed once for both keys and drawing.
const entriesCache = new WeakMap<State, { overlay: BulkQuestion; entries: readonly BulkEntry[] }>();

/** Lists the marked rows in the order of the list, then the ones that it does not show. */
export function listBulkEntries(
  state: State,
  overlay: BulkQuestion,
  binding: KeyBinding,
): readonly BulkEntry[] {
  const known = entriesCache.get(state);
  if (known?.overlay === overlay) return known.entries;
  const { ids, marks } = state.lists[overlay.pane];
  const shown = ids.filter((id) => marks.has(id));
  const isShown = new Set(shown);
  const entries = [...shown, ...[...marks.keys()].filter((id) => !isShown.has(id))].map((id) =>
    listEntry(state, overlay, binding, id),
  );
  entriesCache.set(state, { overlay, entries });
  return entries;
}

/** The text of the question about a row. */
export const renderBulkEntry = (
  state: State,
  overlay: BulkQuestion,
  binding: KeyBinding,
  { id, reason }: BulkEntry,
  cells: number,
): StyledLine[] => {
  const marked = reason === null ? selectMarked(state, overlay, id) : null;
  return marked === null ? [] : renderAgreedLines(marked, overlay, binding, cells);
};

/** Counts the details for the question that are still being fetched. */
export const countMissingDetails = (state: State, overlay: BulkQuestion): number =>
  listBulkDetails(state, overlay).filter(
    ({ kind, id, stamp }) => findDetail(state, kind, id)?.stamp !== stamp,
  ).length;

/** Asks the question once all of its text is known. From then on a row whose text would change is left out. */
export function askWhenKnown(state: State, findById: (id: string) => KeyBinding | undefined): State {
  const { overlay } = state;
  if (overlay?.kind !== 'bulk' || overlay.asked !== null || countMissingDetails(state, overlay) > 0)
    return state;
  const binding = findById(overlay.binding)!;
  const asked = listBulkEntries(state, overlay, binding).flatMap(({ id, reason }) => {
    const marked = reason === null ? selectMarked(state, overlay, id) : null;
    return marked === null ? [] : [[id, describeAgreement(marked, overlay, binding)] as const];
  });
  return { ...state, overlay: { ...overlay, asked: new Map(asked), top: 0, seen: 0 } };
}

/** Answers the question for every row that has this answer. Their answers become one message. */
export function answerForAll(
  state: State,
  overlay: BulkQuestion,
  binding: KeyBinding,
  key: string,
): StateTransition {
  const entries = listBulkEntries(state, overlay, binding);
  const calls = entries.flatMap(({ answers }) => answers.get(key)?.call ?? []);
  const acted = new Set(entries.flatMap(({ id, answers }) => (answers.has(key) ? [id] : [])));
  const leftOut: LeftOut[] = entries.flatMap(({ id, reason, answers }) =>
    acted.has(id) ? [] : [{ id, reason: reason ?? `it asks for ${[...answers.keys()].join(' or ')}` }],
  );
  // Rows listed as left out are expected; changes after the question are.
  const isAsAsked = !entries.some(({ id, reason }) => reason !== null && overlay.asked?.has(id));
  const list = state.lists[overlay.pane];
  const marks = new Map([...list.marks].filter(([id]) => !acted.has(id)));
  const waiting = calls.map(({ busy }) => busy);
  const label = binding.label;
  const next: State = {
    ...replaceList(state, overlay.pane, { ...list, marks }),
    overlay: null,
    busy: [...state.busy, ...waiting],
    bulk: { label, waiting, done: [], refused: [], leftOut, isAsAsked },
  };
  return transitionTo(showMessage(next, `${label}: ${formatCount(calls.length, 'call')} …`), {
    do: 'calls',
    calls,
  });
}

/** Handles the answer of one of many calls; null if it belongs to none. The last answer reports the results of all. */
export function settleBulkCall(state: State, busy: string, problem: string | null): State | null {
  const { bulk } = state;
  if (bulk === null || !bulk.waiting.includes(busy)) return null;
  const next: BulkRun = {
    ...bulk,
    waiting: bulk.waiting.filter((each) => each !== busy),
    done: problem === null ? [...bulk.done, busy] : bulk.done,
    refused: problem === null ? bulk.refused : [...bulk.refused, { id: busy, reason: problem }],
  };
  const settled = { ...state, busy: state.busy.filter((each) => each !== busy) };
  if (next.waiting.length > 0) return { ...settled, bulk: next };
  const isGood = next.refused.length === 0 && next.isAsAsked;
  return showMessage({ ...settled, bulk: null }, describeBulkRun(next), isGood ? 'good' : 'bad');
}

const listReasons = (what: string, all: readonly LeftOut[]): string[] =>
  all.length === 0 ? [] : [`${what}: ${all.map(({ id, reason }) => `${id} (${reason})`).join(', ')}`];

/** Failures come before the ids of completed rows, since a good message has one line. */
function describeBulkRun({ label, done, refused, leftOut }: BulkRun): string {
  const isWhole = refused.length === 0 && leftOut.length === 0;
  const ids = done.join(', ');
  return [
    `${label}: ${done.length} done${isWhole ? ` (${ids})` : ''}`,
    ...listReasons(`${refused.length} refused`, refused),
    ...listReasons(`${leftOut.length} left out`, leftOut),
    ...(isWhole || done.length === 0 ? [] : [`done: ${ids}`]),
  ].join('; ');
}
