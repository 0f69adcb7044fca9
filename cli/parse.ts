import { SvcError } from '../engine/core/base/errors.ts';
import { nearWords } from '../engine/index.ts';
import { type ArgumentSpec, type Command, type FlagSpec, toKebabCase } from './command.ts';

export interface ParsedCommand {
  args: string[];
  flags: Record<string, unknown>;
  json: boolean;
}

/** Parses the arguments after the command's words, through meow. Throws `usage`. */
export async function parseArguments(command: Command, given: readonly string[]): Promise<ParsedCommand> {
  if (command.verbatim) {
    checkArguments(command, given);
    return { args: [...given], flags: {}, json: given.includes('--json') };
  }
  const table: Record<string, FlagSpec> = {
    ...command.flags,
    json: { type: 'boolean', about: 'print JSON' },
  };
  const argv = command.args?.at(-1)?.foreign ? markForeignWords(command.args, table, given) : given;
  await checkFlags(command, table, argv);
  const { input, flags: read } = await readFlags(table, argv);
  const args = input.map(String);
  checkArguments(command, args);
  const flags = Object.fromEntries(
    Object.entries(table).map(([name, flag]) => [
      name,
      checkFlagValue(command, name, flag, readNegated(name, read) ?? read[name]),
    ]),
  );
  return { args, flags, json: flags.json === true };
}

/** Inserts `--` before the words of another program, unless present: they follow our own arguments. */
function markForeignWords(
  args: readonly ArgumentSpec[],
  table: Record<string, FlagSpec>,
  argv: readonly string[],
): readonly string[] {
  const entries = Object.entries(table);
  let own = args.length - 1;
  for (const [at, word] of argv.entries()) {
    if (word === '--') return argv;
    if (/^--?[a-zA-Z]/.test(word) || takesValue(argv[at - 1] ?? '', entries)) continue;
    own -= 1;
    if (own === 0 && argv[at + 1] !== '--') return [...argv.slice(0, at + 1), '--', ...argv.slice(at + 1)];
  }
  return argv;
}

/** meow reads `--no-wait` as `wait` being false, even for a flag called `noWait`. */
function readNegated(name: string, given: Record<string, unknown>): true | undefined {
  const rest = /^no([A-Z])(.*)$/.exec(name);
  return rest !== null && given[`${rest[1]?.toLowerCase()}${rest[2]}`] === false ? true : undefined;
}

interface Read {
  input: readonly (string | number)[];
  flags: Record<string, unknown>;
}

/** Reads plain flags itself, since loading meow costs every command 32 ms of CPU; meow reads the rest. */
async function readFlags(table: Record<string, FlagSpec>, argv: readonly string[]): Promise<Read> {
  const plain = readPlainFlags(Object.entries(table), argv);
  if (plain) return plain;
  const { default: meow } = await import('meow');
  return meow({
    importMeta: { url: import.meta.url } as ImportMeta,
    argv: rewriteForMeow(table, argv),
    pkg: { name: 'svc' },
    autoHelp: false,
    autoVersion: false,
    inferType: false,
    flags: Object.fromEntries(
      Object.entries(table).map(([name, flag]) => [
        name,
        {
          type: flag.type,
          ...(flag.short === undefined ? {} : { shortFlag: flag.short }),
          ...(flag.multiple ? { isMultiple: true } : {}),
        },
      ]),
    ) as never,
  }) as unknown as Read;
}

/**
 * Reads options under their exact names, with a value if required and none otherwise, each given once unless
 * repeatable. Values are taken literally. Null if anything is written differently.
 */
function readPlainFlags(entries: [string, FlagSpec][], argv: readonly string[]): Read | null {
  const input: string[] = [];
  const flags: Record<string, unknown> = {};
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] as string;
    if (word === '--') return { input: [...input, ...argv.slice(at + 1)], flags };
    if (!/^--?[a-zA-Z]/.test(word)) {
      input.push(word);
      continue;
    }
    const [option = ''] = word.split('=', 1);
    const found = entries.find(
      ([name, { short }]) => option === `--${toKebabCase(name)}` || option === `-${short}`,
    );
    if (found === undefined) return null;
    const [name, { type, multiple }] = found;
    let value: unknown = true;
    if (type !== 'boolean') {
      if (word === option) at += 1;
      const text = word === option ? argv[at] : word.slice(option.length + 1);
      value = type === 'number' ? Number(text) : text;
    } else if (word !== option) return null;
    if (multiple) flags[name] = [...((flags[name] as unknown[]) ?? []), value];
    else if (name in flags) return null;
    else flags[name] = value;
  }
  return { input, flags };
}

