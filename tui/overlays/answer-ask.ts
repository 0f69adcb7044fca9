import { sendAnswer } from '../actions/asks.ts';
import { type Step, said, step } from '../actions/transition.ts';
import { layoutOf, previewSize } from '../layout/layout.ts';
import { askLines, optionLines } from '../panes/asks.ts';
import { left } from '../panes/time.ts';
import { edited, insert } from '../state/input.ts';
import type { AnswerAsk, AskRow, State } from '../state/model.ts';
import { type Line, span } from '../text/theme.ts';

/** Options that a single digit can name. */
const DIGITS = 9;
/** See `press.ts`: no hand presses Enter and then a digit this fast. */
const TOO_FAST_MS = 30;

/** One digit sends; without options, or with more than there are digits, a line of text is typed. */
export const takesDigit = ({ options }: AskRow): boolean => options.length > 0 && options.length <= DIGITS;

export function pressInAnswer(state: State, overlay: AnswerAsk, key: string, at: number): Step {
  const { ask } = overlay;
  if (key === 'esc') return step({ ...state, overlay: null });
  const by = { up: -1, down: 1, pageup: -10, pagedown: 10 }[key];
  if (by !== undefined) return step(scrolled(state, overlay, by));
  if (!takesDigit(ask)) return key === 'enter' ? typed(state, overlay) : type(state, overlay, key);
  const chosen = /^[1-9]$/.test(key) ? ask.options[Number(key) - 1] : undefined;
  if (chosen === undefined) return step(said(state, `nothing was sent: ${keysOf(ask)}`));
  return at - overlay.openedAt < TOO_FAST_MS ? step(state) : sendAnswer(state, overlay, chosen);
}

function type(state: State, overlay: AnswerAsk, key: string): Step {
  const input = edited(overlay.input, key);
  return step(input === null ? state : { ...state, overlay: { ...overlay, input } });
}

/** What was typed: any text, or the number of an option. */
function typed(state: State, overlay: AnswerAsk): Step {
  const { options } = overlay.ask;
  const value = overlay.input.value.trim();
  if (value === '') return step(said(state, 'an answer is needed; Esc goes back without one'));
  if (options.length === 0) return sendAnswer(state, overlay, value);
  const chosen = /^\d+$/.test(value) ? options[Number(value) - 1] : options.find((each) => each === value);
  return chosen === undefined
    ? step(said(state, `nothing was sent: it takes a number from 1 to ${options.length}`, 'bad'))
    : sendAnswer(state, overlay, chosen);
}

/** Characters that came together: text for a line of text, never an answer by themselves. */
export function typeInAnswer(state: State, overlay: AnswerAsk, text: string): State {
  return takesDigit(overlay.ask)
    ? said(state, 'pasted text does nothing here')
    : { ...state, overlay: { ...overlay, input: insert(overlay.input, text) } };
}

function scrolled(state: State, overlay: AnswerAsk, by: number): State {
  const { body } = layoutOf(state);
  const end = Math.max(0, bodyLines(state, overlay.ask, state.size.columns - 4).length - (body - 2));
  return { ...state, overlay: { ...overlay, top: Math.max(0, Math.min(overlay.top + by, end)) } };
}

const bodyLines = (state: State, ask: AskRow, cells: number): Line[] => [
  ...askLines(state, ask, cells),
  [],
  ...optionLines(ask, cells),
];

/** Whether all of it fits where the preview is: then the list stays beside it. */
export function fitsPreview(state: State, { ask }: AnswerAsk): boolean {
  const size = state.view === 'list' ? previewSize(layoutOf(state)) : null;
  if (size === null) return false;
  const typed = takesDigit(ask) ? 0 : 2;
  return bodyLines(state, ask, size.cells).length + typed <= size.lines;
}

const keysOf = ({ options }: AskRow): string =>
  options.length === 1
    ? '1 sends that answer, Esc goes back'
    : `1-${options.length} sends that answer, Esc goes back`;

export function answerView(
  state: State,
  { ask, input, top }: AnswerAsk,
  { cells, rows }: { cells: number; rows: number },
): { title: string; note: string; lines: Line[]; keys: string } {
  const { value, caret } = input;
  const line: Line[] = takesDigit(ask)
    ? []
    : [[], [span('> ', 'key'), span(`${value.slice(0, caret)}▏${value.slice(caret)}`)]];
  const all = bodyLines(state, ask, cells);
  // The line that is typed stays in sight, however long the question is.
  const room = Math.max(1, rows - line.length);
  const shown = all.slice(top, top + room);
  const below = all.length - top - shown.length;
  return {
    title: `Answer ask ${ask.ask_id}`,
    note: [`${left(ask.expires_at, state.now)} left`, below > 0 ? `▼ ${below} more` : '']
      .filter(Boolean)
      .join(' · '),
    lines: [...shown, ...line],
    keys: takesDigit(ask)
      ? keysOf(ask)
      : `${ask.options.length === 0 ? 'type the answer' : 'type the number'}, Enter sends it, Esc goes back`,
  };
}
