import { randomBytes } from 'node:crypto';
import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { agentPrograms, configuration, type EngineClient, findWorkspace } from '../../../engine/index.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { withTrialKey } from '../../gateway-trials.ts';
import { runInForeground } from '../../sessions/foreground.ts';
import {
  buildEnvironment,
  OF_WORKERS,
  prepareStart,
  quoteWord,
  setUpRoute,
} from '../../sessions/interactive.ts';

/** Finds the preset of an agent that can be sent through the gateway. Throws `unknown_agent`, `usage`. */
async function requireRoutable(agent: string) {
  const { findPreset, PRESETS } = await agentPrograms();
  const known = findPreset(agent);
  const reason = known?.cannot.gateway;
  if (known !== null && reason === undefined) return known;
  const names = PRESETS.filter(({ cannot }) => cannot.gateway === undefined).map(({ name }) => name);
  const hint = `agents that can: ${names.join(', ')}`;
  if (known === null)
    throw new SvcError(
      'unknown_agent',
      `svc does not know how to send ${JSON.stringify(agent)} through the gateway`,
      {
        hint,
      },
    );
  throw new SvcError('usage', `${agent} cannot be sent through the gateway, because ${reason}`, { hint });
}

export const gatewayRun = defineCommand({
  name: 'gateway run',
  about: 'run your own agent through the gateway with a temporary key',
  args: [
    { name: 'agent', about: 'which agent', completes: 'agent' },
    {
      name: 'words',
      about: 'more arguments for the agent, options too; put -- before them to pass --help',
      optional: true,
      rest: true,
      foreign: true,
    },
  ],
  examples: ['gateway run claude', 'gateway run codex exec "say hello"', 'gateway run claude -- --help'],
  async run(context) {
    const { cwd, env } = context;
    const [agent = '', ...words] = context.args;
    const { file } = findWorkspace({ cwd, env });
    const { agents } = (await configuration()).loadConfig({ file, env }).config;
    await requireRoutable(agent);
    const template = agents.interactive[agent];
    if (template === undefined)
      throw new SvcError('unknown_agent', `no interactive command is configured for ${agent}`, {
        hint: 'add one under agents.interactive',
      });
    const client = await context.engine();
    const route = await client.call('gateway.serve', {});
    const folder = mkdtempSync(join(tmpdir(), 'svc-gateway-'));
    try {
      return await withTrialKey(client, agent, async (key) => {
        const routed = { gateway: { ...route, key }, folder };
        const command = await chooseCommand(agent, template, words);
        const start = await prepareStart(agent, command, context, { reachesEngine: false, routed });
        return runInForeground({
          argv: [...start.argv, ...words],
          cwd,
          env: buildEnvironment(start, env),
          isTerminal: context.stdin.isTTY === true,
        });
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

/** Leaves out the options of the agent's own screen, if the words are another command of the agent. */
async function chooseCommand(agent: string, template: string, words: readonly string[]): Promise<string> {
  const [first = '-'] = words;
  const isScreen = first.startsWith('-');
  if (isScreen || (await agentPrograms()).findPreset(agent)?.interactive !== template) return template;
  return template.replace(/ -.*$/, '');
}

/** Folders of agents that a shell was configured for, by the name of their key. */
const ROUTE_FOLDER = 'gateway-env';

/** Removes the files that configured a shell's agent, when its key ends. */
export function removeRouteFiles({ welcome }: EngineClient, name: string): void {
  const top = join(welcome.data, ROUTE_FOLDER);
  if (lstatSync(top, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  rmSync(join(top, name), { recursive: true, force: true });
}

/** The settings for a shell: variables, and options that it adds to one program. */
interface ShellRoute {
  program: string;
  unset: readonly string[];
  env: Readonly<Record<string, string>>;
  args: readonly string[];
}

function formatPosixRoute({ program, unset, env, args }: ShellRoute): string {
  const lines = [
    ...(unset.length === 0 ? [] : [`unset ${unset.join(' ')}`]),
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoteWord(value)}`),
  ];
  if (args.length > 0)
    lines.push(`${program}() { command ${[program, ...args.map(quoteWord)].join(' ')} "$@"; }`);
  return lines.join('\n');
}

const quoteForFish = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;

function formatFishRoute({ program, unset, env, args }: ShellRoute): string {
  const lines = [
    ...unset.map((name) => `set -e ${name}`),
    ...Object.entries(env).map(([name, value]) => `set -gx ${name} ${quoteForFish(value)}`),
  ];
  if (args.length > 0)
    lines.push(`function ${program}; command ${[program, ...args.map(quoteForFish)].join(' ')} $argv; end`);
  return lines.join('\n');
}

const SHELLS = { posix: formatPosixRoute, fish: formatFishRoute } as const;

export const gatewayEnv = defineCommand({
  name: 'gateway env',
  about: 'print shell code that sends an agent through the gateway, with your own key',
  args: [{ name: 'agent', about: 'which agent', completes: 'agent' }],
  flags: {
    name: {
      type: 'string',
      about: 'name of the key, valid until svc gateway keys remove (the agent and a number)',
    },
    shell: {
      type: 'string',
      about: 'posix for sh, bash and zsh (posix); --json for others',
      choices: ['posix', 'fish'],
    },
  },
  examples: ['gateway env claude', 'gateway env codex --shell fish', 'gateway env qwen --name laptop --json'],
  async run(context) {
    const { env, flags } = context;
    const agent = context.arg(0);
    const known = await requireRoutable(agent);
    const client = await context.engine();
    const route = await client.call('gateway.serve', {});
    const { name, key } = await client.call('gateway.add_key', {
      name: flags.name ?? `${agent}-${randomBytes(4).toString('hex')}`,
    });
    const { data } = client.welcome;
    const folder = join(data, ROUTE_FOLDER, name);
    const setup = await setUpRoute(known, { gateway: { ...route, key }, folder, top: data, env });
    const told = {
      program: known.programs[0] ?? agent,
      unset: OF_WORKERS.filter((each) => env[each] !== undefined),
      env: setup.env,
      args: setup.args,
    };
    const { shell = 'posix' } = flags;
    context.result({ agent, key: name, ...told, files: setup.files.map(({ path }) => path) }, () =>
      SHELLS[shell as keyof typeof SHELLS](told),
    );
    explainRoute(context, {
      name,
      program: told.program,
      hasArgs: told.args.length > 0,
      hasFiles: setup.files.length > 0,
      hasOwnHome: known.hasRoutedHome === true,
    });
  },
});

/** Explains on stderr what the output is, and what variables alone cannot do. */
function explainRoute(
  { env, flags, note, stdout }: CommandContext<NonNullable<(typeof gatewayEnv)['flags']>>,
  {
    name,
    program,
    hasArgs,
    hasFiles,
    hasOwnHome,
  }: { name: string; program: string; hasArgs: boolean; hasFiles: boolean; hasOwnHome: boolean },
): void {
  const shell = basename(env.SHELL ?? '');
  if (stdout.isTTY)
    note(
      flags.shell === 'fish'
        ? `svc gateway env ${program} --shell fish | source sets it in this shell`
        : `eval "$(svc gateway env ${program})" sets it in this shell`,
    );
  if (flags.shell === undefined && shell !== '' && !/^(?:sh|bash|zsh|dash|ksh|ash)$/.test(shell))
    note(
      `this output is for sh, bash and zsh, not for ${shell}: use --shell fish for fish, --json for all others`,
    );
  if (hasArgs)
    note(
      `${program} also needs options, so this defines a function with that name in this shell; svc gateway run ${program} needs none`,
    );
  if (hasOwnHome)
    note(`${program} keeps separate settings and conversations there, apart from your own login`);
  if (hasFiles) note(`it reads files in the data folder, which svc gateway keys remove ${name} removes`);
  note(`the key ${name} is valid until svc gateway keys remove ${name}`);
}
