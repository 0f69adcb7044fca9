import { shellWord } from '../../text.ts';
import type { CommandLine } from './preset.ts';

/** For agents that hand a command of ours to a shell: every word as it is. */
export const shellCommand = ({ command, args }: CommandLine): string =>
  [command, ...args].map(shellWord).join(' ');
