import { type Command, type Flag, kebab } from './command.ts';

export const usageLine = (command: Command): string => {
  const args = (command.args ?? []).map((arg) => {
    const word = arg.rest ? `${arg.name}...` : arg.name;
    return arg.optional ? `[${word}]` : `<${word}>`;
  });
  const flags = Object.keys(command.flags ?? {}).length > 0 ? ['[options]'] : [];
  return ['svc', command.name, ...args, ...flags].join(' ');
};

export const flagWords = (name: string, flag: Flag): string => {
  const value = flag.type === 'boolean' ? '' : ` <${flag.value ?? flag.type}>`;
  return `${flag.short === undefined ? '' : `-${flag.short}, `}--${kebab(name)}${value}`;
};

const columns = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
};

const among = (choices: readonly string[] | undefined): string =>
  choices === undefined ? '' : ` (${choices.join(', ')})`;

/** @param below other commands that begin with its words */
export function commandHelp(command: Command, below: readonly Command[] = []): string {
  const lines = [command.about, '', `usage: ${usageLine(command)}`];
  const args = (command.args ?? []).map(
    ({ name, about, choices }) => [name, `${about}${among(choices)}`] as const,
  );
  if (args.length > 0) lines.push('', 'arguments:', ...columns(args));
  const flags = Object.entries(command.flags ?? {}).map(([name, flag]) => {
    return [
      flagWords(name, flag),
      `${flag.about}${among(flag.choices)}${flag.multiple ? ', may be repeated' : ''}`,
    ] as const;
  });
  lines.push('', 'options:', ...columns([...flags, ['--json', 'print JSON'], ['-h, --help', 'print this']]));
  if (command.examples !== undefined)
    lines.push('', 'examples:', ...command.examples.map((each) => `  svc ${each}`));
  if (below.length > 0)
    lines.push('', 'see also:', ...columns(below.map((each) => [`svc ${each.name}`, each.about] as const)));
  return `${lines.join('\n')}\n`;
}

export const groupHelp = (word: string, commands: readonly Command[]): string =>
  `usage: svc ${word} <command>\n\n${columns(commands.map((each) => [each.name.slice(word.length + 1), each.about] as const)).join('\n')}\n\nsvc ${word} <command> --help says more.\n`;

export function overview(commands: readonly Command[]): string {
  const shown = commands.filter((each) => !each.hidden);
  return `svc: a local workshop for coding agents

usage: svc <command> [arguments] [options]

${columns(shown.map((each) => [each.name, each.about] as const)).join('\n')}

svc <command> --help says more. Everything takes --json.
`;
}
