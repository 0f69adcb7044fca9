import { formatCount } from '../../engine/core/base/text.ts';
import { type StateTransition, showMessage, transitionTo } from '../actions/transition.ts';
import {
  answerForAll,
  type BulkEntry,
  countMissingDetails,
  listBulkEntries,
  renderBulkEntry,
} from '../keymap/bulk.ts';
import { findBindingById, type KeyBinding } from '../keymap/index.ts';
import { TOO_FAST_MS } from '../keymap/run-binding.ts';
import { getLayout, PREVIEW_EDGE } from '../layout/layout.ts';
import type { State } from '../state/model.ts';
import { clampNumber } from '../state/numbers.ts';
import type { BulkQuestion } from '../state/overlays.ts';
import { cleanText, wrapText } from '../text/text.ts';
import { type StyledLine, span } from '../text/theme.ts';

interface Rendered {
  binding: KeyBinding;
  entries: readonly BulkEntry[];
  lines: StyledLine[];
  /** The first lines that must have been on the screen before an answer is accepted. */
  essential: number;
}

const NOTHING_FITS = 'no marked row qualifies';

// States are immutable, so the lines are computed once for both keys and drawing.
const renderCache = new WeakMap<State, { overlay: BulkQuestion; cells: number; rendered: Rendered }>();

function renderQuestion(state: State, overlay: BulkQuestion, cells: number): Rendered {
  const known = renderCache.get(state);
  if (known?.overlay === overlay && known.cells === cells) return known.rendered;
  const rendered = renderAnew(state, overlay, cells);
  renderCache.set(state, { overlay, cells, rendered });
  return rendered;
}

function renderAnew(state: State, overlay: BulkQuestion, cells: number): Rendered {
  const binding = findBindingById(overlay.binding)!;
  const entries = listBulkEntries(state, overlay, binding);
  const reached = entries.filter(({ reason }) => reason === null);
  const isRead = binding.requiresReading === true;
  const width = Math.max(0, ...entries.map(({ id }) => id.length)) + 2;
  const said = reached.flatMap((entry): StyledLine[] => {
    const keys = [...entry.answers.keys()].join(' ');
    const text = renderBulkEntry(state, overlay, binding, entry, cells - (isRead ? 2 : width));
    const name = span(isRead ? entry.id : entry.id.padEnd(width), 'title');
    if (!isRead) return [[name, ...(text[0] ?? [])]];
    return [[name, span(`  ${keys}`, 'dim')], ...text.map((line): StyledLine => [span('  '), ...line]), []];
  });
  const left = entries.filter(({ reason }) => reason !== null);
  const leftOut = left.flatMap(({ id, reason }) =>
    wrapText(cleanText(`${id}: ${reason}`), cells - 2).map((text): StyledLine => [span(`  ${text}`, 'warn')]),
  );
  const head: StyledLine[] =
    left.length === 0 ? [] : [[span(`left out: ${left.length}`, 'warn')], ...leftOut, []];
  const lines = [...head, ...(reached.length === 0 ? [[span(NOTHING_FITS, 'bad')] as StyledLine] : said)];
  return { binding, entries, lines, essential: isRead ? lines.length : 0 };
}

/** Lists the answers of the rows, with counts. */
function countAnswers(entries: readonly BulkEntry[]): { key: string; label: string; count: number }[] {
  const counts = new Map<string, { key: string; label: string; count: number }>();
  for (const { answers } of entries)
    for (const [key, { label }] of answers)
      counts.set(key, { key, label, count: (counts.get(key)?.count ?? 0) + 1 });
  return [...counts.values()];
}

const measureView = (state: State): { cells: number; rows: number } => ({
  cells: state.size.columns - 4,
  rows: Math.max(1, getLayout(state).body - PREVIEW_EDGE),
});

