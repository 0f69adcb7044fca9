import {
  asSvcError,
  connect,
  type EngineClient,
  EXIT,
  exitCode,
  hintForCommands,
  nearWords,
  printable,
  printableJson,
  printableMessage,
  SvcError,
  version,
  withLocalTimes,
} from '../engine/index.ts';
import { allCommands, FIRST_WORDS, findCommand, loadCommandGroups } from './catalogue.ts';
import type { Context } from './command.ts';
import {
  renderCodeHelp,
  renderCommandHelp,
  renderFirstWordHelp,
  renderOverview,
  renderSummary,
} from './help.ts';
import { parseArguments } from './parse.ts';
import { daemonCommand } from './self.ts';

/** Where a command line runs: what it has of its process, or of whoever else calls it. */
export type Surroundings = Pick<Context, 'cwd' | 'env' | 'stdin' | 'stdout' | 'stderr' | 'signal'>;

/** Runs one command line and returns its exit code. */
export async function main(argv: readonly string[], around: Surroundings): Promise<number> {
  const { env, stdout, stderr } = around;
  const isJson = argv.includes('--json');
  try {
    return await dispatch(argv, around);
  } catch (thrown) {
    const error = asSvcError(thrown);
    // `svc tool` speaks of tools itself.
    const hint = argv[0] === 'tool' || error.hint === undefined ? error.hint : hintForCommands(error.hint);
    if (isJson) {
      const { code, message, data } = error;
      stdout.write(`${printableJson({ error: { code, message, hint: hint ?? null, data } })}\n`);
    }
    stderr.write(`error: ${printableMessage(withLocalTimes(error.message))}\n`);
    if (hint !== undefined) stderr.write(`hint: ${printableMessage(withLocalTimes(hint))}\n`);
    if (error.code === 'internal' && env.DEBUG) stderr.write(`${(error.cause as Error)?.stack ?? ''}\n`);
    return exitCode(error.code);
  }
}

async function dispatch(argv: readonly string[], around: Surroundings): Promise<number> {
  const { cwd, env, stdout, stderr } = around;
  const words = argv.slice(0, 2).filter((word) => !word.startsWith('-'));
  const [first] = words;
  if (argv[0] === '--version' || argv[0] === '-v') {
    stdout.write(`${version}\n`);
    return 0;
  }
  const asksHelp = argv.some((word) => word === '--help' || word === '-h');
  // `svc` alone is the dashboard, also with options of it. Without a terminal that is an error, said below a summary.
  if (!asksHelp && argv.every((word) => word.startsWith('-'))) {
    const { canShowDashboard } = await import('./commands/dash.ts');
    if (argv.length === 0 && !canShowDashboard(around)) stdout.write(renderSummary());
    return dispatch(['dash', ...argv], around);
  }
  if (first === undefined || first === 'help') {
    const rest = argv.filter((word) => word !== 'help' && !word.startsWith('-'));
    if (rest.length > 0) return help(rest, around);
    const isAsked = first === 'help' || asksHelp;
    (isAsked ? stdout : stderr).write(renderOverview(await loadCommandGroups()));
    return isAsked ? 0 : EXIT.usage;
  }
  if (asksHelp) return help(argv, around);
  const found = await findCommand(words);
  if (!found) throw await unknownCommand(words);
  const { command, taken } = found;
  const { args, flags, json } = await parseArguments(command, argv.slice(taken));

  let client: Promise<EngineClient> | undefined;
  const context: Context = {
    ...around,
    args,
    arg(index) {
      const value = args[index];
      if (value === undefined) throw new SvcError('usage', `${command.name} lacks an argument`);
      return value;
    },
    flags: flags as never,
    json,
    commands: allCommands,
    engine({ start = true, ...limits } = {}) {
      client ??= connect({
        cwd,
        env,
        signal: around.signal,
        ...limits,
        ...(start ? { daemon: daemonCommand() } : {}),
      });
      return client;
    },
    result(value, text) {
      const shown = (): string => (stdout.isTTY ? printable(text(value), { lines: true }) : text(value));
      const out = json ? printableJson(value, 2) : shown();
      if (out !== '') stdout.write(`${out}\n`);
    },
    note(line) {
      if (!json) stderr.write(`${printable(line, { lines: true })}\n`);
    },
  };
  try {
    return (await command.run(context)) ?? 0;
  } finally {
    (await client?.catch(() => undefined))?.close();
  }
}

async function help(argv: readonly string[], around: Surroundings): Promise<number> {
  const { stdout } = around;
  const given = argv.filter((word) => !word.startsWith('-'));
  const words = given.slice(0, 2);
  const found = await findCommand(words);
  const instead = found?.command.helpWith?.(given.slice(found.taken));
  if (instead) return dispatch(instead, around);
  if (found) {
    const { name } = found.command;
    const below = (await allCommands()).filter((each) => each.name.startsWith(`${name} `) && !each.hidden);
    stdout.write(renderCommandHelp(found.command, below));
    return 0;
  }
  const group = (await allCommands()).filter((each) => each.name.startsWith(`${words[0]} `));
  if (group.length === 0) {
    const aboutCode = words.length === 1 ? await renderCodeHelp(words[0] ?? '') : null;
    if (aboutCode === null) throw await unknownCommand(words);
    stdout.write(aboutCode);
    return 0;
  }
  stdout.write(renderFirstWordHelp(words[0] ?? '', group));
  return 0;
}

async function unknownCommand(words: readonly string[]): Promise<SvcError> {
  const [first = ''] = words;
  if (FIRST_WORDS.includes(first)) {
    const names = (await allCommands())
      .map((each) => each.name)
      .filter((name) => name.startsWith(`${first} `));
    return new SvcError(
      'usage',
      words.length > 1 ? `no command svc ${words.join(' ')}` : `svc ${first} needs a word more`,
      {
        hint: `one of: ${names.map((name) => `svc ${name}`).join(', ')}`,
      },
    );
  }
  const { nearest } = await nearWords();
  const close = nearest(first, FIRST_WORDS);
  return new SvcError('usage', `no command svc ${first}`, {
    hint: close === undefined ? 'svc help lists the commands' : `did you mean svc ${close}?`,
  });
}
