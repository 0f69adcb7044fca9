import { type Command, type CompletionProposal, type FlagSpec, toKebabCase } from '../command.ts';
import { HELP_GROUPS } from '../help-groups.ts';

/** How the value of an argument or a flag is completed; ids, agents and keys are looked up while typing. */
export type CompletionKind = CompletionProposal | 'file' | 'folder';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

export interface FlagWords {
  long: string;
  short: string | null;
  about: string;
  takesValue: boolean;
  choices: readonly string[];
  kind: CompletionKind | null;
}

/** A command as the scripts need it. */
export interface CompletedCommand {
  name: string;
  about: string;
  flags: FlagWords[];
  /** By position; null if nothing can be proposed. */
  args: (CompletionKind | readonly string[] | null)[];
  /** For all further arguments. */
  rest: CompletionKind | null;
}

/** Flags have no `completes`: their names determine their values. */
const FLAG_KINDS: Readonly<Record<string, CompletionKind>> = {
  agent: 'agent',
  toAgent: 'agent',
  decision: 'decision',
  project: 'project',
  toProject: 'project',
  session: 'session',
  toSession: 'session',
  holder: 'session',
  ledger: 'file',
  path: 'file',
  payload: 'file',
  place: 'file',
  dir: 'folder',
};

const describeFlag = (name: string, flag: FlagSpec): FlagWords => ({
  long: `--${toKebabCase(name)}`,
  short: flag.short === undefined ? null : `-${flag.short}`,
  about: flag.about,
  takesValue: flag.type !== 'boolean',
  choices: flag.choices ?? [],
  kind: FLAG_KINDS[name] ?? null,
});

const EVERYWHERE: readonly FlagWords[] = [
  { long: '--json', short: null, about: 'print JSON', takesValue: false, choices: [], kind: null },
  { long: '--help', short: '-h', about: 'show help', takesValue: false, choices: [], kind: null },
];

/** Every command that people use, in the order of help, and help itself. */
export function describeCommands(commands: readonly Command[]): CompletedCommand[] {
  const shown = commands.filter(({ hidden }) => !hidden);
  const words = new Set(shown.map(({ name }) => name.split(' ')[0] ?? ''));
  const described = shown.map(({ name, about, args = [], flags = {} }) => ({
    name,
    about,
    flags: [...Object.entries(flags).map(([flag, table]) => describeFlag(flag, table)), ...EVERYWHERE],
    args: args.map((arg) => arg.choices ?? arg.completes ?? null),
    rest: (args.at(-1)?.rest && args.at(-1)?.completes) || null,
  }));
  const help = {
    name: 'help',
    about: 'show help',
    flags: [describeFlag('all', { type: 'boolean', about: 'list every command' })],
    args: [[...new Set([...words, ...HELP_GROUPS])]],
    rest: null,
  };
  return [...described, help];
}

/** First words, each with the commands below it; a single-word command has itself. */
export function groupByFirstWord(completions: readonly CompletedCommand[]): Map<string, CompletedCommand[]> {
  const found = new Map<string, CompletedCommand[]>();
  for (const each of completions) {
    const word = each.name.split(' ')[0] ?? '';
    found.set(word, [...(found.get(word) ?? []), each]);
  }
  return found;
}

/** A first word that needs a second one. */
export const needsSecondWord = (word: string, below: readonly CompletedCommand[]): boolean =>
  below.some(({ name }) => name !== word);

/** Lists the commands of a group that have a word after the group's; the group's own command has none. */
export const listSecondWords = (below: readonly CompletedCommand[]): { word: string; about: string }[] =>
  below.flatMap(({ name, about }) => {
    const word = name.split(' ')[1];
    return word === undefined ? [] : [{ word, about }];
  });

/** The description of a first word in a list with one line per entry. */
export const describeFirstWord = (word: string, below: readonly CompletedCommand[]): string =>
  needsSecondWord(word, below)
    ? listSecondWords(below)
        .map((each) => each.word)
        .join(', ')
    : (below[0]?.about ?? '');