/** Remembers the lines that have been on the screen. A screen reader's lines were all printed. */
const scrollTo = (state: State, overlay: BulkQuestion, top: number): StateTransition => {
  const { cells, rows } = measureView(state);
  const { lines } = renderQuestion(state, overlay, cells);
  const to = clampNumber(top, 0, Math.max(0, lines.length - rows));
  return transitionTo({
    ...state,
    message: null,
    overlay: { ...overlay, top: to, seen: Math.max(getSeenLines(state, overlay), to + rows) },
  });
};

const getSeenLines = (state: State, overlay: BulkQuestion): number =>
  state.isPlain ? Number.MAX_SAFE_INTEGER : Math.max(overlay.seen, overlay.top + measureView(state).rows);

/** Handles a key while the question about several rows is open. */
export function handleBulkKey(state: State, overlay: BulkQuestion, key: string, at: number): StateTransition {
  const { cells, rows } = measureView(state);
  const { binding, entries, essential, lines } = renderQuestion(state, overlay, cells);
  const by = SCROLL_KEYS[key];
  if (by !== undefined)
    return scrollTo(state, overlay, overlay.top + (Math.abs(by) === 1 ? by : Math.sign(by) * (rows - 1)));
  if (key === 'g' || key === 'home') return scrollTo(state, overlay, 0);
  if (key === 'G' || key === 'end') return scrollTo(state, overlay, lines.length);
  const closed = { ...state, overlay: null };
  if (key === 'esc') return transitionTo(closed);
  if (overlay.asked === null)
    return transitionTo(showMessage(state, 'what they would do is still being fetched'));
  if (!countAnswers(entries).some((each) => each.key === key))
    return transitionTo(showMessage(closed, `${binding.label}: nothing was done; the marks stay`));
  if (at - overlay.at < TOO_FAST_MS) return transitionTo({ ...state, overlay: { ...overlay, at } });
  if (getSeenLines(state, overlay) < essential)
    return transitionTo(
      showMessage(
        scrollTo(state, overlay, overlay.top + rows - 1).state,
        'read to the end first: this is the next page',
      ),
    );
  return answerForAll(state, overlay, binding, key);
}

/** One line, or a page. */
const SCROLL_KEYS: Readonly<Record<string, number>> = {
  j: 1,
  down: 1,
  k: -1,
  up: -1,
  space: 2,
  pagedown: 2,
  'ctrl+f': 2,
  'ctrl+d': 2,
  pageup: -2,
  'ctrl+b': -2,
  'ctrl+u': -2,
};

/** Renders the question: the count, and for each row what a person agrees to. */
export function renderBulkQuestion(
  state: State,
  overlay: BulkQuestion,
  { cells, rows }: { cells: number; rows: number },
): { title: string; note?: string; lines: StyledLine[]; keys: string } {
  const { binding, entries, lines, essential } = renderQuestion(state, overlay, cells);
  const reached = entries.filter(({ reason }) => reason === null).length;
  const missing = overlay.asked === null ? countMissingDetails(state, overlay) : 0;
  const title = `${binding.label} ${reached} of ${entries.length} marked?`;
  if (overlay.asked === null)
    return {
      title: `${binding.label} ${entries.length} marked?`,
      lines: [[span(`fetching what they would do: ${formatCount(missing, 'answer')} to come …`, 'dim')]],
      keys: 'Esc cancel',
    };
  const top = Math.min(overlay.top, Math.max(0, lines.length - rows));
  const below = lines.length - top - rows;
  const isRead = getSeenLines(state, overlay) >= essential;
  const answers = countAnswers(entries).map(({ key, label, count }) => `${key} ${label} ${count}`);
  return {
    title,
    ...(below > 0 ? { note: `▼ ${below} more` } : {}),
    lines: lines.slice(top, top + rows),
    keys: [...(isRead ? answers : ['Space continues, then the answer']), '↑ ↓ scroll', 'Esc cancel'].join(
      '   ',
    ),
  };
}
