import { SvcError } from '../../../core/base/errors.ts';
import { toPrintable } from '../../../core/base/text.ts';

/** Another machine, and the way to it. */
export interface HostAddress {
  /** `[user@]host` of ~/.ssh/config; never starts with `-`. */
  host: string;
  /** A command that replaces ssh, e.g. `docker exec -i box`, split by sh; null for ssh. */
  via: string | null;
}

const LONGEST_HOST = 255;
const LONGEST_COMMAND = 4096;
/** Characters that a ProxyCommand of ssh would pass to a shell, blanks, and what a terminal interprets. */
const REFUSED_IN_HOST = /[\s'"`$\\;&<>|(){}*?!#\0-\x1f\x7f]/;

/** Checks a host as typed by a person. Throws `usage`. */
export function checkHost(host: string): void {
  const name = host.slice(host.lastIndexOf('@') + 1);
  const isOption = host.startsWith('-') || name.startsWith('-');
  if (name !== '' && !host.startsWith('@') && !isOption && host.length <= LONGEST_HOST)
    if (!REFUSED_IN_HOST.test(host) && toPrintable(host) === host) return;
  throw new SvcError('usage', `"${toPrintable(host.slice(0, LONGEST_HOST))}" is an invalid host`, {
    hint: 'name it as for ssh: a Host of ~/.ssh/config, or user@host',
  });
}

/** Checks an address before it is used. Throws `usage`. */
export function checkAddress({ host, via }: HostAddress): void {
  if (via === null) {
    checkHost(host);
    return;
  }
  if (via.trim() !== '' && via.length <= LONGEST_COMMAND && !/[\0\r\n]/.test(via)) return;
  throw new SvcError('usage', 'the command of --via is empty, too long or has more than one line', {
    hint: "give a command that runs the words after it, such as --via 'docker exec -i box'",
  });
}

/** Names the host in a message. */
export const nameHost = ({ host }: HostAddress): string => toPrintable(host);

/** Returns the command with which a person can look for themselves. */
const showCommand = ({ host, via }: HostAddress): string =>
  toPrintable(via === null ? `ssh ${host}` : `${via} sh`);

/** The error for a machine that does not answer, or answers nonsense. */
export const unreachableError = (
  address: HostAddress,
  what: string,
  options: { cause?: unknown; data?: Record<string, unknown> } = {},
): SvcError =>
  new SvcError('runner_unreachable', what, {
    hint: `${showCommand(address)} shows the reason, and lets you answer`,
    ...options,
  });

const MOST_LINES = 3;
const LONGEST_LINE = 300;
/** Lines of ssh that explain no failure. */
const BESIDE = /^(?:\*\* |Warning: Permanently added |Pseudo-terminal will not be allocated )/;

/** Returns the last lines of what a program wrote, on one line and safe for a terminal; empty for none. */
export function quoteLastLines(text: string): string {
  const lines = text.split(/[\r\n]+/).map((line) => line.trim());
  return lines
    .filter((line) => line !== '' && !BESIDE.test(line))
    .slice(-MOST_LINES)
    .map((line) => toPrintable(line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE)}…` : line))
    .join('; ');
}
