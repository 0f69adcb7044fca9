import { findProgram } from './find-program.ts';
import { runProgram } from './run-program.ts';
import { toPrintable } from './text.ts';

/** The only variables that the program gets: it needs them to reach the person's desktop. */
const PASSED_ON = [
  'PATH',
  'HOME',
  'LANG',
  'DISPLAY',
  'XAUTHORITY',
  'WAYLAND_DISPLAY',
  'XDG_RUNTIME_DIR',
  'DBUS_SESSION_BUS_ADDRESS',
];
const TIMEOUT_MS = 5000;
/** More does not fit into a notice. */
const MOST_CHARACTERS = 200;

/** Takes its words as arguments, so that no text becomes part of the script. */
const MAC_SCRIPT = [
  'on run words',
  'display notification (item 2 of words) with title (item 1 of words)',
  'end run',
];

/** Reports whether this machine can show a notice to the person of an environment. */
export const canShowDesktopNotice = (env: NodeJS.ProcessEnv): boolean => findCommand(env, '', '') !== null;

/** Returns the command of a notice; null if this machine shows none. */
function findCommand(env: NodeJS.ProcessEnv, title: string, text: string): [string, ...string[]] | null {
  const find = (name: string) => findProgram(name, { cwd: '/', path: env.PATH });
  if (process.platform === 'darwin') {
    const osascript = find('osascript');
    return osascript === undefined
      ? null
      : [osascript, ...MAC_SCRIPT.flatMap((line) => ['-e', line]), title, text];
  }
  const hasDesktop = env.DBUS_SESSION_BUS_ADDRESS && (env.DISPLAY || env.WAYLAND_DISPLAY);
  const notifySend = hasDesktop ? find('notify-send') : undefined;
  // Only the summary is plain text everywhere; a body may be markup.
  return notifySend === undefined ? null : [notifySend, '--app-name=svc', '--', `${title}: ${text}`];
}

/**
 * Shows a notice on the person's desktop, by notify-send or osascript. Does nothing without a desktop, and reports no
 * failure: a notice is a convenience.
 */
export async function showDesktopNotice(env: NodeJS.ProcessEnv, title: string, text: string): Promise<void> {
  const shown = [...toPrintable(text)];
  const cut =
    shown.length > MOST_CHARACTERS ? `${shown.slice(0, MOST_CHARACTERS).join('')}…` : shown.join('');
  const [program, ...args] = findCommand(env, toPrintable(title), cut) ?? [];
  if (program === undefined) return;
  const passed = Object.fromEntries(PASSED_ON.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  await runProgram(program, args, { cwd: '/', env: passed, timeoutMs: TIMEOUT_MS });
}