/**
 * Reorders and respells the words so that meow has nothing to guess: by itself it treats a lone `-` as an argument
 * even after `--prompt`, and a text that starts with a dash as options.
 */
function rewriteForMeow(table: Record<string, FlagSpec>, argv: readonly string[]): string[] {
  const entries = Object.entries(table);
  const options: string[] = [];
  const others: string[] = [];
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] as string;
    if (word === '--') {
      others.push(...argv.slice(at + 1));
      break;
    }
    if (!/^--?[a-zA-Z]/.test(word)) others.push(word);
    else if (takesValue(word, entries)) {
      options.push(`${word}=${argv[at + 1]}`);
      at += 1;
    } else options.push(word);
  }
  return [...options, '--', ...others];
}

/** Refuses unknown flags, which meow accepts: a typo should fail before anything happens. */
async function checkFlags(
  command: Command,
  table: Record<string, FlagSpec>,
  argv: readonly string[],
): Promise<void> {
  const entries = Object.entries(table);
  for (const [index, word] of argv.entries()) {
    if (word === '--') return;
    if (!/^--?[a-zA-Z]/.test(word)) continue;
    const previous = argv[index - 1] ?? '';
    if (takesValue(previous, entries)) continue;
    const name = word.replace(/^--?/, '').split('=')[0] ?? '';
    const flag = findFlag(word, name, entries);
    if (flag === undefined) throw await createUnknownFlagError(command, word.split('=')[0] ?? '', entries);
    const needs = flag.type !== 'boolean' && !word.includes('=');
    if (needs && argv[index + 1] === undefined) throw createUsageError(command, `${word} needs a value`);
  }
}

async function createUnknownFlagError(
  command: Command,
  word: string,
  entries: [string, FlagSpec][],
): Promise<SvcError> {
  const { findNearest } = await nearWords();
  const names = [...entries.map(([name]) => `--${toKebabCase(name)}`), '--help'];
  const close = word.startsWith('--') ? findNearest(word, names) : undefined;
  return new SvcError('usage', `svc ${command.name} has no option ${word}`, {
    hint: close === undefined ? `svc ${command.name} --help` : `did you mean ${close}?`,
  });
}

function findFlag(word: string, name: string, entries: [string, FlagSpec][]): FlagSpec | undefined {
  return entries.find(([key, flag]) =>
    word.startsWith('--') ? [name, name.replace(/^no-/, '')].includes(toKebabCase(key)) : flag.short === name,
  )?.[1];
}

function takesValue(word: string, entries: [string, FlagSpec][]): boolean {
  if (!/^--?[a-zA-Z]/.test(word) || word.includes('=')) return false;
  const flag = findFlag(word, word.replace(/^--?/, ''), entries);
  return flag !== undefined && flag.type !== 'boolean';
}

function checkArguments(command: Command, args: readonly string[]): void {
  const expected = command.args ?? [];
  const required = expected.filter((arg) => !arg.optional);
  if (args.length < required.length)
    throw new SvcError('usage', `missing argument: <${required[args.length]?.name}>`, {
      hint: `for example: svc ${command.examples[0]}; svc ${command.name} --help explains it`,
    });
  if (!expected.at(-1)?.rest && args.length > expected.length) {
    throw createUsageError(command, `unexpected argument ${JSON.stringify(args[expected.length])}`);
  }
  for (const [at, { name, choices }] of expected.entries()) {
    const given = args[at];
    if (given !== undefined && choices !== undefined && !choices.includes(given)) {
      throw new SvcError('usage', `invalid ${name} ${JSON.stringify(given)} for svc ${command.name}`, {
        hint: `one of: ${choices.join(', ')}`,
      });
    }
  }
}

function checkFlagValue(command: Command, name: string, flag: FlagSpec, value: unknown): unknown {
  const values = Array.isArray(value) ? value : [value];
  for (const each of values) {
    if (flag.type === 'number' && each !== undefined && !Number.isFinite(each)) {
      throw createUsageError(command, `--${toKebabCase(name)} takes a number`);
    }
    if (flag.choices !== undefined && each !== undefined && !flag.choices.includes(String(each))) {
      throw createUsageError(command, `--${toKebabCase(name)} is one of ${flag.choices.join(', ')}`);
    }
  }
  if (flag.multiple) return value === undefined ? [] : values;
  // If given twice, the last one wins.
  const last = values.at(-1);
  return flag.type === 'boolean' ? last === true : last;
}

const createUsageError = (command: Command, message: string): SvcError =>
  new SvcError('usage', message, { hint: `svc ${command.name} --help` });
