import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRunning, processStat, sessionEnded } from '../processes/processes.ts';
import { until } from '../wait.ts';
import { temporaryFolder } from '../workspaces/git.ts';
import { countUnreadInput } from './unread-input.ts';

const CHILD = fileURLToPath(new URL('./terminal-child.js', import.meta.url));

/** The title of a terminal whose program has ended, with its status. */
const ENDED = /^program ended: (\d+|null)$/;

/** Minimum time between two keys of a person. The dashboard rejects faster keys. */
const HAND_MS = 60;

/** Time that a program may leave keys unread before more are sent anyway: it may not read any. */
const UNREAD_MS = 10_000;

const pauseSync = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.max(0, ms));

/** True if terminals can be opened here. */
export const hasTmux = (): boolean => spawnSync('tmux', ['-V']).status === 0;

/** Options of a test or suite that needs a terminal: skips it, with a reason, if there is none. */
export const withTmux = { skip: hasTmux() ? false : 'tmux is not installed' };

export interface Program {
  /** The program and its arguments, without a shell. */
  command: readonly string[];
  cwd: string;
  /** Its environment; only {@link programEnvironment} adds to it. */
  env?: NodeJS.ProcessEnv;
}

export interface TerminalOptions extends Program {
  columns?: number;
  rows?: number;
}

/**
 * A call that presses keys first waits until the program has read the keys of the previous call; the keys of one call
 * arrive together.
 */
export interface Terminal {
  /** Presses keys by tmux's names: `j`, `Enter`, `Escape`, `C-c`, `Up`. */
  keys(...names: string[]): void;
  /** Types letter by letter; the text is never read as a key name. */
  type(text: string): void;
  /** Pastes, bracketed if the program requested it. */
  paste(text: string): void;
  /** One line per row, without trailing blanks. */
  screen(): string;
  /** The same with escape sequences for colours. Keeps blanks because they may have a background. */
  colours(): string;
  /** Waits until the screen contains the text; returns that screen. */
  shows(text: string | RegExp | ((screen: string) => boolean), what?: string): Promise<string>;
  /**
   * Waits until the screen does not contain the text; returns that screen. The screen is empty for a moment between
   * two views, so wait for the next view's text first.
   */
  gone(text: string | RegExp, what?: string): Promise<string>;
  resize(columns: number, rows: number): void;
  /** True if long lines wrap (DECAWM). */
  wraps(): boolean;
  /** The terminal title that the program has set. */
  title(): string;
  /** The text that the program has copied to the terminal's clipboard last (OSC 52). */
  copied(): string;
  /** Path of the device, for other writers. */
  tty(): string;
  /** Waits until the program exits. The status is null if a signal ended it. */
  exited(): Promise<{ status: number | null; screen: string }>;
  /** The program's process, until the terminal is closed. */
  pid(): number;
  /** Hangs up, and waits until all processes in the terminal have ended. */
  close(): Promise<void>;
}

/**
 * Returns the environment of a program in a terminal: the given one, plus defaults for the four variables that every
 * program needs.
 */
export const programEnvironment = (given: NodeJS.ProcessEnv, term: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  LANG: 'C.UTF-8',
  TERM: term,
  ...given,
});

/** Sockets of open terminals. */
const open = new Set<string>();
process.on('exit', () => {
  for (const socket of open) remove(socket);
});

/** Ends the terminal's server, which hangs up on its programs. */
function remove(socket: string): void {
  open.delete(socket);
  spawnSync('tmux', ['-S', socket, 'kill-server']);
  rmSync(dirname(socket), { recursive: true, force: true });
}

/**
 * Runs a program in a real terminal: a separate tmux server without configuration, with its socket in a temporary
 * folder. No client is attached, so the tests need no terminal.
 */
