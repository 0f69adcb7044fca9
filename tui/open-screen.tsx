import { setImmediate as nextTurn } from 'node:timers/promises';
import { render } from 'ink';
import { asSvcError, usesColour } from '../engine/index.ts';
import { App, type Terminal } from './app.tsx';
import { type EffectHandlers, performEffect, runEditor, runSvcCommand } from './effects.ts';
import type { DashboardEnd, DashboardOptions } from './options.ts';
import { describeWaitingCount } from './panes/waiting.ts';
import type { PreferenceFile } from './preferences/preference-file.ts';
import { createInitialState, createStore } from './store.ts';
import { createEngineSync } from './sync/engine-sync.ts';

const BELL = '\u0007';
/** DECAWM: whether a line that is too long continues in the next one, which would scroll the screen. */
const WRAP_ON = '\u001b[?7h';
const WRAP_OFF = '\u001b[?7l';
const OSC = '\u001b]';
/** Keep the terminal's title, and give it back. */
const KEEP_TITLE = '\u001b[22;2t';
const RESTORE_TITLE = '\u001b[23;2t';
const CLEAR_SCREEN = '\u001b[2J\u001b[H';

const getTerminalSize = (out: NodeJS.WriteStream) => ({ columns: out.columns || 80, rows: out.rows || 24 });

/** Opens the dashboard on a terminal's alternate screen. */
export async function openScreen(options: DashboardOptions, file: PreferenceFile): Promise<DashboardEnd> {
  const { env, stdin, stdout, stderr } = options;
  let terminal: Terminal | null = null;
  let isAway = false;
  const setLineWrap = (isOn: boolean): void => void stdout.write(isOn ? WRAP_ON : WRAP_OFF);
  /** What the title of the terminal says; null while it is the terminal's own. */
  let title: string | null = null;
  function restoreTitle(): void {
    if (title !== null) stdout.write(RESTORE_TITLE);
    title = null;
  }
  /** The shell, and any other program, gets its terminal as it was. */
  function restoreTerminal(): void {
    setLineWrap(true);
    restoreTitle();
  }

  const handlers: EffectHandlers = {
    call: (effect) => void sync.performCall(effect),
    calls: (effect) => void sync.performCalls(effect.calls),
    edit: (effect) => void runEditor(effect, { ...options, store, borrowTerminal: leaveScreenDuring }),
    command: (effect) => void runSvcCommand(effect, { ...options, store, borrowTerminal: leaveScreenDuring }),
    'start-engine': () => sync.startEngine(),
    suspend: () => void leaveScreenDuring(stopProcess),
    redraw: redrawScreen,
    bell: () => void stdout.write(BELL),
    notice: ({ text }) => void stdout.write(`${OSC}9;${text}${BELL}`),
    copy: ({ text }) => void stdout.write(`${OSC}52;c;${Buffer.from(text).toString('base64')}${BELL}`),
    save: ({ changes }) => file.save(changes, (text) => store.send({ type: 'message', text, tone: 'bad' })),
    quit: () => terminal?.exit(),
  };

  const store = createStore(
    createInitialState({ size: getTerminalSize(stdout), now: Date.now(), preferences: file.preferences }),
    {
      run: (effect) => performEffect(handlers, effect),
      crash: (error) => terminal?.exit(asSvcError(error)),
    },
  );
  if (options.select) store.send({ type: 'go', ...options.select });

  /** Leaves the terminal to another program until `use` settles. One at a time. */
  async function leaveScreenDuring(use: () => Promise<void>): Promise<void> {
    if (terminal === null || isAway) return;
    isAway = true;
    try {
      await terminal.suspend(async () => {
        await releaseStdin(stdin);
        restoreTerminal();
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

  /** Clears whatever else was written to the terminal, and draws everything anew. */
  function redrawScreen(): void {
    if (isAway) return;
    app.clear();
    stdout.write(WRAP_OFF + CLEAR_SCREEN);
    onResize();
  }

  function updateTitle(): void {
    const state = store.getState();
    if (isAway || state.link.phase === 'connecting') return;
    const wanted = state.preferences.title ? describeWaitingCount(state) : null;
    if (wanted === title) return;
    if (wanted === null) {
      restoreTitle();
      return;
    }
    if (title === null) stdout.write(KEEP_TITLE);
    stdout.write(`${OSC}2;${wanted}${BELL}`);
    title = wanted;
  }
  const stopTitle = store.subscribe(updateTitle);

  let connectError: unknown = null;
  const sync = createEngineSync({
    store,
    connect: options.connect,
    onFirstConnectFailed(error) {
      connectError = error;
      terminal?.exit();
    },
  });

  const onResize = (): void => store.send({ type: 'resize', size: getTerminalSize(stdout) });
  const onStop = (): void => void leaveScreenDuring(stopProcess);
  const onBroken = (): void => terminal?.exit();
  stdout.on('resize', onResize).on('error', onBroken);
  options.signal.addEventListener('abort', onBroken, { once: true });
  // Ctrl-Z arrives as a key; this is for a SIGTSTP from another program.
  process.on('SIGTSTP', onStop);
  // The shell gets its terminal back as it was, however the program ends.
  process.once('exit', restoreTerminal);
  setLineWrap(false);
  const app = render(
    <App
      store={store}
      colours={usesColour(env, stdout)}
      onTerminal={(given) => {
        terminal = given;
        if (connectError !== null) given.exit();
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
      // Without this, Ink in a CI job would draw the last frame only.
      interactive: true,
    },
  );
  try {
    await app.waitUntilExit();
  } finally {
    process.off('exit', restoreTerminal);
    stopTitle();
    restoreTerminal();
    process.off('SIGTSTP', onStop);
    stdout.off('resize', onResize);
    await sync.close();
    await file.close();
    stdout.off('error', onBroken);
  }
  if (connectError !== null) throw connectError;
  return { farewell: store.getState().farewell };
}

/**
 * Stops reading from stdin. Ink removes its listener, but the stream reads on into its buffer and would swallow keys that
 * are meant for the other program. Only a flowing stream can be paused, hence `resume` first.
 */
async function releaseStdin(stdin: NodeJS.ReadStream): Promise<void> {
  await nextTurn();
  stdin.resume().pause();
  await nextTurn();
}

/** Stops this process and resolves when it is continued. SIGSTOP, since SIGTSTP has a listener here. */
function stopProcess(): Promise<void> {
  return new Promise((resolve) => {
    process.once('SIGCONT', () => resolve());
    process.kill(process.pid, 'SIGSTOP');
  });
}
