import { setImmediate as nextTurn } from 'node:timers/promises';
import { render } from 'ink';
import { asSvcError } from '../engine/index.ts';
import { App, type Terminal } from './app.tsx';
import { type Doers, edit, perform, runCommand } from './effects.ts';
import type { DashboardEnd, DashboardOptions } from './options.ts';
import { createStore, initialState } from './store.ts';
import { createFeed } from './sync/engine-sync.ts';
import { usesColour } from './text/colours.ts';

const BELL = '\u0007';
/** DECAWM: whether a line that is too long for the terminal goes on in the next one, and by that scrolls the screen. */
const WRAP_ON = '\u001b[?7h';
const WRAP_OFF = '\u001b[?7l';
const CLEAR_SCREEN = '\u001b[2J\u001b[H';

const sizeOf = (out: NodeJS.WriteStream) => ({ columns: out.columns || 80, rows: out.rows || 24 });

/** The dashboard on a terminal, in its alternate screen. */
export async function openScreen(options: DashboardOptions): Promise<DashboardEnd> {
  const { env, stdin, stdout, stderr } = options;
  let terminal: Terminal | null = null;
  let isAway = false;
  const wrapLines = (isOn: boolean): void => void stdout.write(isOn ? WRAP_ON : WRAP_OFF);
  const wrapAtExit = (): void => wrapLines(true);

  const doers: Doers = {
    call: (effect) => feed.call(effect),
    edit: (effect) => void edit(effect, { ...options, store, borrow: away }),
    command: (effect) => void runCommand(effect, { ...options, store, borrow: away }),
    'start-engine': () => feed.startEngine(),
    suspend: () => void away(stopped),
    redraw,
    bell: () => void stdout.write(BELL),
    quit: () => terminal?.exit(),
  };

  const store = createStore(initialState({ size: sizeOf(stdout), now: Date.now(), bell: options.bell }), {
    run: (effect) => perform(doers, effect),
    crash: (error) => terminal?.exit(asSvcError(error)),
  });
  if (options.select) store.send({ type: 'go', ...options.select });

  /** Someone else has the terminal until `use` settles. One at a time. */
  async function away(use: () => Promise<void>): Promise<void> {
    if (terminal === null || isAway) return;
    isAway = true;
    try {
      await terminal.suspend(async () => {
        await letGo(stdin);
        wrapLines(true);
        try {
          await use();
        } finally {
          wrapLines(false);
        }
      });
    } finally {
      isAway = false;
      store.send({ type: 'resize', size: sizeOf(stdout) });
    }
  }

  /** Whatever else has written to the terminal is gone after it. */
  function redraw(): void {
    if (isAway) return;
    app.clear();
    stdout.write(WRAP_OFF + CLEAR_SCREEN);
    onResize();
  }

  let hopeless: unknown = null;
  const feed = createFeed({
    store,
    connect: options.connect,
    onHopeless(error) {
      hopeless = error;
      terminal?.exit();
    },
  });

  const onResize = (): void => store.send({ type: 'resize', size: sizeOf(stdout) });
  const onStop = (): void => void away(stopped);
  const onBroken = (): void => terminal?.exit();
  stdout.on('resize', onResize).on('error', onBroken);
  options.signal.addEventListener('abort', onBroken, { once: true });
  // Ctrl-Z is a key here; this is the signal that another program sends.
  process.on('SIGTSTP', onStop);
  // However the program ends, the shell gets its terminal back as it was.
  process.once('exit', wrapAtExit);
  wrapLines(false);
  const app = render(
    <App
      store={store}
      colours={usesColour(env, stdout)}
      onTerminal={(given) => {
        terminal = given;
        if (hopeless !== null) given.exit();
      }}
    />,
    {
      stdin,
      stdout,
      stderr,
      exitOnCtrlC: false,
      alternateScreen: true,
      incrementalRendering: true,
      maxFps: 120,
      // A terminal in a CI job is one too: Ink would show its last frame only.
      interactive: true,
    },
  );
  try {
    await app.waitUntilExit();
  } finally {
    process.off('exit', wrapAtExit);
    wrapLines(true);
    process.off('SIGTSTP', onStop);
    stdout.off('resize', onResize);
    await feed.close();
    stdout.off('error', onBroken);
  }
  if (hopeless !== null) throw hopeless;
  return { farewell: store.get().farewell };
}

/**
 * Ink takes its listener off, but the stream reads on into its buffer: keys that are meant for the other program would
 * be lost in there, and a read that comes too late would wait for a line. Only a stream that flows can be paused.
 */
async function letGo(stdin: NodeJS.ReadStream): Promise<void> {
  await nextTurn();
  stdin.resume().pause();
  await nextTurn();
}

/** The program stops, as under any shell, and settles when it is continued. SIGSTOP, since the other signal is ours. */
function stopped(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGCONT', () => resolve());
    process.kill(process.pid, 'SIGSTOP');
  });
}
