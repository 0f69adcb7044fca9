import { SvcError } from '../../../engine/core/base/errors.ts';
import { toPrintable } from '../../../engine/core/base/text.ts';
import { connectToEngine, findWorkspace, machineWorkspaces } from '../../../engine/index.ts';
import type { DashboardOptions } from '../../../tui/index.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { getDaemonCommand, getSvcCommand } from '../../self.ts';

/** Opens the dashboard of a workspace and stays until the person leaves it. */
export async function openDashboardOf(
  context: Pick<CommandContext, 'stdin' | 'stdout' | 'stderr' | 'signal'>,
  options: { cwd: string; env: NodeJS.ProcessEnv } & Partial<
    Pick<DashboardOptions, 'plain' | 'bell' | 'select' | 'firstTask'>
  >,
): Promise<readonly string[]> {
  // Variables that the dashboard sets for its libraries must not reach an engine that it starts.
  const env = { ...options.env };
  const { stdin, stdout, stderr, signal } = context;
  const { openDashboard } = await import('../../../tui/index.ts');
  const { farewell } = await openDashboard({
    env,
    cwd: options.cwd,
    svc: getSvcCommand(),
    stdin,
    stdout,
    stderr,
    signal,
    plain: options.plain ?? needsPlain(env),
    bell: options.bell ?? false,
    select: options.select,
    firstTask: options.firstTask ?? false,
    connect: (start) =>
      connectToEngine({
        cwd: options.cwd,
        env,
        via: 'tui',
        ...(start ? { daemon: getDaemonCommand() } : {}),
      }),
  });
  return farewell;
}

/** Opens the dashboard of all workspaces of this machine. Throws `not_found` when there are none. */
async function showAllDashboard(
  context: CommandContext,
  { bell }: { bell: boolean },
): Promise<readonly string[]> {
  const env = { ...context.env };
  const { findGone, placeOfWorkspace, readRegistry } = await machineWorkspaces();
  const listWorkspaces = () => readRegistry(env).workspaces.filter((each) => findGone(each) === null);
  const [first, ...others] = listWorkspaces();
  if (first === undefined)
    throw new SvcError('not_found', 'no engine has been started on this machine yet', {
      hint: 'run svc init and svc up in a repository; svc opens its dashboard',
    });
  const { stdin, stdout, stderr, signal } = context;
  const { openAllDashboard } = await import('../../../tui/index.ts');
  const { farewell } = await openAllDashboard({
    env,
    svc: getSvcCommand(),
    ...{ stdin, stdout, stderr, signal, bell },
    workspaces: [first, ...others],
    here: findHere(context),
    listWorkspaces,
    placeOf: (workspace) => placeOfWorkspace(workspace, env),
    connect: (workspace, start) =>
      connectToEngine({
        ...placeOfWorkspace(workspace, env),
        via: 'tui',
        ...(start ? { daemon: getDaemonCommand() } : {}),
      }),
  });
  return farewell;
}

/** The svc.yaml of the surrounding workspace; null outside of any. */
function findHere({ cwd, env }: Pick<CommandContext, 'cwd' | 'env'>): string | null {
  try {
    return findWorkspace({ cwd, env }).file;
  } catch {
    return null;
  }
}

/** Reports whether only lines can be shown: to a screen reader, or where the cursor cannot move, as in an editor's shell. */
const needsPlain = (env: NodeJS.ProcessEnv): boolean =>
  env.INK_SCREEN_READER === 'true' || env.TERM === 'dumb';

const hasTerminal = ({ stdin, stdout }: Pick<CommandContext, 'stdin' | 'stdout'>): boolean =>
  Boolean(stdin.isTTY && stdout.isTTY);

/** Reports whether `svc dash` without options finds what it needs. */
export const canShowDashboard = (context: Pick<CommandContext, 'stdin' | 'stdout' | 'env'>): boolean =>
  context.env.INK_SCREEN_READER === 'true' || hasTerminal(context);

export const dashCommand = defineCommand({
  name: 'dash',
  about: 'open the dashboard; svc without a command does the same',
  flags: {
    plain: { type: 'boolean', about: 'no borders and no full screen: changes are appended as lines' },
    bell: { type: 'boolean', about: 'ring the bell when something new waits for you' },
    all: { type: 'boolean', about: 'show all workspaces of this machine; starts no engine' },
  },
  examples: ['dash', 'dash --all', 'dash --plain > svc.log'],
  async run(context) {
    const { all, bell } = context.flags;
    const { env } = context;
    const plain = context.flags.plain || needsPlain(env);
    if (all && plain)
      throw new SvcError('usage', 'svc dash --all cannot print lines', {
        hint: 'svc status --all prints lines; svc dash --plain is for one workspace',
      });
    if (!context.flags.plain && !canShowDashboard(context)) throw createNoTerminalError();
    // Before any screen is drawn.
    if (!all) findWorkspace(context);
    const farewell = all
      ? await showAllDashboard(context, { bell })
      : await openDashboardOf(context, { cwd: context.cwd, env, plain, bell });
    for (const line of farewell) context.stdout.write(`${toPrintable(line)}\n`);
    context.note(all ? 'the engines keep running' : 'the engine keeps running; svc down stops it');
  },
});

const createNoTerminalError = (): SvcError =>
  new SvcError('usage', 'the dashboard needs a terminal', {
    hint: 'without one: svc status, svc ls, svc decision list, svc approve, svc log, or svc dash --plain',
  });
