import { sendAnswer } from '../actions/asks.ts';
import { type StateTransition, showMessage, transitionTo } from '../actions/transition.ts';
import { getLayout, getPreviewSize } from '../layout/layout.ts';
import { renderAskLines, renderOptionLines } from '../panes/ask-preview.ts';
import { formatTimeLeft } from '../panes/time.ts';
import { editInput, insertText, showCaret } from '../state/input.ts';
import type { State } from '../state/model.ts';
import type { AnswerAsk } from '../state/overlays.ts';
import type { ListedAsk } from '../state/rows.ts';
import { type StyledLine, span } from '../text/theme.ts';

/** How many options single digits can select. */
const DIGITS = 9;
/** No hand presses Enter and then a digit this fast, see `run-binding.ts`. */
const TOO_FAST_MS = 30;

/** Reports whether a single digit sends the answer. Without options, or with too many for digits, a line is typed instead. */
export const isAnsweredByDigit = ({ options }: ListedAsk): boolean =>
  options.length > 0 && options.length <= DIGITS;

export function handleAnswerKey(state: State, overlay: AnswerAsk, key: string, at: number): StateTransition {
  const { ask } = overlay;
  if (key === 'esc') return transitionTo({ ...state, overlay: null });
  const by = { up: -1, down: 1, pageup: -10, pagedown: 10 }[key];
  if (by !== undefined) return transitionTo(scrollAnswer(state, overlay, by));
  if (!isAnsweredByDigit(ask))
    return key === 'enter' ? submitTypedAnswer(state, overlay) : editAnswer(state, overlay, key);
  const chosen = /^[1-9]$/.test(key) ? ask.options[Number(key) - 1] : undefined;
  if (chosen === undefined)
    return transitionTo(showMessage(state, `nothing was sent: ${describeAnswerKeys(ask)}`));
  return at - overlay.openedAt < TOO_FAST_MS ? transitionTo(state) : sendAnswer(state, overlay, chosen);
}

function editAnswer(state: State, overlay: AnswerAsk, key: string): StateTransition {
  const input = editInput(overlay.input, key);
  return transitionTo(input === null ? state : { ...state, overlay: { ...overlay, input } });
}

/** Sends the typed text: any text or, if there are options, one of them or its number. */
function submitTypedAnswer(state: State, overlay: AnswerAsk): StateTransition {
  const { options } = overlay.ask;
  const value = overlay.input.value.trim();
  if (value === '') return transitionTo(showMessage(state, 'an answer is required; Esc cancel'));
  if (options.length === 0) return sendAnswer(state, overlay, value);
  const chosen = /^\d+$/.test(value) ? options[Number(value) - 1] : options.find((each) => each === value);
  return chosen === undefined
    ? transitionTo(showMessage(state, `nothing was sent: enter a number from 1 to ${options.length}`, 'bad'))
    : sendAnswer(state, overlay, chosen);
}

/** Characters that arrived together may be typed text, but never choose an answer. */
export function insertInAnswer(state: State, overlay: AnswerAsk, text: string): State {
  return isAnsweredByDigit(overlay.ask)
    ? showMessage(state, 'pasted text is ignored here')
    : { ...state, overlay: { ...overlay, input: insertText(overlay.input, text) } };
}

function scrollAnswer(state: State, overlay: AnswerAsk, by: number): State {
  const { body } = getLayout(state);
  const end = Math.max(0, renderAskBody(state, overlay.ask, state.size.columns - 4).length - (body - 2));
  return { ...state, overlay: { ...overlay, top: Math.max(0, Math.min(overlay.top + by, end)) } };
}

const renderAskBody = (state: State, ask: ListedAsk, cells: number): StyledLine[] => [
  ...renderAskLines(state, ask, cells),
  [],
  ...renderOptionLines(ask, cells),
];

/** Reports whether the whole ask fits in the preview's box, so that the list can stay next to it. */
export function fitsInPreview(state: State, { ask }: AnswerAsk): boolean {
  const size = state.view === 'list' ? getPreviewSize(getLayout(state)) : null;
  if (size === null) return false;
  const typed = isAnsweredByDigit(ask) ? 0 : 2;
  return renderAskBody(state, ask, size.cells).length + typed <= size.lines;
}

const describeAnswerKeys = ({ options }: ListedAsk): string =>
  options.length === 1
    ? '1 sends that answer, Esc cancel'
    : `1-${options.length} sends that answer, Esc cancel`;

export function renderAnswer(
  state: State,
  { ask, input, top }: AnswerAsk,
  { cells, rows }: { cells: number; rows: number },
): { title: string; note: string; lines: StyledLine[]; keys: string } {
  const line: StyledLine[] = isAnsweredByDigit(ask) ? [] : [[], [span('> ', 'key'), span(showCaret(input))]];
  const all = renderAskBody(state, ask, cells);
  // The typed line stays visible, even for a long question.
  const room = Math.max(1, rows - line.length);
  const shown = all.slice(top, top + room);
  const below = all.length - top - shown.length;
  return {
    title: `Answer ask ${ask.id}`,
    note: [`${formatTimeLeft(ask.expires_at, state.now)} left`, below > 0 ? `▼ ${below} more` : '']
      .filter(Boolean)
      .join(' · '),
    lines: [...shown, ...line],
    keys: isAnsweredByDigit(ask)
      ? describeAnswerKeys(ask)
      : `${ask.options.length === 0 ? 'type the answer' : 'type the number'}, Enter sends it, Esc cancel`,
  };
}
