import { EXIT, SvcError } from '../../../engine/core/base/errors.ts';
import { quoteForShell, toPrintable } from '../../../engine/core/base/text.ts';
import type { Api, EngineClient } from '../../../engine/index.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { followLog } from '../../sessions/follow-log.ts';
import { defineSessionArgument } from '../../sessions/session-argument.ts';

type CommandState = Api['worktree.run']['output'];

const flags = {
  stop: { type: 'boolean', about: 'stop it instead' },
} as const;

/** Shows the output of a running command until it ends, or stops it when the person interrupts. */
async function attachToCommand(
  context: CommandContext<typeof flags>,
  client: EngineClient,
  session: string,
  { name, port, log_from: from }: CommandState,
): Promise<number> {
  const where = port === null ? '' : `, on http://localhost:${port} if it uses SVC_PORT`;
  context.note(toPrintable(`${name} runs in the worktree of ${session}${where}; Ctrl-C stops it`));
  await followLog(context, client, session, { from, command: name });
  if (context.signal.aborted) {
    await client.call('worktree.stop_command', { session, name });
    context.note(toPrintable(`${name} is stopped`));
    return 0;
  }
  const state = await findState(client, session, name);
  return state?.exit_code === 0 ? 0 : EXIT.failure;
}

const findState = async (
  client: EngineClient,
  session: string,
  name: string,
): Promise<CommandState | undefined> =>
  (await client.call('worktree.commands', { session })).find((each) => each.name === name);

/** Stops a command, by default the only running one. */
async function stopCommand(
  context: CommandContext<typeof flags>,
  client: EngineClient,
  session: string,
  wanted: string | undefined,
): Promise<number> {
  const running = (await client.call('worktree.commands', { session })).filter(
    ({ state }) => state === 'running',
  );
  const [only] = running;
  if (wanted === undefined && running.length > 1)
    throw new SvcError('usage', `several commands run: ${running.map(({ name }) => name).join(', ')}`, {
      hint: `svc worktree run ${quoteForShell(session)} ${only?.name} --stop`,
    });
  const name = wanted ?? only?.name;
  const stopped = name === undefined ? null : await client.call('worktree.stop_command', { session, name });
  context.result(stopped, () =>
    toPrintable(
      stopped === null
        ? name === undefined
          ? 'no command runs'
          : `${name} does not run`
        : `${stopped.name} is stopped`,
    ),
  );
  return 0;
}

export const runCommandInWorktree = defineCommand({
  name: 'worktree run',
  about: "run a command of the project in a session's worktree, such as its dev server, until Ctrl-C",
  args: [
    ...defineSessionArgument('session'),
    { name: 'name', about: 'one of run in projects (the only one)', optional: true },
  ],
  flags,
  examples: ['worktree run s-12', 'worktree run s-12 dev', 'worktree run s-12 dev --stop'],
  async run(context) {
    const { args, flags: given } = context;
    const client = await context.engine();
    const { session_id: session } = await client.call('session.show', { session: context.arg(0) });
    const name = args[1];
    if (given.stop) return stopCommand(context, client, session, name);
    const state = await client.call('worktree.run', { session, ...(name === undefined ? {} : { name }) });
    if (!context.json) return attachToCommand(context, client, session, state);
    // A script gets the port at once, and stops it by --stop.
    context.result(state, () => state.name);
    return 0;
  },
});
