import { SvcError } from '../../core/base/errors.ts';
import type { Session } from '../sessions/index.ts';
import { type LocatedAgent, locateAgent } from './locate-agent.ts';
import { describeAbility } from './presets/ability.ts';
import { findPreset, listUntold, type Preset } from './presets/index.ts';
import type { ReadingTime } from './reading-time.ts';
import type { AgentCommand, AgentOverrides, AgentRegistry } from './registry.ts';
import { createAcpReader } from './streams/acp.ts';
import type { StreamReader } from './streams/stream.ts';
import { type RenderedCommand, renderCommand, splitCommand } from './template.ts';

/** Linux refuses one argument of 128 KiB or more; a longer prompt goes through its file. */
const MAX_ARGUMENT_BYTES = 120 * 1024;

/** The prompt of a run. */
export interface RunInput {
  text: string;
  /** The file with this text. */
  file: string;
  /** The worker's name. */
  name: string;
  /** The agent's own session to resume; null for a new one. */
  agentSession: string | null;
}

/**
 * Builds the argv of a run's command, without additions for this run only.
 * @param isArgvSeen whether other users of the machine can read our processes' arguments: a built-in command then
 * passes the prompt as a file, if its agent can read one
 */
export function buildCommand(
  command: AgentCommand,
  told: RunInput,
  { preset, at }: LocatedAgent,
  isArgvSeen: boolean,
): RenderedCommand {
  if (command.transport === 'acp') return { argv: splitCommand(command.template) };
  const isLong = Buffer.byteLength(told.text) > MAX_ARGUMENT_BYTES;
  const byFile = (isLong || isArgvSeen) && command.isBuiltIn;
  const long = byFile ? (preset?.headlessLong ?? null) : null;
  const prompt =
    isLong && long === null
      ? `Your task is in the file ${told.file}. Read all of it, then do what it says.`
      : told.text;
  const rendered = renderCommand(long ?? command.template, {
    prompt: long === null ? prompt : '',
    prompt_file: told.file,
    name: told.name,
  });
  if (told.agentSession === null || !preset?.resume || at === null) return rendered;
  const resumed = preset.resume(rendered.argv.slice(at), told.agentSession);
  return { ...rendered, argv: [...rendered.argv.slice(0, at), ...resumed] };
}

/** Wraps an agent's protocol server in our own client, which prints what happens. */
export function wrapInAcpHost(
  svc: readonly string[] | null,
  argv: readonly string[],
  { file, agentSession }: RunInput,
): string[] {
  if (svc === null)
    throw new SvcError('spawn_failed', 'transport acp needs the svc command, which this host does not have');
  const resume = agentSession === null ? [] : ['--resume', agentSession];
  return [...svc, 'acp', 'run', '--prompt-file', file, ...resume, '--', ...argv];
}

/** Finds the preset of the agent that a command starts; see `locateAgent`. */
export const findPresetOfCommand = (command: AgentCommand, agent: string): Preset | null =>
  locateAgent(command.template, agent).preset;

/** Reports whether a run of a command can resume its agent's own session. */
export function canResumeSession(command: AgentCommand, agent: string): boolean {
  const { preset, at } = locateAgent(command.template, agent);
  return command.transport === 'acp' || (preset?.resume != null && at !== null);
}

/** Dependencies for finding a session's command. */
export interface CommandDeps {
  agents: Pick<AgentRegistry, 'withOverrides'>;
  /** The inputs that a decision binds its run to. */
  approvals: { boundTo(decisionId: string): { options: { agents?: AgentOverrides | undefined } } };
}

/** Returns the command of a session's agent as approved for its dispatch. Throws `unknown_agent`. */
export const findCommandOfSession = (
  { agents, approvals }: CommandDeps,
  { agent, decisionId }: Pick<Session, 'agent' | 'decisionId'>,
): AgentCommand => agents.withOverrides(approvals.boundTo(decisionId).options.agents).findCommand(agent);

/** Returns the preset of a session's agent as configured now; by name only if the agent is no longer configured. */
export function findPresetOfSession(
  deps: CommandDeps,
  session: Pick<Session, 'agent' | 'decisionId'>,
): Preset | null {
  try {
    return findPresetOfCommand(findCommandOfSession(deps, session), session.agent);
  } catch {
    return findPreset(session.agent);
  }
}

/**
 * The output of a successful run: a stream with an end, at least some text, or maybe nothing. The agent in a person's
 * own command may print plain text.
 */
export type CommandExpectation = 'stream' | 'words' | 'nothing';

export function findExpectation(
  deps: CommandDeps,
  session: Pick<Session, 'agent' | 'decisionId' | 'transport'>,
): CommandExpectation {
  if (session.transport === 'acp') return 'stream';
  if (findPresetOfSession(deps, session)?.reader == null) return 'nothing';
  try {
    return findCommandOfSession(deps, session).isBuiltIn ? 'stream' : 'words';
  } catch {
    // The agent is no longer configured.
    return 'words';
  }
}

/** The parser of a run's output. */
export interface OutputFormat {
  transport: 'subprocess' | 'acp';
  /** The agent's preset; null for an unknown program. */
  preset: string | null;
}

export const findOutputFormat = (
  deps: CommandDeps,
  session: Pick<Session, 'agent' | 'decisionId' | 'transport'>,
): OutputFormat => ({
  transport: session.transport ?? 'subprocess',
  preset: findPresetOfSession(deps, session)?.name ?? null,
});

/**
 * Creates the reader for a run's output; null for an unknown format. `now` is when the lines were printed, Unix ms, for
 * resolving times of day in them.
 */
export function createReader(
  { transport, preset }: OutputFormat,
  now: () => number = Date.now,
): StreamReader | null {
  if (transport === 'acp') return createAcpReader();
  return (preset === null ? null : findPreset(preset))?.reader?.(now) ?? null;
}

/** Returns when a session's agent sees messages to it: at its tool calls this depends on its hooks. */
export function findReadingTime(
  agents: Pick<AgentRegistry, 'findCommand'>,
  { agent, transport, state, auth }: Pick<Session, 'agent' | 'transport' | 'state' | 'auth'>,
): ReadingTime {
  if (state === 'ended') return 'never';
  if (transport === 'acp') return 'turn_end';
  let located: Pick<LocatedAgent, 'preset' | 'at'> = { preset: findPreset(agent), at: 0 };
  try {
    located = locateAgent(agents.findCommand(agent).template, agent);
  } catch {
    // The agent is no longer configured.
  }
  const { preset, at } = located;
  if (preset?.hooks?.moments['post-tool'] === undefined) return 'asks';
  const { hooks } = describeAbility(preset, { takesOptions: at !== null });
  return hooks === 'yes' || (hooks === 'with the gateway' && auth === 'gateway') ? 'tool_call' : 'asks';
}

/**
 * Lists what the output of a session's runs never reports, in words that follow "it does not say", for its agent as
 * configured now.
 */
export function listUntoldBy(
  agents: Pick<AgentRegistry, 'findCommand'>,
  { agent, transport }: Pick<Session, 'agent' | 'transport'>,
): string[] {
  if (transport === 'acp') return [];
  try {
    return listUntold(findPresetOfCommand(agents.findCommand(agent), agent));
  } catch {
    return listUntold(findPreset(agent));
  }
}
