import { configuration, findWorkspace, nearest, presets, SvcError, shellWord } from '../../engine/index.ts';
import { clientNamed, isInstalled } from '../clients/install.ts';
import { type Command, type Context, command } from '../command.ts';
import { mcpCommand } from '../self.ts';
import { freePort, runInForeground } from './foreground.ts';

/** What is started, and what it is given besides the environment of the person. */
interface Start {
  preset: string;
  argv: string[];
  /** Added to the environment. */
  env: Record<string, string>;
  /** Taken out of it. */
  unset: string[];
  /** run: told of the tools of svc for this run; installed: by its own configuration; none: not at all. */
  mcp: 'run' | 'installed' | 'none';
}

/** They would make the person's own agent pass for a worker, or for the wrong one. */
const OF_WORKERS = ['SVC_SESSION', 'SVC_TASK', 'SVC_ROLE', 'SVC_NAME', 'SVC_SESSION_NAME', 'SVC_RUN_ID'];

/** `svc chair`: the person's own agent, which may do what the person may. */
export const chairCommand: Command = command({
  name: 'chair',
  about: 'start an interactive agent in the Chair seat, here, with the tools of svc',
  args: [
    {
      name: 'preset',
      about: 'which agent; agents.default_preset, else the first one installed',
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
    const preset = await choose(context.args[0], agents, context);
    const start = await prepare(preset, agents.interactive[preset]!, context);
    if (context.flags.print) {
      context.result(start, shellLine);
      if (start.mcp === 'none') note(await howToInstall(preset, cwd === root));
      return;
    }
    // Before the agent covers the screen with its own.
    const client = await context.engine();
    const { seat } = client.welcome;
    client.close();
    if (seat !== 'chair') {
      throw new SvcError('chair_only', `svc chair is for the Chair seat; this call has a ${seat}'s`, {
        hint: env.SVC_SESSION ? 'unset SVC_SESSION' : 'run it in a terminal of your own',
      });
    }
    if (start.mcp === 'none') note(await howToInstall(preset, cwd === root));
    if (signal.aborted) return 130;
    const { argv, unset } = start;
    const given: NodeJS.ProcessEnv = { ...env, ...start.env };
    for (const name of unset) delete given[name];
    return runInForeground({ argv, cwd, env: given, isTerminal: context.stdin.isTTY === true });
  },
});

type Agents = { default_preset: string; interactive: Readonly<Record<string, string>> };
type Where = Pick<Context, 'cwd' | 'env'>;

/** The preset that was asked for, else the default one, else the first whose program is installed. */
async function choose(asked: string | undefined, agents: Agents, { cwd, env }: Where): Promise<string> {
  const { detectAgents } = await presets();
  const { interactive, default_preset } = agents;
  const known = (name: string): boolean => Object.hasOwn(interactive, name);
  if (asked !== undefined && !known(asked)) {
    const close = nearest(asked, Object.keys(interactive));
    throw new SvcError('unknown_agent', `there is no interactive command for ${JSON.stringify(asked)}`, {
      hint:
        close === undefined
          ? 'svc agents lists them; agents.interactive adds one'
          : `did you mean svc chair ${close}?`,
    });
  }
  const wanted = asked ?? (known(default_preset) ? default_preset : undefined);
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
          ? 'svc agents lists those that svc knows'
          : 'install it, or name another: svc agents',
    },
  );
}

async function prepare(preset: string, template: string, { cwd, env }: Where): Promise<Start> {
  const { presetNamed, renderCommand, withArguments } = await presets();
  const own: Record<string, string> = { SVC_AGENT: preset };
  const port = template.includes('{{notify_port}}') ? String(await freePort()) : '';
  if (port !== '') own.SVC_NOTIFY_URL = `http://127.0.0.1:${port}`;
  const { argv } = renderCommand(template, { notify_port: port });
  const { command, args } = await mcpCommand({ cwd, env });
  const known = presetNamed(preset);
  const forRun =
    known === null || known.cannot.mcp !== undefined
      ? null
      : known.setUp({ mcp: { command, args, env: {} }, gateway: null, hooks: null, folder: cwd, env });
  const client = forRun === null ? await clientNamed(preset) : undefined;
  return {
    preset,
    argv: withArguments(argv, forRun?.args ?? []),
    env: { ...own, ...forRun?.env },
    unset: OF_WORKERS.filter((name) => env[name] !== undefined),
    mcp: forRun ? 'run' : client && (await isInstalled(client, cwd, env)) ? 'installed' : 'none',
  };
}

/** The start as a line for a shell. */
function shellLine({ argv, env, unset }: Start): string {
  const without = unset.length === 0 ? [] : ['env', ...unset.flatMap((name) => ['-u', name])];
  const set = Object.entries(env).map(([name, value]) => `${name}=${word(value)}`);
  return [...without, ...set, ...argv.map(word)].join(' ');
}

const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : shellWord(text));

async function howToInstall(preset: string, isRoot: boolean): Promise<string> {
  const client = await clientNamed(preset);
  if (client === undefined) {
    return `note: ${preset} is not told of the tools of svc; add svc mcp to its own configuration, as a server on standard input and output`;
  }
  const isFoundHere = isRoot || client.project?.upward !== false;
  return `note: ${preset} has no tools of svc here; svc mcp install ${preset}${isFoundHere ? '' : ' --user'} adds them`;
}
