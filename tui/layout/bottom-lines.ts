import type { State } from '../state/model.ts';
import { measureCells } from '../text/cells.ts';
import { makeDrawable, truncateText, wrapText } from '../text/text.ts';
import { type StyledLine, span, type TextStyle } from '../text/theme.ts';

/** How many lines a failure may take. `!` shows all of it. */
const MOST_LINES = 3;

const TONES: Readonly<Record<string, TextStyle>> = { good: 'good', bad: 'bad' };
const GLYPHS: Readonly<Record<string, string>> = { good: '✓', bad: '✗', info: '·' };

/** Renders the last message, with the next step. */
export function renderMessageLines({ message, size }: Pick<State, 'message' | 'size'>): StyledLine[] {
  if (message === null) return [];
  const { text, hint, tone, workspace } = message;
  const about = workspace ? `${workspace}: ` : '';
  const said = makeDrawable(`${GLYPHS[tone]} ${about}${text}${hint === undefined ? '' : ` · next: ${hint}`}`);
  const lines = wrapText(said, size.columns - 2);
  const shown = lines.slice(0, tone === 'bad' ? MOST_LINES : 1);
  if (shown.length < lines.length) {
    const last = truncateText(shown.at(-1) ?? '', size.columns - 14);
    shown[shown.length - 1] = `${last.endsWith('…') ? last : `${last} …`} ! for all`;
  }
  return shown.map((each) => [span(` ${each}`, TONES[tone])]);
}

/** Renders the armed question and the keys that answer it. The keys are never cut. */
export function renderQuestionLines({
  armed,
  size,
  across,
}: Pick<State, 'armed' | 'size' | 'across'>): StyledLine[] {
  if (armed === null) return [];
  const answers: StyledLine = [
    ...armed.answers.flatMap(({ key, label }) => [span(`   ${key}`, 'key'), span(` ${label}`)]),
    span('   Esc', 'key'),
    span(' cancel'),
  ];
  const cells = answers.reduce((sum, each) => sum + measureCells(each.text), 0);
  // Ids are the same in several workspaces, so a question names its own.
  const whose = across === null || armed.subject.kind === 'program' ? '' : `${across.label}: `;
  const question = makeDrawable(` ${whose}${armed.question}`);
  if (measureCells(question) + cells <= size.columns) return [[span(question, 'question'), ...answers]];
  const lines = wrapText(question.trim(), size.columns - 2);
  const shown = lines.slice(0, MOST_LINES);
  if (shown.length < lines.length)
    shown[shown.length - 1] = `${truncateText(shown.at(-1) ?? '', size.columns - 4)} …`;
  return [...shown.map((text): StyledLine => [span(` ${text}`, 'question')]), answers];
}
