import { quoteForShell } from '../../../core/base/text.ts';
import type { CommandLine } from './hook-event.ts';

/** For agents that pass our command to a shell: every word literally, without quotes if it needs none. */
export const formatShellCommand = ({ command, args }: CommandLine): string =>
  [command, ...args].map((word) => (/^[\w./:@+-]+$/.test(word) ? word : quoteForShell(word))).join(' ');
