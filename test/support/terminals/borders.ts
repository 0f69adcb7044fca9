import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import stringWidth from 'string-width';
import { getLayout } from '../../../tui/layout/layout.ts';
import type { State } from '../../../tui/state/model.ts';
import { hasSureWidth } from '../../../tui/text/cells.ts';
import {
  askRow,
  type Bench,
  bench,
  decisionRow,
  messageRow,
  sessionRow,
  showDecision,
  taskRow,
} from './dashboard.ts';
import { openEmulator, type WidthTable } from './emulator.ts';

/** Number of titles in a 200x130 frame. */
const PER_FRAME = 120;

/** A width table that gives characters of ambiguous width zero cells, or two. */
export const tableOf =
  (unsure: 0 | 2): WidthTable =>
  (codePoint) => {
    if (codePoint < 0x20) return 0;
    const text = String.fromCodePoint(codePoint);
    return hasSureWidth(text) ? (stringWidth(text) as 1 | 2) : unsure;
  };

interface Border {
  column: number;
  row: number;
  glyphs: string;
}

/** Checks every cell of the borders in a frame, except where a title or note replaces the upper border. */
function bordersOf(state: State): Border[] {
  const layout = getLayout(state);
  const isReading = state.view === 'full';
  const borders: Border[] = [];
  let left = 0;
  for (const boxes of layout.columns) {
    // Boxes start below the header and the views.
    let top = 2;
    for (const { width, height } of boxes) {
      const [right, bottom] = [left + width - 1, top + height - 1];
      const put = (column: number, row: number, glyphs: string): void =>
        void borders.push({ column, row, glyphs });
      put(left, top, '╭╔');
      put(left + 1, top, '─═');
      put(right - 1, top, '─═');
      put(right, top, '╮╗');
      for (let row = top + 1; row < bottom; row += 1) {
        put(left, row, '│║');
        put(right, row, isReading ? '│║ ' : '│║');
      }
      put(left, bottom, '╰╚');
      for (let column = left + 1; column < right; column += 1) put(column, bottom, '─═');
      put(right, bottom, '╯╝');
      top += height;
    }
    left += boxes[0]?.width ?? 0;
  }
  return borders;
}

const board = (titles: readonly string[], [columns, rows]: readonly [number, number]): Bench => {
  const of = (from: number, count: number): string[] =>
    Array.from({ length: count }, (_, index) => titles[(from + index) % titles.length]!);
  const dash = bench(columns, rows).data({
    decisions: of(0, 7).map((title, id) => decisionRow(id + 1, { title, agent: title })),
    asks: of(7, 7).map((question, id) => askRow(id + 1, { question, from_session: question })),
    sessions: of(14, 7).map((title, id) =>
      sessionRow(id + 1, { title, failure: { code: title, text: title } }),
    ),
    messages: of(21, 7).map((body, id) => messageRow(id + 1, { body, from_session: body })),
    tasks: of(28, Math.max(0, titles.length - 28)).map((title, id) => taskRow(id + 1, { title })),
    complete: true,
  });
  dash.send({ type: 'message', text: titles.slice(0, 3).join(' '), tone: 'bad' });
  return showDecision(dash, 1);
};

/** Shows all titles, frame by frame, and checks every border. */
export async function assertBordersHold(
  t: TestContext,
  titles: readonly string[],
  size: readonly [number, number],
  { keys = [], table }: { keys?: readonly string[]; table?: WidthTable } = {},
): Promise<void> {
  const emulator = await openEmulator(...size, table);
  t.after(emulator.close);
  for (let from = 0; from < titles.length; from += PER_FRAME) {
    const shown = titles.slice(from, from + PER_FRAME);
    const state = board(shown, size)
      .keys(...keys)
      .state();
    await emulator.show(state);
    assert.match(emulator.row(0), /^ svc · acme/);
    assert.match(emulator.row(size[1] - 1), /q quit/);
    for (const { column, row, glyphs } of bordersOf(state)) {
      const found = emulator.cell(column, row);
      if (glyphs.includes(found === '' ? ' ' : found)) continue;
      const screen = Array.from({ length: size[1] }, (_, each) => emulator.row(each)).join('\n');
      assert.fail(
        `${JSON.stringify(found)} at ${column},${row} instead of ${glyphs}:\n${screen}\n${JSON.stringify(shown)}`,
      );
    }
  }
}
