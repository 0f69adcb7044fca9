import { EventEmitter } from 'node:events';
import headless from '@xterm/headless';
import type { State } from '../../tui/state/model.ts';

/** How many cells a terminal takes for a code point; the emulator's own table, of Unicode 6, when there is none. */
export type WidthTable = (codePoint: number) => 0 | 1 | 2;

export interface Emulator {
  /** Draws a state after the one before, as the dashboard does: only what has changed is written. */
  show(state: State): Promise<void>;
  /** What stands in a cell; empty behind a wide character. */
  cell(column: number, row: number): string;
  row(row: number): string;
  close(): void;
}

const WRAP_OFF = '\u001b[?7l';

/** The dashboard's screen in a terminal emulator: real Ink, with the dashboard's own way to load it. */
export async function openEmulator(columns: number, rows: number, table?: WidthTable): Promise<Emulator> {
  const { loadInkLean } = await import('../../tui/text/lean-ink.ts');
  loadInkLean();
  const [{ render }, { createElement }, { Screen }] = await Promise.all([
    import('ink'),
    import('react'),
    import('../../tui/screen.tsx'),
  ]);
  // What the kernel does with a newline.
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
