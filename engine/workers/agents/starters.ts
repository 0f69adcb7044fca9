import { basename } from 'node:path';

/** How to find the command in the arguments of a program that starts it. */
interface Starter {
  /** Letters of the options whose value is the next word. */
  values?: string;
  /** Number of words before the command, without options. */
  operands?: number;
  /** True if it takes `NAME=value` before the command. */
  assigns?: true;
}

/** Programs that start the command in their arguments and pass it their environment. */
const STARTERS: Readonly<Record<string, Starter>> = {
  caffeinate: { values: 'tw' },
  chrt: { values: 'TPD', operands: 1 },
  env: { values: 'uC', assigns: true },
  ionice: { values: 'cn' },
  nice: { values: 'n' },
  nohup: {},
  setsid: {},
  stdbuf: { values: 'ioe' },
  taskset: { operands: 1 },
  time: { values: 'fo' },
  timeout: { values: 'ks', operands: 1 },
};

/** A command without the programs that only start it. */
export interface StartedCommand {
  /** Index of the word of its program; the number of words if there is none. */
  at: number;
  /** Variables that a starter sets or removes. */
  changes: string[];
  /** True if a starter removes all variables. */
  isCleared: boolean;
}

/** Finds the command that `nice`, `env` and similar programs start in the end. An unusual option is treated as a command. */
export function findStartedCommand(words: readonly string[]): StartedCommand {
  const found: StartedCommand = { at: 0, changes: [], isCleared: false };
  for (
    let starter = findStarter(words[found.at]);
    starter !== undefined;
    starter = findStarter(words[found.at])
  )
    skipStarter(words, starter, found);
  return found;
}

const findStarter = (word = ''): Starter | undefined =>
  Object.hasOwn(STARTERS, basename(word)) ? STARTERS[basename(word)] : undefined;

/** Moves `at` from a starter to the command after it. */
function skipStarter(
  words: readonly string[],
  { values = '', operands = 0, assigns }: Starter,
  found: StartedCommand,
): void {
  const recordChange = (name: string | undefined): void => void found.changes.push(name ?? '');
  found.at += 1;
  for (let word = words[found.at]; word?.startsWith('-'); word = words[found.at]) {
    found.at += 1;
    if (word === '--') break;
    const last = word.at(-1) ?? '';
    const takesNext = /^-[A-Za-z]+$/.test(word) && values.includes(last);
    if (assigns && (word === '-' || word === '--ignore-environment' || /^-[a-z]*i/.test(word)))
      found.isCleared = true;
    if (assigns && word.startsWith('--unset=')) recordChange(word.slice('--unset='.length));
    if (assigns && takesNext && last === 'u') recordChange(words[found.at]);
    if (takesNext) found.at += 1;
  }
  for (let word = words[found.at]; assigns && word?.includes('='); word = words[found.at]) {
    recordChange(word.slice(0, word.indexOf('=')));
    found.at += 1;
  }
  found.at += operands;
}
