import { sep } from 'node:path';
import { asSvcError, EXIT, SvcError, toExitCode } from '../engine/core/base/errors.ts';
import { version } from '../engine/core/base/own-package.ts';
import { localizeTimes, toPrintableJson, toPrintableMessage } from '../engine/core/base/text.ts';
import {
  agentPrograms,
  connectToEngine,
  type EngineClient,
  nearWords,
  renderWords,
  type SentenceReader,
} from '../engine/index.ts';
import { FIRST_WORDS, findCommand, loadCommandGroups, loadCommands, suggestCommand } from './catalogue.ts';
import type { Command, CommandContext } from './command.ts';
import {
  renderCodeHelp,
  renderCommandHelp,
  renderEverything,
  renderFirstWordHelp,
  renderGroup,
  renderOverview,
  renderSummary,
} from './help.ts';
import { type ColorWhen, createOutput } from './output.ts';
import { parseArguments } from './parse.ts';
import { getDaemonCommand } from './self.ts';

/** The environment of a command line: of its process, or passed in by a caller. */
export type CliEnvironment = Pick<CommandContext, 'cwd' | 'env' | 'stdin' | 'stdout' | 'stderr' | 'signal'>;

/** Runs one command line and returns its exit code. */
export async function main(argv: readonly string[], around: CliEnvironment): Promise<number> {
  const isJson = takeOwnWords(argv).includes('--json');
  try {
    return await runCommandLine(argv, around);
  } catch (thrown) {
    // `svc tool` refers to tools.
    const { error, code } = await reportError(thrown, argv[0] === 'tool' ? 'tools' : 'commands', around);
    if (isJson) around.stdout.write(`${toPrintableJson({ error })}\n`);
    return code;
  }
}

/** Adds to the hint of a missing program that this command would find it: the engine keeps the PATH of its start. */
async function findPathHint({ data }: SvcError, env: NodeJS.ProcessEnv): Promise<string | null> {
  const programs = [data.program, data.programs].flat().filter((each) => typeof each === 'string');
  if (programs.length === 0) return null;
  const { findProgram } = await agentPrograms();
  const program = programs.find((each) => findProgram(each, { cwd: sep, path: env.PATH }) !== undefined);
  return program === undefined
    ? null
    : `${program} is on your PATH, but not on the engine’s: svc down, then svc up; workers continue`;
}

/** Prints an error on stderr, and returns it as JSON, with the exit code. */
async function reportError(thrown: unknown, reader: SentenceReader, { env, stderr }: CliEnvironment) {
  const error = asSvcError(thrown);
  const { code, message, data, cause, hint: words } = error;
  const isMissing = code === 'tool_missing' || code === 'agent_not_found';
  const pathHint = isMissing ? await findPathHint(error, env) : null;
  const hint = pathHint ?? (words === undefined ? null : renderWords(words, reader));
  stderr.write(`error: ${toPrintableMessage(localizeTimes(message))}\n`);
  if (hint !== null) stderr.write(`hint: ${toPrintableMessage(localizeTimes(hint))}\n`);
  if (code === 'internal' && env.DEBUG) stderr.write(`${(cause as Error)?.stack ?? ''}\n`);
  return { error: { code, message, hint, data }, code: toExitCode(code) };
}

/** Runs `svc` without arguments where it is more than the dashboard; null elsewhere. */
async function runAlone(around: CliEnvironment): Promise<number | null> {
  const { introduceSvc } = await import('./commands/start/alone.ts');
  const code = await introduceSvc(around, (words) => runCommandLine(words, around));
  if (code !== null) return code;
  const { canShowDashboard } = await import('./commands/start/dash.ts');
  // The error of the dashboard follows.
  if (!canShowDashboard(around)) around.stdout.write(renderSummary());
  return null;
}

