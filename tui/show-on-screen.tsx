import { setImmediate as nextTurn } from 'node:timers/promises';
import { render } from 'ink';
import type { ComponentProps } from 'react';
import { usesColour } from '../engine/core/base/colours.ts';
import { openBrowser } from '../engine/core/platform/open-browser.ts';
import { takeMouse } from './actions/mouse.ts';
import { App, type InkTerminal } from './app.tsx';
import type { EffectHandlers } from './effects.ts';
import type { DashboardEnd, TerminalOptions } from './options.ts';
import type { PreferenceFile } from './preferences/preference-file.ts';
import type { NoticeTerminal } from './sync/follow-notices.ts';
import { createNoticeFormatter, FOCUS_OFF, FOCUS_ON, findNoticeForm, takeFocus } from './terminal-notices.ts';

const BELL = '\u0007';
/** DECAWM: whether an overlong line wraps to the next one, which would scroll the screen. */
const WRAP_ON = '\u001b[?7h';
const WRAP_OFF = '\u001b[?7l';
/** Reports of the mouse's buttons and wheel, as numbers. */
const MOUSE_ON = '\u001b[?1000h\u001b[?1006h';
const MOUSE_OFF = '\u001b[?1006l\u001b[?1000l';
const OSC = '\u001b]';
/** Save the terminal's title, and restore it. */
const KEEP_TITLE = '\u001b[22;2t';
const RESTORE_TITLE = '\u001b[23;2t';
const CLEAR_SCREEN = '\u001b[2J\u001b[H';

export const getTerminalSize = (out: NodeJS.WriteStream) => ({
  columns: out.columns || 80,
  rows: out.rows || 24,
});

/** Actions of a dashboard on its screen. */
export interface ScreenActions {
  /** Terminal actions for effects, for all workspaces. */
  effects: Omit<EffectHandlers, 'call' | 'calls' | 'edit' | 'command' | 'start-engine' | 'across'>;
  noticeTerminal: NoticeTerminal;
  /** Lends the terminal to another program until `use` settles. One at a time. */
  borrowTerminal(use: () => Promise<void>): Promise<void>;
  /** Ends the dashboard with an error. */
  fail(error: unknown): void;
}

/** A dashboard that a screen shows. */
export interface ShownDashboard {
  store: ComponentProps<typeof App>['store'];
  /** Returns the terminal's title; null for its own. */
  describeTitle(): string | null;
  close(): Promise<void>;
}

