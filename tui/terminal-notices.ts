import { runProgram } from '../engine/core/base/run-program.ts';
import { toPrintable } from '../engine/core/base/text.ts';

/** How a terminal shows a notice; `bell` if it is not known to show any. */
export type NoticeForm = 'osc99' | 'osc777' | 'osc9' | 'bell';

/** A notice for the person at a terminal. */
export interface TerminalNotice {
  title: string;
  text: string;
}

const OSC = '\u001b]';
const ST = '\u001b\\';
const BELL = '\u0007';
/** Reports of the terminal's focus. */
export const FOCUS_ON = '\u001b[?1004h';
export const FOCUS_OFF = '\u001b[?1004l';
const FOCUS_REPORT = /\u001b\[([IO])/g;

/** Terminals by a part of their name: in TERM, in TERM_PROGRAM, or as tmux and iTerm2 report it. */
const FORMS: readonly (readonly [name: RegExp, form: NoticeForm])[] = [
  [/kitty/i, 'osc99'],
  [/ghostty|wezterm|contour|\bfoot\b|warp/i, 'osc777'],
  [/iterm/i, 'osc9'],
];
const TMUX_MS = 1000;

const findForm = (name: string): NoticeForm => FORMS.find(([pattern]) => pattern.test(name))?.[1] ?? 'bell';

/**
 * Finds how the terminal of an environment shows a notice. A multiplexer would swallow or print the sequence, and
 * variables other than TERM may come from a terminal that started this one.
 */
export function findNoticeForm(env: NodeJS.ProcessEnv): NoticeForm {
  if (env.TMUX || env.STY || env.ZELLIJ !== undefined) return 'bell';
  const { TERM = '', TERM_PROGRAM, LC_TERMINAL = '' } = env;
  const own = findForm(TERM);
  if (own !== 'bell' || !TERM.startsWith('xterm')) return own;
  return findForm(TERM_PROGRAM ?? LC_TERMINAL);
}

/** Makes text safe inside a sequence: printable, and without the separator of fields. */
const cleanField = (text: string): string => toPrintable(text.toWellFormed()).replaceAll(';', ',');

/** Formats a notice as the terminal's own sequence. */
export function formatNotice(form: NoticeForm, { title, text }: TerminalNotice, id: string): string {
  const [head, body] = [cleanField(title), cleanField(text)];
  if (form === 'osc99')
    return `${OSC}99;i=${id}:d=0:o=unfocused;${head}${ST}${OSC}99;i=${id}:d=1:p=body:o=unfocused;${body}${ST}`;
  if (form === 'osc777') return `${OSC}777;notify;${head};${body}${ST}`;
  // A number at its start would be a command of ConEmu.
  if (form === 'osc9') return `${OSC}9;${/^\d/.test(head) ? ' ' : ''}${head}: ${body}${ST}`;
  return BELL;
}

/** Wraps a sequence so that tmux passes it on to its terminal. */
const wrapForTmux = (sequence: string): string =>
  `\u001bPtmux;${sequence.replaceAll('\u001b', '\u001b\u001b')}${ST}`;

/** Returns what shows a notice on the terminal around tmux; the bell where tmux passes nothing on, or hides this window. */
async function formatInTmux(env: NodeJS.ProcessEnv, notice: TerminalNotice, id: string): Promise<string> {
  const pane = env.TMUX_PANE === undefined ? [] : ['-t', env.TMUX_PANE];
  const wanted = '#{allow-passthrough} #{window_active} #{client_termname} #{client_termtype}';
  const { stdout } = await runProgram('tmux', ['display-message', '-p', ...pane, wanted], {
    env,
    timeoutMs: TMUX_MS,
  });
  const [passes = '', isActive = '', ...terminal] = stdout.trim().split(' ');
  const isPassed = passes === 'all' || passes === '2' || (/^(?:on|1)$/.test(passes) && isActive === '1');
  const form = findForm(terminal.join(' '));
  return isPassed && form !== 'bell' ? wrapForTmux(formatNotice(form, notice, id)) : BELL;
}

/** Returns a function that formats notices for the terminal of an environment. */
export function createNoticeFormatter(env: NodeJS.ProcessEnv): (notice: TerminalNotice) => Promise<string> {
  const form = findNoticeForm(env);
  let count = 0;
  return async (notice) => {
    count += 1;
    // A notice with the same id would replace an earlier one.
    const id = `svc-${process.pid}-${count}`;
    return env.TMUX ? formatInTmux(env, notice, id) : formatNotice(form, notice, id);
  };
}

/** Takes what a terminal reports about its focus out of its input, and returns the rest. */
export const takeFocus = (input: string, onFocus: (hasFocus: boolean) => void): string =>
  input.replace(FOCUS_REPORT, (_, report: string) => {
    onFocus(report === 'I');
    return '';
  });
