import { quoteForShell } from '../../engine/core/base/text.ts';
import { agentPrograms, type GatewayRoute } from '../../engine/index.ts';
import { findClient, isInstalled } from '../clients/install.ts';
import type { CommandContext } from '../command.ts';
import { findMcpCommand } from '../self.ts';
import { findFreePort } from './foreground.ts';

/** An agent opened for a person, and its changes to the person's environment. */
export interface AgentStart {
  preset: string;
  argv: string[];
  /** Added to the environment. */
  env: Record<string, string>;
  /** Removed from the environment. */
  unset: string[];
  /** run: gets svc's tools for this run; installed: has them by its own configuration; none: has no tools. */
  mcp: 'run' | 'installed' | 'none';
}

/** Variables that would make the person's own agent pass for a worker, or for the wrong one. */
export const OF_WORKERS = [
  'SVC_SESSION',
  'SVC_TASK',
  'SVC_ROLE',
  'SVC_NAME',
  'SVC_SESSION_NAME',
  'SVC_RUN_ID',
];

/** Additions to the agent's command. */
export interface StartWish {
  /** The agent's conversation to resume. */
  agentSession?: string | null;
  /** False if it will find no engine, so that the tools would be useless. */
  reachesEngine?: boolean;
  /** The route of its model calls, and the folder for the files that configure it; null for its own login. */
  routed?: { gateway: GatewayRoute; folder: string } | null;
}

type KnownPreset = NonNullable<ReturnType<Awaited<ReturnType<typeof agentPrograms>>['findPreset']>>;
type RunWish = Parameters<KnownPreset['setUpRun']>[0];

/** Sets up a person's own agent for a route, and writes the files that it needs into `folder`, below `top`. */
export async function setUpRoute(
  preset: KnownPreset,
  {
    gateway,
    folder,
    top = folder,
    env,
    mcp = null,
  }: { gateway: GatewayRoute; folder: string; top?: string; env: NodeJS.ProcessEnv; mcp?: RunWish['mcp'] },
): Promise<ReturnType<KnownPreset['setUpRun']>> {
  const { writeFreshFile } = await agentPrograms();
  const setup = preset.setUpRun({ mcp, gateway, hooks: null, folder, env, isAttended: true });
  for (const { path, text } of setup.files) await writeFreshFile(top, path, text);
  return setup;
}

/** Prepares the start of an agent from its preset. Writes the files that a route needs. */
export async function prepareStart(
  preset: string,
  template: string,
  { cwd, env }: Pick<CommandContext, 'cwd' | 'env'>,
  { agentSession = null, reachesEngine = true, routed = null }: StartWish = {},
): Promise<AgentStart> {
  const { findPreset, renderCommand, withArguments } = await agentPrograms();
  const own: Record<string, string> = { SVC_AGENT: preset };
  const port = template.includes('{{notify_port}}') ? String(await findFreePort()) : '';
  if (port !== '') own.SVC_NOTIFY_URL = `http://127.0.0.1:${port}`;
  const rendered = renderCommand(template, { notify_port: port }).argv;
  const { command, args } = await findMcpCommand({ cwd, env });
  const known = findPreset(preset);
  const argv =
    agentSession === null ? rendered : (known?.resumeInteractive?.(rendered, agentSession) ?? rendered);
  // With their own login, some agents cannot get the tools.
  const isTold = reachesEngine && (routed !== null || known?.cannot.mcp === undefined);
  const mcp = isTold ? { command, args, env: {} } : null;
  const forRun =
    known === null || (!isTold && routed === null)
      ? null
      : routed === null
        ? known.setUpRun({ mcp, gateway: null, hooks: null, folder: cwd, env, isAttended: true })
        : await setUpRoute(known, { ...routed, mcp, env });
  const client = forRun === null && reachesEngine ? await findClient(preset) : undefined;
  return {
    preset,
    argv: withArguments(argv, forRun?.args ?? []),
    env: { ...own, ...forRun?.env },
    unset: OF_WORKERS.filter((name) => env[name] !== undefined),
    mcp: forRun && isTold ? 'run' : client && (await isInstalled(client, cwd, env)) ? 'installed' : 'none',
  };
}

/** Builds the complete environment of a start. */
export function buildEnvironment(
  { env, unset }: AgentStart,
  inherited: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const given: NodeJS.ProcessEnv = { ...inherited, ...env };
  for (const name of unset) if (!Object.hasOwn(env, name)) delete given[name];
  return given;
}

/** Formats the start as a command line for a shell. */
export function formatShellLine({ argv, env, unset }: AgentStart): string {
  const without = unset.length === 0 ? [] : ['env', ...unset.flatMap((name) => ['-u', name])];
  const set = Object.entries(env).map(([name, value]) => `${name}=${quoteWord(value)}`);
  return [...without, ...set, ...argv.map(quoteWord)].join(' ');
}

/** Quotes a word for a shell, only if it needs quotes. */
export const quoteWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : quoteForShell(text);