/** Shows a dashboard on a terminal's alternate screen until the person leaves it. Rejects when it fails. */
export async function showOnScreen(
  options: TerminalOptions,
  file: PreferenceFile,
  build: (actions: ScreenActions) => ShownDashboard,
): Promise<DashboardEnd> {
  const { env, stdin, stdout, stderr } = options;
  let terminal: InkTerminal | null = null;
  let isAway = false;
  let failure: { error: unknown } | null = null;
  const setLineWrap = (isOn: boolean): void => void stdout.write(isOn ? WRAP_ON : WRAP_OFF);
  /** The terminal's title; null while it is the terminal's own. */
  let title: string | null = null;
  function restoreTitle(): void {
    if (title !== null) stdout.write(RESTORE_TITLE);
    title = null;
  }
  let hasMouse = false;
  function setMouse(isOn: boolean): void {
    if (isOn === hasMouse) return;
    hasMouse = isOn;
    stdout.write(isOn ? MOUSE_ON : MOUSE_OFF);
  }
  let reportsFocus = false;
  function setFocusReports(isOn: boolean): void {
    if (isOn === reportsFocus) return;
    reportsFocus = isOn;
    stdout.write(isOn ? FOCUS_ON : FOCUS_OFF);
  }
  /** Gives the shell, or another program, the original terminal. */
  function restoreTerminal(): void {
    setLineWrap(true);
    setMouse(false);
    setFocusReports(false);
    restoreTitle();
  }
  function failDashboard(error: unknown): void {
    failure ??= { error };
    terminal?.exit();
  }

  const effects: ScreenActions['effects'] = {
    suspend: () => void borrowTerminal(stopProcess),
    redraw: redrawScreen,
    bell: () => void stdout.write(BELL),
    copy: ({ text }) => void stdout.write(`${OSC}52;c;${Buffer.from(text).toString('base64')}${BELL}`),
    browse: ({ url }) => openBrowser(url, env),
    save: ({ changes }) => file.save(changes, (text) => store.send({ type: 'message', text, tone: 'bad' })),
    quit: () => terminal?.exit(),
  };
  const formatNotice = createNoticeFormatter(env);
  const noticeTerminal: NoticeTerminal = {
    canShow: findNoticeForm(env) !== 'bell',
    show: (notice) =>
      void formatNotice(notice).then((sequence) => {
        // Another program has the terminal and the person.
        if (!isAway) stdout.write(sequence);
      }),
  };
  const dashboard = build({ effects, noticeTerminal, borrowTerminal, fail: failDashboard });
  const { store } = dashboard;

  async function borrowTerminal(use: () => Promise<void>): Promise<void> {
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
          updateReports();
        }
      });
    } finally {
      isAway = false;
      store.send({ type: 'resize', size: getTerminalSize(stdout) });
    }
  }

  /** Clears foreign output from the terminal, and redraws everything. */
  function redrawScreen(): void {
    if (isAway) return;
    app.clear();
    stdout.write(WRAP_OFF + CLEAR_SCREEN);
    onResize();
  }

  function updateTitle(): void {
    const { state } = store.getDrawn();
    if (isAway || state.link.phase === 'connecting') return;
    const wanted = state.preferences.title ? dashboard.describeTitle() : null;
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
  function updateReports(): void {
    const { mouse, notices } = store.getDrawn().state.preferences;
    setMouse(mouse);
    setFocusReports(notices);
  }
  const stopReports = store.subscribe(() => {
    if (!isAway) updateReports();
  });

  const onResize = (): void => store.send({ type: 'resize', size: getTerminalSize(stdout) });
  const onStop = (): void => void borrowTerminal(stopProcess);
  const onBroken = (): void => terminal?.exit();
  stdout.on('resize', onResize).on('error', onBroken);
  options.signal.addEventListener('abort', onBroken, { once: true });
  // Ctrl-Z arrives as a key; this is for a SIGTSTP from another program.
  process.on('SIGTSTP', onStop);
  // The shell gets the original terminal back, however the program ends.
  process.once('exit', restoreTerminal);
  setLineWrap(false);
  updateReports();
  // These terminals report every change, and the person has just started this.
  if (noticeTerminal.canShow) store.send({ type: 'focus', hasFocus: true });
  // Ink drops reports of the mouse and takes others for keys, so they are taken out of what it reads.
  const readStdin = stdin.read;
  stdin.read = (size) => {
    const chunk: unknown = readStdin.call(stdin, size);
    if (typeof chunk !== 'string') return chunk;
    const rest = reportsFocus
      ? takeFocus(chunk, (hasFocus) => store.send({ type: 'focus', hasFocus }))
      : chunk;
    return hasMouse ? takeMouse(rest, (input) => store.send({ type: 'mouse', input })) : rest;
  };
  const app = render(
    <App
      store={store}
      colours={usesColour(env, stdout)}
      onTerminal={(given) => {
        terminal = given;
        if (failure !== null) given.exit();
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
      // Without this, Ink in a CI job would only draw the last frame.
      interactive: true,
    },
  );
  try {
    await app.waitUntilExit();
  } finally {
    process.off('exit', restoreTerminal);
    stopTitle();
    stopReports();
    stdin.read = readStdin;
    restoreTerminal();
    process.off('SIGTSTP', onStop);
    stdout.off('resize', onResize);
    await dashboard.close();
    await file.close();
    stdout.off('error', onBroken);
  }
  if (failure !== null) throw (failure as { error: unknown }).error;
  return { farewell: store.getDrawn().state.farewell };
}

/**
 * Stops reading from stdin. Ink removes its listener, but the stream continues to read into its buffer and would
 * swallow keys that are meant for the other program. Only a flowing stream can be paused, hence `resume` first.
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
