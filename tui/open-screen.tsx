import { setImmediate as nextTurn } from 'node:timers/promises';
import { render } from 'ink';
import { asSvcError } from '../engine/index.ts';
import { App, type Terminal } from './app.tsx';
import { type EffectHandlers, performEffect, runEditor, runSvcCommand } from './effects.ts';
import type { DashboardEnd, DashboardOptions } from './options.ts';
import { createInitialState, createStore } from './store.ts';
import { createEngineSync } from './sync/engine-sync.ts';
import { usesColour } from './text/colours.ts';

const BELL = '\u0007';
/** DECAWM: whether a line that is too long for the terminal goes on in the next one, and by that scrolls the screen. */
const WRAP_ON = '\u001b[?7h';
const WRAP_OFF = '\u001b[?7l';
const CLEAR_SCREEN = '\u001b[2J\u001b[H';

const getTerminalSize = (out: NodeJS.WriteStream) => ({ columns: out.columns || 80, rows: out.rows || 24 });

/** The dashboard on a terminal, in its alternate screen. */
export async function openScreen(options: DashboardOptions): Promise<DashboardEnd> {
  const { env, stdin, stdout, stderr } = options;
  let terminal: Terminal | null = null;
  let isAway = false;
  const setLineWrap = (isOn: boolean): void => void stdout.write(isOn ? WRAP_ON : WRAP_OFF);
  const restoreLineWrap = (): void => setLineWrap(true);

  const doers: EffectHandlers = {
    call: (effect) => feed.performCall(effect),
    edit: (effect) => void runEditor(effect, { ...options, store, borrowTerminal: leaveScreenDuring }),
    command: (effect) => void runSvcCommand(effect, { ...options, store, borrowTerminal: leaveScreenDuring }),
    'start-engine': () => feed.startEngine(),
    suspend: () => void leaveScreenDuring(stopProcess),
    redraw: redrawScreen,
    bell: () => void stdout.write(BELL),
    quit: () => terminal?.exit(),
  };

  const store = createStore(
    createInitialState({ size: getTerminalSize(stdout), now: Date.now(), bell: options.bell }),
    {
      run: (effect) => performEffect(doers, effect),
      crash: (error) => terminal?.exit(asSvcError(error)),
    },
  );
  if (options.select) store.send({ type: 'go', ...options.select });

  /** Someone else has the terminal until `use` settles. One at a time. */
  async function leaveScreenDuring(use: () => Promise<void>): Promise<void> {
    if (terminal === null || isAway) return;
    isAway = true;
    try {
      await terminal.suspend(async () => {
        await releaseStdin(stdin);
        setLineWrap(true);
        try {
          await use();
        } finally {
          setLineWrap(false);
        }
      });
    } finally {
      isAway = false;
      store.send({ type: 'resize', size: getTerminalSize(stdout) });
    }
  }

  /** Whatever else has written to the terminal is gone after it. */
  function redrawScreen(): void {
    if (isAway) return;
    app.clear();
    stdout.write(WRAP_OFF + CLEAR_SCREEN);
    onResize();
  }

  let hopeless: unknown = null;
  const feed = createEngineSync({
    store,
    connect: options.connect,
    onHopeless(error) {
      hopeless = error;
      terminal?.exit();
    },
  });

  const onResize = (): void => store.send({ type: 'resize', size: getTerminalSize(stdout) });
  const onStop = (): void => void leaveScreenDuring(stopProcess);
  const onBroken = (): void => terminal?.exit();
  stdout.on('resize', onResize).on('error', onBroken);
  options.signal.addEventListener('abort', onBroken, { once: true });
  // Ctrl-Z is a key here; this is the signal that another program sends.
  process.on('SIGTSTP', onStop);
  // However the program ends, the shell gets its terminal back as it was.
  process.once('exit', restoreLineWrap);
  setLineWrap(false);
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
    process.off('exit', restoreLineWrap);
    setLineWrap(true);
    process.off('SIGTSTP', onStop);
    stdout.off('resize', onResize);
    await feed.close();
    stdout.off('error', onBroken);
  }
  if (hopeless !== null) throw hopeless;
  return { farewell: store.getState().farewell };
}

/**
 * Ink takes its listener off, but the stream reads on into its buffer: keys that are meant for the other program would
 * be lost in there, and a read that comes too late would wait for a line. Only a stream that flows can be paused.
 */
async function releaseStdin(stdin: NodeJS.ReadStream): Promise<void> {
  await nextTurn();
  stdin.resume().pause();
  await nextTurn();
}

/** The program stops, as under any shell, and settles when it is continued. SIGSTOP, since the other signal is ours. */
function stopProcess(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGCONT', () => resolve());
    process.kill(process.pid, 'SIGSTOP');
  });
}
