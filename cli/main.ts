import {
  asSvcError,
  connectToEngine,
  type EngineClient,
  EXIT,
  localizeTimes,
  nearWords,
  renderWords,
  SvcError,
  toExitCode,
  toPrintable,
  toPrintableJson,
  toPrintableMessage,
  version,
} from '../engine/index.ts';
import { FIRST_WORDS, findCommand, loadCommandGroups, loadCommands } from './catalogue.ts';
import type { Context } from './command.ts';
import {
  renderCodeHelp,
  renderCommandHelp,
  renderFirstWordHelp,
  renderOverview,
  renderSummary,
} from './help.ts';
import { parseArguments } from './parse.ts';
import { getDaemonCommand } from './self.ts';

/** The surroundings of a command line: those of its process, or what another caller passes in. */
export type Surroundings = Pick<Context, 'cwd' | 'env' | 'stdin' | 'stdout' | 'stderr' | 'signal'>;

/** Runs one command line and returns its exit code. */
export async function main(argv: readonly string[], around: Surroundings): Promise<number> {
  const { env, stdout, stderr } = around;
  const isJson = argv.includes('--json');
  try {
    return await runCommandLine(argv, around);
  } catch (thrown) {
    const error = asSvcError(thrown);
    // `svc tool` speaks of tools.
    const reader = argv[0] === 'tool' ? 'tools' : 'commands';
    const hint = error.hint === undefined ? undefined : renderWords(error.hint, reader);
    if (isJson) {
      const { code, message, data } = error;
      stdout.write(`${toPrintableJson({ error: { code, message, hint: hint ?? null, data } })}\n`);
    }
    stderr.write(`error: ${toPrintableMessage(localizeTimes(error.message))}\n`);
    if (hint !== undefined) stderr.write(`hint: ${toPrintableMessage(localizeTimes(hint))}\n`);
    if (error.code === 'internal' && env.DEBUG) stderr.write(`${(error.cause as Error)?.stack ?? ''}\n`);
    return toExitCode(error.code);
  }
}

async function runCommandLine(argv: readonly string[], around: Surroundings): Promise<number> {
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
    return runCommandLine(['dash', ...argv], around);
  }
  if (first === undefined || first === 'help') {
    const rest = argv.filter((word) => word !== 'help' && !word.startsWith('-'));
    if (rest.length > 0) return printHelp(rest, around);
    const isAsked = first === 'help' || asksHelp;
    (isAsked ? stdout : stderr).write(renderOverview(await loadCommandGroups()));
    return isAsked ? 0 : EXIT.usage;
  }
  if (asksHelp) return printHelp(argv, around);
  const found = await findCommand(words);
  if (!found) throw await createUnknownCommandError(words);
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
    loadCommands,
    engine({ start = true, ...limits } = {}) {
      client ??= connectToEngine({
        cwd,
        env,
        signal: around.signal,
        ...limits,
        ...(start ? { daemon: getDaemonCommand() } : {}),
      }).catch((error: unknown) => {
        // Who may start one asks again.
        client = undefined;
        throw error;
      });
      return client;
    },
    result(value, text) {
      const shown = (): string => (stdout.isTTY ? toPrintable(text(value), { lines: true }) : text(value));
      const out = json ? toPrintableJson(value, 2) : shown();
      if (out !== '') stdout.write(`${out}\n`);
    },
    note(line) {
      if (!json) stderr.write(`${toPrintable(line, { lines: true })}\n`);
    },
  };
  try {
    return (await command.run(context)) ?? 0;
  } finally {
    (await client?.catch(() => undefined))?.close();
  }
}

async function printHelp(argv: readonly string[], around: Surroundings): Promise<number> {
  const { stdout } = around;
  const given = argv.filter((word) => !word.startsWith('-'));
  const words = given.slice(0, 2);
  const found = await findCommand(words);
  const instead = found?.command.helpWith?.(given.slice(found.taken));
  if (instead) return runCommandLine(instead, around);
  if (found) {
    const { name } = found.command;
    const below = (await loadCommands()).filter((each) => each.name.startsWith(`${name} `) && !each.hidden);
    stdout.write(renderCommandHelp(found.command, below));
    return 0;
  }
  const group = (await loadCommands()).filter((each) => each.name.startsWith(`${words[0]} `));
  if (group.length === 0) {
    const aboutCode = words.length === 1 ? await renderCodeHelp(words[0] ?? '') : null;
    if (aboutCode === null) throw await createUnknownCommandError(words);
    stdout.write(aboutCode);
    return 0;
  }
  stdout.write(renderFirstWordHelp(words[0] ?? '', group));
  return 0;
}

async function createUnknownCommandError(words: readonly string[]): Promise<SvcError> {
  const [first = ''] = words;
  if (FIRST_WORDS.includes(first)) {
    const names = (await loadCommands())
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
  const { findNearest } = await nearWords();
  const close = findNearest(first, FIRST_WORDS);
  return new SvcError('usage', `no command svc ${first}`, {
    hint: close === undefined ? 'svc help lists the commands' : `did you mean svc ${close}?`,
  });
}