export async function openTerminal({
  command,
  cwd,
  env = {},
  columns = 100,
  rows = 30,
}: TerminalOptions): Promise<Terminal> {
  const folder = temporaryFolder('svc-terminal-');
  const socket = join(folder, 'tmux');
  const program: Program = { command, cwd, env: programEnvironment(env, 'tmux-256color') };
  // A file, because every user can read arguments and tmux has its own environment.
  writeFileSync(join(folder, 'program'), JSON.stringify(program));

  function tmux(words: readonly string[], input = ''): string {
    const ran = spawnSync('tmux', ['-S', socket, '-f', '/dev/null', '-u', ...words], {
      input,
      encoding: 'utf8',
    });
    if (ran.status !== 0) throw new Error(`tmux: ${ran.stderr || ran.error?.message}`);
    return ran.stdout;
  }

  open.add(socket);
  const size = ['-x', String(columns), '-y', String(rows)];
  const [server = '', session = '', tty = ''] = tmux([
    ...['set-option', '-s', 'escape-time', '0', ';', 'set-option', '-g', 'status', 'off', ';'],
    ...['set-option', '-s', 'set-clipboard', 'on', ';'],
    ...['new-session', '-d', '-P', '-F', '#{pid} #{pane_pid} #{pane_tty}', ...size],
    ...['--', process.execPath, CHILD, folder],
  ])
    .trim()
    .split(' ');
  const leader = processStat(Number(session));

  let pressedAt = Number.NEGATIVE_INFINITY;

  /** Sends a person's input after the program has read the previous input. */
  function press(words: readonly string[]): void {
    pauseSync(pressedAt + HAND_MS - performance.now());
    while (countUnreadInput(tty) > 0 && performance.now() < pressedAt + UNREAD_MS) pauseSync(10);
    tmux(words);
    pressedAt = performance.now();
  }

  /** Asks for the title first: if the program has ended by then, the screen is its last one. */
  function look(): { screen: string; status: number | null | undefined } {
    const [title = '', ...lines] = tmux(['display-message', '-p', '#{pane_title}', ';', 'capture-pane', '-p'])
      .replace(/\n$/, '')
      .split('\n');
    const ended = ENDED.exec(title)?.[1];
    const status = ended === undefined ? undefined : ended === 'null' ? null : Number(ended);
    return { screen: lines.map((line) => line.replace(/ +$/, '')).join('\n'), status };
  }

  const started = join(folder, 'pid');
  await until(() => existsSync(started) || look().status !== undefined, `the start of ${command[0]}`);

  async function awaitScreen(fits: (screen: string) => boolean, what: string): Promise<string> {
    let seen = look();
    // The last distinct screens: a message is gone long before the wait times out.
    let screens = [seen.screen];
    try {
      await until(() => {
        seen = look();
        if (seen.screen !== screens.at(-1)) screens = [...screens.slice(-3), seen.screen];
        if (fits(seen.screen)) return true;
        if (seen.status === undefined) return false;
        throw new Error(`the program ended with status ${seen.status} before ${what}`);
      }, what);
    } catch (error) {
      const shown = screens.reverse().map(framed).join('\nand before\n');
      throw new Error(`${(error as Error).message}; the last screen:\n${shown}`);
    }
    return seen.screen;
  }

  return {
    keys: (...names) => press(['send-keys', '--', ...names.map(plain)]),
    type: (text) => press(['send-keys', '-l', '--', plain(text)]),
    paste(text) {
      tmux(['load-buffer', '-b', 'paste', '-'], text);
      press(['paste-buffer', '-b', 'paste', '-p', '-d']);
    },
    screen: () => look().screen,
    colours: () => tmux(['capture-pane', '-p', '-e', '-N']).replace(/\n$/, ''),
    shows: (text, what = `${text} on the screen`) => awaitScreen((screen) => holds(screen, text), what),
    gone: (text, what = `${text} to leave the screen`) => awaitScreen((screen) => !holds(screen, text), what),
    resize: (width, height) => void tmux(['resize-window', '-x', String(width), '-y', String(height)]),
    wraps: () => tmux(['display-message', '-p', '#{wrap_flag}']).trim() === '1',
    title: () => tmux(['display-message', '-p', '#{pane_title}']).trim(),
    copied: () => tmux(['show-buffer']),
    tty: () => tty,
    async exited() {
      const { screen, status } = await until(() => {
        const seen = look();
        return seen.status === undefined ? null : seen;
      }, `the end of ${command[0]}`);
      return { screen, status: status ?? null };
    },
    pid: () => Number(readFileSync(started, 'utf8')),
    async close() {
      if (!open.has(socket)) return;
      remove(socket);
      await until(() => !isRunning(Number(server)), 'the end of tmux');
      if (leader !== null) await sessionEnded(leader);
    },
  };
}

/** Quotes a word for tmux: a trailing `;` would end the command. */
const plain = (word: string): string => word.replace(/;$/, '\\;');

function holds(screen: string, text: string | RegExp | ((screen: string) => boolean)): boolean {
  if (typeof text === 'function') return text(screen);
  return typeof text === 'string' ? screen.includes(text) : screen.search(text) >= 0;
}

const framed = (screen: string): string => screen.replace(/^/gm, '| ');
