import { Text } from 'ink';
import { cleanup, render } from 'ink-testing-library';
import type { ReactElement } from 'react';
import { Screen } from '../../tui/screen.tsx';
import type { State } from '../../tui/state/model.ts';

/** A tree on a screen of a fixed size, as lines without the blanks at their ends. */
export function renderAt(tree: ReactElement, columns: number, rows: number): string[] {
  // Until the screen has its size below, Ink asks the terminal; these keep it from starting programs for that.
  process.env.COLUMNS ??= String(columns);
  process.env.LINES ??= String(rows);
  const app = render(tree);
  try {
    // The library's screen has a width of its own and no height.
    Object.defineProperties(app.stdout, {
      columns: { value: columns, configurable: true },
      rows: { value: rows, configurable: true },
    });
    // Another tree in between, so that the first is laid out anew.
    app.rerender(<Text> </Text>);
    app.rerender(tree);
    return (app.lastFrame() ?? '').split('\n').map((line) => line.trimEnd());
  } finally {
    cleanup();
  }
}

export const screenOf = (state: State): string[] =>
  renderAt(<Screen state={state} colours={false} />, state.size.columns, state.size.rows);
