import { quoteForShell } from '../../../core/base/text.ts';
import type { CommandLine } from './hook-event.ts';

/** For agents that hand a command of ours to a shell: every word as it is, without quotes where it needs none. */
export const formatShellCommand = ({ command, args }: CommandLine): string =>
  [command, ...args].map((word) => (/^[\w./:@+-]+$/.test(word) ? word : quoteForShell(word))).join(' ');
