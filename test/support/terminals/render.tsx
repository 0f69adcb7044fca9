import { Text } from 'ink';
import { cleanup, render } from 'ink-testing-library';
import type { ReactElement } from 'react';
import { Screen } from '../../../tui/screen.tsx';
import type { State } from '../../../tui/state/model.ts';

/** Renders a tree on a screen of a fixed size; returns lines without trailing blanks. */
export function renderAt(tree: ReactElement, columns: number, rows: number): string[] {
  // Ink asks the terminal for its size until it is set below. These keep it from starting programs for that.
  process.env.COLUMNS ??= String(columns);
  process.env.LINES ??= String(rows);
  const app = render(tree);
  try {
    // The library's screen has a fixed width and no height.
    Object.defineProperties(app.stdout, {
      columns: { value: columns, configurable: true },
      rows: { value: rows, configurable: true },
    });
    // Rendering another tree first makes Ink compute the first one's layout again.
    app.rerender(<Text> </Text>);
    app.rerender(tree);
    return (app.lastFrame() ?? '').split('\n').map((line) => line.trimEnd());
  } finally {
    cleanup();
  }
}

export const screenOf = (state: State): string[] =>
  renderAt(<Screen state={state} colours={false} />, state.size.columns, state.size.rows);
