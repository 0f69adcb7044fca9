import { connectToEngine, SvcError, toPrintable } from '../../engine/index.ts';
import type { DashboardOptions } from '../../tui/index.ts';
import { type Context, defineCommand } from '../command.ts';
import { getDaemonCommand, getSvcCommand } from '../self.ts';

/** Opens the dashboard of a workspace and stays until the person leaves it. */
export async function showDashboard(
  context: Pick<Context, 'stdin' | 'stdout' | 'stderr' | 'signal'>,
  options: { cwd: string; env: NodeJS.ProcessEnv } & Partial<
    Pick<DashboardOptions, 'plain' | 'bell' | 'select'>
  >,
): Promise<readonly string[]> {
  // Variables that the dashboard sets for its libraries must not reach an engine that it starts.
  const env = { ...options.env };
  const { stdin, stdout, stderr, signal } = context;
  const { openDashboard } = await import('../../tui/index.ts');
  const { farewell } = await openDashboard({
    env,
    cwd: options.cwd,
    svc: getSvcCommand(),
    stdin,
    stdout,
    stderr,
    signal,
    plain: options.plain ?? false,
    bell: options.bell ?? false,
    select: options.select,
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

const isForScreenReader = (env: NodeJS.ProcessEnv): boolean => env.INK_SCREEN_READER === 'true';

const hasTerminal = ({ stdin, stdout }: Pick<Context, 'stdin' | 'stdout'>): boolean =>
  Boolean(stdin.isTTY && stdout.isTTY);

/** Whether `svc dash` without options finds what it needs. */
export const canShowDashboard = (context: Pick<Context, 'stdin' | 'stdout' | 'env'>): boolean =>
  isForScreenReader(context.env) || hasTerminal(context);

export const dashCommand = defineCommand({
  name: 'dash',
  about: 'open the dashboard; svc alone, or with these options alone, does the same',
  flags: {
    plain: { type: 'boolean', about: 'no borders and no screen of its own: changes are appended as lines' },
    bell: { type: 'boolean', about: 'ring when something new waits for you' },
  },
  examples: ['dash', 'dash --plain > svc.log'],
  async run(context) {
    const plain = context.flags.plain || isForScreenReader(context.env);
    if (!plain && !hasTerminal(context)) throw createNoTerminalError();
    const farewell = await showDashboard(context, {
      cwd: context.cwd,
      env: context.env,
      plain,
      bell: context.flags.bell,
    });
    for (const line of farewell) context.stdout.write(`${toPrintable(line)}\n`);
    context.note('the engine goes on; svc down stops it');
  },
});

const createNoTerminalError = (): SvcError =>
  new SvcError('usage', 'the dashboard needs a terminal', {
    hint: 'without one: svc status, svc task list, svc decision list, svc decision approve, svc task log, or svc dash --plain',
  });
