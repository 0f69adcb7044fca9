import { EventEmitter } from 'node:events';
import headless from '@xterm/headless';
import type { State } from '../../../tui/state/model.ts';
import { loadInkAsBuilt } from './ink.ts';

/**
 * Number of cells that a terminal uses for a code point. Without a table, the emulator uses its own, from Unicode 6.
 */
export type WidthTable = (codePoint: number) => 0 | 1 | 2;

export interface Emulator {
  /** Draws a state as the dashboard does: writes only the changes since the last state. */
  show(state: State): Promise<void>;
  /** Returns the text of a cell; empty for the second cell of a wide character. */
  cell(column: number, row: number): string;
  row(row: number): string;
  close(): void;
}

const WRAP_OFF = '\u001b[?7l';

/** Renders the dashboard in a terminal emulator with real Ink, loaded as the dashboard loads it. */
export async function openEmulator(columns: number, rows: number, table?: WidthTable): Promise<Emulator> {
  loadInkAsBuilt();
  const [{ render }, { createElement }, { Screen }] = await Promise.all([
    import('ink'),
    import('react'),
    import('../../../tui/screen.tsx'),
  ]);
  // The kernel turns a newline into a carriage return and a newline.
  const terminal = new headless.Terminal({ cols: columns, rows, convertEol: true, allowProposedApi: true });
  if (table !== undefined) {
    const version = 'given';
    const charProperties = (codePoint: number): number => table(codePoint) << 1;
    terminal.unicode.register({ version, wcwidth: table, charProperties });
    terminal.unicode.activeVersion = version;
  }
  let written = Promise.resolve();
  const stdout = Object.assign(new EventEmitter(), {
    columns,
    rows,
    isTTY: true,
    writable: true,
    write(text: string, done?: () => void) {
      written = new Promise((resolve) => terminal.write(text, resolve));
      done?.();
      return true;
    },
  });
  stdout.write(WRAP_OFF);
  const draw = (state: State) => createElement(Screen, { state, colours: true });
  let app: ReturnType<typeof render> | null = null;
  const line = (row: number) => terminal.buffer.active.getLine(terminal.buffer.active.baseY + row);
  return {
    async show(state) {
      if (app === null) {
        app = render(draw(state), {
          stdout: stdout as unknown as NodeJS.WriteStream,
          alternateScreen: true,
          incrementalRendering: true,
          interactive: true,
          patchConsole: false,
          maxFps: 1000,
        });
      } else app.rerender(draw(state));
      await app.waitUntilRenderFlush();
      await written;
    },
    cell: (column, row) => line(row)?.getCell(column)?.getChars() ?? '',
    row: (row) => line(row)?.translateToString(true) ?? '',
    close() {
      app?.unmount();
      terminal.dispose();
    },
  };
}
