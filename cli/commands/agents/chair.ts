import { SvcError } from '../../../engine/core/base/errors.ts';
import { agentPrograms, configuration, findWorkspace, nearWords } from '../../../engine/index.ts';
import { findClient } from '../../clients/install.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { runInForeground } from '../../sessions/foreground.ts';
import { buildEnvironment, formatShellLine, prepareStart } from '../../sessions/interactive.ts';

/** `svc chair`: opens the person's own agent, with the person's rights. */
export const chairCommand: Command = defineCommand({
  name: 'chair',
  about: 'start an interactive agent in the Chair seat, here, with the tools of svc',
  args: [
    {
      name: 'preset',
      about: 'which agent (agents.default_preset, or the first one installed)',
      optional: true,
      completes: 'agent',
    },
  ],
  flags: { print: { type: 'boolean', about: 'only print what would be started' } },
  examples: ['chair', 'chair claude', 'chair codex --print'],
  async run(context) {
    const { cwd, env, note, signal } = context;
    const { file, root } = findWorkspace({ cwd, env });
    const { agents } = (await configuration()).loadConfig({ file, env }).config;
    const preset = await choosePreset(context.args[0], agents, context);
    const start = await prepareStart(preset, agents.interactive[preset]!, context);
    if (context.flags.print) {
      context.result(start, formatShellLine);
      if (start.mcp === 'none') note(await describeInstall(preset, cwd === root));
      return;
    }
    // Printed before the agent takes over the screen.
    const client = await context.engine();
    const { seat } = client.welcome;
    client.close();
    if (seat !== 'chair') {
      throw new SvcError('chair_only', `svc chair is for the Chair seat; this call has the ${seat} seat`, {
        hint: env.SVC_SESSION ? 'unset SVC_SESSION' : 'run it in your own terminal',
      });
    }
    if (start.mcp === 'none') note(await describeInstall(preset, cwd === root));
    if (signal.aborted) return 130;
    return runInForeground({
      argv: start.argv,
      cwd,
      env: buildEnvironment(start, env),
      isTerminal: context.stdin.isTTY === true,
    });
  },
});

type Agents = { default_preset: string; interactive: Readonly<Record<string, string>> };
type Where = Pick<CommandContext, 'cwd' | 'env'>;

/** Chooses the preset: the requested one, the default, or the first whose program is installed. */
async function choosePreset(asked: string | undefined, agents: Agents, { cwd, env }: Where): Promise<string> {
  const { detectAgents } = await agentPrograms();
  const { interactive, default_preset } = agents;
  const isPreset = (name: string): boolean => Object.hasOwn(interactive, name);
  if (asked !== undefined && !isPreset(asked)) {
    const { findNearest } = await nearWords();
    const close = findNearest(asked, Object.keys(interactive));
    throw new SvcError('unknown_agent', `no interactive command is configured for ${JSON.stringify(asked)}`, {
      hint:
        close === undefined
          ? 'svc agents lists them; agents.interactive adds one'
          : `did you mean svc chair ${close}?`,
    });
  }
  const wanted = asked ?? (isPreset(default_preset) ? default_preset : undefined);
  const installed = detectAgents(
    wanted === undefined ? interactive : { [wanted]: interactive[wanted]! },
    env,
    cwd,
  );
  const [found] = installed;
  if (found) return found.preset;
  throw new SvcError(
    'agent_not_found',
    wanted === undefined
      ? 'no interactive agent is installed'
      : `the program of ${wanted} is not on the path`,
    {
      hint:
        wanted === undefined
          ? 'svc agents lists the known agents'
          : 'install it, or name another: svc agents',
    },
  );
}

async function describeInstall(preset: string, isRoot: boolean): Promise<string> {
  const client = await findClient(preset);
  if (client === undefined) {
    return `note: svc cannot pass its tools to ${preset}; add svc mcp to its configuration, as a server on standard input and output`;
  }
  const isFoundHere = isRoot || client.project?.upward !== false;
  return `note: ${preset} has no tools of svc here; svc mcp install ${preset}${isFoundHere ? '' : ' --user'} adds them`;
}
