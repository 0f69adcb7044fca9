import { isErrorCode, toExitCode, toHttpStatus } from '../engine/core/base/errors.ts';
import { catalogues } from '../engine/index.ts';
import { type Command, type FlagSpec, toKebabCase } from './command.ts';
import type { HelpGroup } from './help-groups.ts';

export const formatUsage = (command: Command): string => {
  const args = (command.args ?? []).map((arg) => {
    const word = arg.rest ? `${arg.name}...` : arg.name;
    return arg.optional ? `[${word}]` : `<${word}>`;
  });
  const flags = Object.keys(command.flags ?? {}).length > 0 ? ['[options]'] : [];
  return ['svc', command.name, ...args, ...flags].join(' ');
};

/** Formats an option for help: `-n, --limit <number>`. */
export const formatFlag = (name: string, flag: FlagSpec): string => {
  const value = flag.type === 'boolean' ? '' : ` <${flag.value ?? flag.type}>`;
  return `${flag.short === undefined ? '' : `-${flag.short}, `}--${toKebabCase(name)}${value}`;
};

type Row = readonly [left: string, right: string];

const measureLeft = (rows: readonly Row[]): number => Math.max(0, ...rows.map(([left]) => left.length));

const alignRows = (rows: readonly Row[], width = measureLeft(rows)): string[] =>
  rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);

const listChoices = (choices: readonly string[] | undefined): string =>
  choices === undefined ? '' : ` (${choices.join(', ')})`;

/** @param below other commands that start with its words */
export function renderCommandHelp(command: Command, below: readonly Command[] = []): string {
  const lines = [command.about, '', `usage: ${formatUsage(command)}`];
  for (const paragraph of command.details ?? []) lines.push('', paragraph);
  const args = (command.args ?? []).map(
    ({ name, about, choices }): Row => [name, `${about}${listChoices(choices)}`],
  );
  if (args.length > 0) lines.push('', 'arguments:', ...alignRows(args));
  const flags = Object.entries(command.flags ?? {}).map(
    ([name, flag]): Row => [
      formatFlag(name, flag),
      `${flag.about}${listChoices(flag.choices)}${flag.multiple ? ', may be repeated' : ''}`,
    ],
  );
  lines.push(
    '',
    'options:',
    ...alignRows([...flags, ['--json', 'print JSON'], ['-h, --help', 'print this help']]),
  );
  lines.push('', 'examples:', ...command.examples.map((each) => `  svc ${each}`));
  if (below.length > 0)
    lines.push('', 'see also:', ...alignRows(below.map((each): Row => [`svc ${each.name}`, each.about])));
  return `${lines.join('\n')}\n`;
}

/** Formats the help of a first word that is not a command on its own. */
export const renderFirstWordHelp = (word: string, commands: readonly Command[]): string =>
  `usage: svc ${word} <command>

${alignRows(commands.map((each): Row => [each.name.slice(word.length + 1), each.about])).join('\n')}

svc ${word} <command> --help explains one.
`;

/** `svc help <code>`: explains the code of an error or of a failed session; null for any other word. */
export async function renderCodeHelp(word: string): Promise<string | null> {
  const { ERROR_MEANINGS, findFailure } = await catalogues();
  const lines: string[] = [];
  if (isErrorCode(word)) {
    const { means, next } = ERROR_MEANINGS[word];
    lines.push(
      `${word}: ${means}`,
      `next: ${next}`,
      `HTTP ${toHttpStatus(word)}, exit code ${toExitCode(word)}`,
    );
  }
  const failure = findFailure(word);
  if (failure !== null) lines.push(`of a session: ${failure.means}`, `next: ${failure.next}`);
  return lines.length === 0 ? null : `${lines.join('\n')}\n`;
}

interface ListedGroup {
  title: HelpGroup;
  commands: readonly Command[];
}

/** `svc --help`: the daily commands, and the first words of the others by group; one screen. */
export function renderOverview([daily, ...groups]: readonly ListedGroup[]): string {
  const often = (daily?.commands ?? []).map(
    (each): Row => [formatUsage(each).replace(' [options]', ''), each.about],
  );
  const others = groups.flatMap(({ title, commands }): Row[] => {
    const words = [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? ''))];
    return wrapWords(words).map((line, at) => [at === 0 ? title : '', line]);
  });
  return `svc: a local workshop for coding agents

usage: svc <command> [arguments] [options]

every day:
${alignRows([...often, ['svc', 'open the dashboard']]).join('\n')}

more commands, by group (svc help GROUP explains them):
${alignRows(others).join('\n')}

svc <command> --help explains a command, svc help <code> an error code.
svc help --all lists every command. All of them take --json.
`;
}

const WRAP_AT = 60;

/** Joins words with commas, in lines of a screen. */
function wrapWords(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const [at, word] of words.entries()) {
    const text = at === words.length - 1 ? word : `${word},`;
    const last = lines.at(-1);
    if (last !== undefined && last.length + text.length < WRAP_AT)
      lines[lines.length - 1] = `${last} ${text}`;
    else lines.push(text);
  }
  return lines;
}

/** `svc help GROUP`: its commands. */
export const renderGroup = ({ title, commands }: ListedGroup): string =>
  `${title}:
${alignRows(commands.map((each): Row => [`svc ${each.name}`, each.about])).join('\n')}

svc <command> --help explains one.
`;

/** `svc help --all`: every command, under the titles of its group. */
export function renderEverything(groups: readonly ListedGroup[]): string {
  const sections = groups.map(({ title, commands }) => ({
    title,
    rows: commands.map((each): Row => [each.name, each.about]),
  }));
  const width = measureLeft(sections.flatMap(({ rows }) => rows));
  return `svc: a local workshop for coding agents

usage: svc <command> [arguments] [options]

${sections.map(({ title, rows }) => `${title}:\n${alignRows(rows, width).join('\n')}`).join('\n\n')}

svc <command> --help explains a command, svc help <code> an error code. All commands take --json.
`;
}

/** Printed by `svc` alone where no dashboard can be drawn: one screen for a first-time user. */
export const renderSummary =
  (): string => `svc: a local workshop for coding agents. Tasks come from you or from signed
requests, a person approves them, and agents work on them, each in its own
git worktree.

to start:
${alignRows(BEGINNING, SUMMARY_WIDTH).join('\n')}

then, also without a terminal:
${alignRows(DAILY, SUMMARY_WIDTH).join('\n')}

On a terminal svc opens the dashboard; svc dash --plain prints it as lines.
svc --help lists every command, svc <command> --help explains one.
`;

const BEGINNING: readonly Row[] = [
  ['svc demo', 'see it all in a temporary folder first'],
  ['svc init', 'write svc.yaml for this git repository'],
  ['svc doctor', 'check the setup'],
  ['svc run "fix the typo"', 'have an agent do something'],
];

const DAILY: readonly Row[] = [
  ['svc status', 'see what runs and what waits'],
  ['svc ls', 'list the tasks'],
  ['svc approve t-1', 'start one that waits for your approval'],
  ['svc log t-1 -f', 'follow the output of its agent'],
  ['svc diff t-1', 'see what it changed'],
  ['svc merge t-1', 'merge it; nothing is pushed'],
];

const SUMMARY_WIDTH = measureLeft([...BEGINNING, ...DAILY]);
