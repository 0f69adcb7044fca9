import { runProgram } from '../base/run-program.ts';
import { toPrintable } from '../base/text.ts';
import { platform } from './index.ts';

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

/** Reports whether this machine can show a notice to the person of an environment. */
export const canShowDesktopNotice = (env: NodeJS.ProcessEnv): boolean =>
  platform.buildNotice(env, { title: '', text: '' }) !== null;

/**
 * Shows a notice on the person's desktop, by notify-send or osascript. Does nothing without a desktop, and reports no
 * failure: a notice is a convenience.
 */
export async function showDesktopNotice(env: NodeJS.ProcessEnv, title: string, text: string): Promise<void> {
  const shown = [...toPrintable(text)];
  const cut =
    shown.length > MOST_CHARACTERS ? `${shown.slice(0, MOST_CHARACTERS).join('')}…` : shown.join('');
  const [program, ...args] = platform.buildNotice(env, { title: toPrintable(title), text: cut }) ?? [];
  if (program === undefined) return;
  const passed = Object.fromEntries(PASSED_ON.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
  await runProgram(program, args, { cwd: '/', env: passed, timeoutMs: TIMEOUT_MS });
}