async function runCommandLine(argv: readonly string[], around: CliEnvironment): Promise<number> {
  const { cwd, env, stdout, stderr } = around;
  const words = argv.slice(0, 2).filter((word) => !word.startsWith('-'));
  const [first] = words;
  if (['--version', '-v', '-V', 'version'].includes(argv[0] ?? '')) {
    stdout.write(`${version}\n`);
    return 0;
  }
  const asksHelp = takeOwnWords(argv).some((word) => word === '--help' || word === '-h');
  // `svc` alone is the dashboard, also with its options.
  if (!asksHelp && argv.every((word) => word.startsWith('-')))
    return (argv.length === 0 ? await runAlone(around) : null) ?? runCommandLine(['dash', ...argv], around);
  if (first === undefined || first === 'help') {
    const rest = argv.filter((word) => word !== 'help' && !word.startsWith('-'));
    if (rest.length > 0) return printHelp(rest, around);
    const isAsked = first === 'help' || asksHelp;
    const render = isAsked && argv.includes('--all') ? renderEverything : renderOverview;
    (isAsked ? stdout : stderr).write(render(await loadCommandGroups()));
    return isAsked ? 0 : EXIT.usage;
  }
  if (asksHelp) return printHelp(argv, around);
  const found = await findCommand(words);
  if (!found) throw await createUnknownCommandError(words);
  const { command, taken } = found;
  const { args, flags, json } = await parseArguments(command, argv.slice(taken));

  const output = createOutput({
    around,
    json,
    color: readColorFlag(command, flags),
    isFollowing: flags.follow === true,
  });
  let client: Promise<EngineClient> | undefined;
  const context: CommandContext = {
    ...around,
    args,
    arg(index) {
      const value = args[index];
      if (value === undefined) throw new SvcError('usage', `svc ${command.name}: missing argument`);
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
        // The engine's start asks again.
        client = undefined;
        throw error;
      });
      return client;
    },
    result: output.result,
    note: output.note,
    remark: output.remark,
    paint: output.paint,
  };
  try {
    if (command.repeats && args.length > 1) return await runForEach(command, context, around);
    return (await command.run(context)) ?? 0;
  } finally {
    (await client?.catch(() => undefined))?.close();
    await output.flush();
  }
}

/** The value of `--color`; null for a command without it, whose output is neither coloured nor paged. */
const readColorFlag = (command: Command, flags: Record<string, unknown>): ColorWhen | null =>
  command.flags?.color === undefined ? null : ((flags.color as ColorWhen | undefined) ?? 'auto');

/** svc does not read words after `--`. */
const takeOwnWords = (argv: readonly string[]): readonly string[] =>
  argv.includes('--') ? argv.slice(0, argv.indexOf('--')) : argv;

/** Runs a command for each argument in turn. Returns the exit code of the first failure. */
async function runForEach(
  command: Command,
  context: CommandContext,
  around: CliEnvironment,
): Promise<number> {
  const results: unknown[] = [];
  let exitCode = 0;
  for (const argument of context.args) {
    try {
      const code = await command.run({
        ...context,
        args: [argument],
        arg: () => argument,
        result: (value, text) => (context.json ? results.push(value) : context.result(value, text)),
      });
      exitCode ||= code ?? 0;
    } catch (thrown) {
      const { error, code } = await reportError(thrown, 'commands', around);
      results.push({ argument, error });
      exitCode ||= code;
    }
    if (around.signal.aborted) break;
  }
  if (context.json) context.result(results, String);
  return exitCode;
}

async function printHelp(argv: readonly string[], around: CliEnvironment): Promise<number> {
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
    const titled = (await loadCommandGroups()).find(({ title }) => title === words.join(' '));
    if (titled !== undefined) {
      stdout.write(renderGroup(titled));
      return 0;
    }
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
    const { findNearest } = await nearWords();
    const close = findNearest(words.join(' '), names);
    return new SvcError(
      'usage',
      words.length > 1 ? `no command svc ${words.join(' ')}` : `svc ${first}: missing subcommand`,
      {
        hint:
          close === undefined || words.length === 1
            ? `one of: ${names.map((name) => `svc ${name}`).join(', ')}`
            : `did you mean svc ${close}?`,
      },
    );
  }
  return new SvcError('usage', `no command svc ${first}`, {
    hint: (await suggestCommand(first)) ?? 'svc help lists the commands',
  });
}
