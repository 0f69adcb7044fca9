import { resolve } from 'node:path';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { findProgram } from '../../core/base/find-program.ts';
import { isInsideFolder } from '../../core/base/paths.ts';
import { findRealPath } from '../../core/base/real-paths.ts';
import { sentence } from '../../core/base/sentence.ts';
import { detectAgents } from './detect.ts';
import { findKeyBeforeLogin } from './find-payer.ts';
import { INSTALL_LINES } from './install-lines.ts';
import { listPrograms, locateAgent } from './locate-agent.ts';
import { findPreset } from './presets/index.ts';
import { checkHeadlessCommand } from './template.ts';

/** Settings about agents in a client's environment for its dispatches: `SVC_AGENT_CMD` and others. */
export interface AgentOverrides {
  /** Overrides agents.default_cmd. */
  command?: string | undefined;
  /** Overrides agents.default_preset. */
  preset?: string | undefined;
  /** For every preset; acp only for supported ones. */
  transport?: 'subprocess' | 'acp' | undefined;
  /** Overrides agents.timeout_sec. */
  timeoutSec?: number | undefined;
}

/** The parts of the configuration that determine which agent runs where. */
export interface AgentsConfig {
  agents: {
    cmds: Readonly<Record<string, string>>;
    default_cmd: string;
    default_preset: string;
    transport: Readonly<Record<string, AgentTransport>> | null;
    acp: Readonly<Record<string, string>>;
    auth: Readonly<Record<string, AgentAuth>> | null;
    gateway_route?: boolean | undefined;
  };
  project: { name: string; root: string };
  projects: readonly { id: string; path: string }[];
}

/** The interface to an agent: its output, or the agent client protocol. */
export type AgentTransport = 'subprocess' | 'acp';
/** The credentials of its model calls. */
export type AgentAuth = 'account' | 'gateway';

/** The command of an agent. */
export interface AgentCommand {
  transport: AgentTransport;
  /** With unfilled placeholders; a protocol server's command has none. */
  template: string;
  /** True for svc's built-in command, so its other forms apply as well. */
  isBuiltIn: boolean;
}

/** An agent that a task may name. */
export interface AgentChoice {
  id: string;
  /** With unfilled placeholders. */
  command: string;
  /** True if its program can be found from here. */
  installed: boolean;
}

export interface ProjectChoice {
  id: string;
  /** Absolute. */
  folder: string;
  /** The workspace's own project. */
  own: boolean;
}

const ownValue = <V>(map: Readonly<Record<string, V>>, key: string): V | undefined =>
  Object.hasOwn(map, key) ? map[key] : undefined;

/** The name of agents.default_cmd. */
const DEFAULT = 'default';

/** Applies a client's overrides to the configuration of its dispatch. */
function applyOverrides(config: AgentsConfig, overrides: AgentOverrides): AgentsConfig {
  const { command, preset, transport } = overrides;
  const { agents } = config;
  const names = Object.keys(transport === 'acp' ? agents.acp : { ...agents.cmds, ...agents.transport });
  return {
    ...config,
    agents: {
      ...agents,
      // A client's preset takes precedence over the file's command.
      default_cmd: command ?? (preset === undefined ? agents.default_cmd : ''),
      default_preset: preset ?? agents.default_preset,
      transport:
        transport === undefined
          ? agents.transport
          : { ...agents.transport, ...Object.fromEntries(names.map((name) => [name, transport])) },
    },
  };
}

/** Checks a command from the environment, which unlike svc.yaml was not validated before. Throws `config_invalid`. */
function checkOverride(command: string): void {
  try {
    checkHeadlessCommand(command);
  } catch (error) {
    throw new SvcError('config_invalid', `SVC_AGENT_CMD: ${asSvcError(error).message}`);
  }
}

/** Looks agents and projects up in the current configuration. */
export interface AgentRegistry {
  /** Returns the same with a client's overrides; itself without any. */
  withOverrides(overrides: AgentOverrides | undefined): AgentRegistry;
  listAgents(): AgentChoice[];
  /** Lists installed presets; searches PATH for every known one. */
  listInstalled(): string[];
  /** Lists registered projects other than the workspace's own. */
  listProjectIds(): string[];
  /** The workspace's own project first. */
  listProjects(): ProjectChoice[];
  /**
   * The name under which a task without an agent runs: a preset, `default` for agents.default_cmd, or the only
   * installed agent; null for none.
   */
  findDefaultAgent(): string | null;
  /** Returns the same. Throws `tool_missing` if no agent is installed, and `conflict` if there are several. */
  requireDefaultAgent(): string;
  /** Throws `unknown_agent`. */
  findCommand(agent: string): AgentCommand;
  /** Throws `unknown_agent`, `unknown_project`, and `tool_missing` for one whose program is not found from the project's folder. */
  checkInstalled(agent: string, project: string | null): void;
  /** Returns the credentials of its runs. */
  findAuth(agent: string): AgentAuth;
  /** See `findKeyBeforeLogin`. */
  findKeyBeforeLogin(agent: string): string | null;
  /** Absolute folder; null for the workspace's own project. Throws `unknown_project`. */
  resolveFolder(project: string | null): string;
  /** Resolves a project's id: null for the workspace's own, even if named. Throws `unknown_project`. */
  resolveProjectId(project: string | null): string | null;
  /** Finds the registered project whose folder contains `cwd`, the innermost one; null for the workspace's own. */
  findProjectAt(cwd: string | null): string | null;
}

export interface AgentsDeps {
  root: string;
  config(): AgentsConfig;
  /** The search path for the programs. */
  env: NodeJS.ProcessEnv;
  /** The environment of a worker. */
  workerEnvironment(): NodeJS.ProcessEnv;
  /** Keys of svc.yaml that wait for consent: a missing agent may be defined there. */
  waitingKeys(): readonly string[];
  overrides?: AgentOverrides;
}

export function createAgents(deps: AgentsDeps): AgentRegistry {
  const { root, env, waitingKeys, overrides } = deps;
  const readConfig = (): AgentsConfig =>
    overrides === undefined ? deps.config() : applyOverrides(deps.config(), overrides);

  function describeWaiting(section: string): string {
    const keys = waitingKeys().filter((key) => key.startsWith(section));
    return keys.length === 0 ? '' : `${keys.join(', ')} of svc.yaml wait for svc trust; `;
  }

  function resolveFolder(project: string | null): string {
    const { project: own, projects } = readConfig();
    if (project === null || project === own.name) return resolve(root, own.root);
    const entry = projects.find(({ id }) => id === project);
    if (entry) return resolve(root, entry.path);
    throw new SvcError('unknown_project', `no project ${JSON.stringify(project)} in projects`, {
      hint: `known: ${[own.name, ...projects.map(({ id }) => id)].join(', ')}`,
    });
  }

  function listCommands(): Readonly<Record<string, string>> {
    const { cmds, default_cmd } = readConfig().agents;
    return default_cmd === '' ? cmds : { ...cmds, [DEFAULT]: default_cmd };
  }

  const listInstalled = (): string[] => detectAgents(listCommands(), env, root).map(({ preset }) => preset);

  const findCommand = (agent: string): AgentCommand =>
    findAgentCommand(agent, readConfig().agents, {
      isOverridden: overrides?.command !== undefined,
      describeWaiting,
    });

  const agents: AgentRegistry = {
    withOverrides: (wanted) => (wanted === undefined ? agents : createAgents({ ...deps, overrides: wanted })),
    listInstalled,
    listProjectIds: () => readConfig().projects.map(({ id }) => id),
    checkInstalled(agent, project) {
      const { template } = findCommand(agent);
      const cwd = resolveFolder(project);
      const program = listPrograms(locateAgent(template, agent)).find(
        (each) => findProgram(each, { cwd, path: env.PATH }) === undefined,
      );
      if (program === undefined) return;
      const installed = listInstalled();
      throw new SvcError('tool_missing', `${agent} is not installed: ${program} was not found`, {
        hint:
          installed.length === 0
            ? sentence`no agent is installed; ${INSTALL_LINES.claude} installs one`
            : `installed: ${installed.join(', ')}; the engine uses the PATH that it was started with`,
        data: { agent, program, installed },
      });
    },
    listAgents() {
      const installed = new Set(detectAgents(listCommands(), env, root).map(({ preset }) => preset));
      return Object.entries(listCommands()).map(([id, command]) => ({
        id,
        command,
        installed: installed.has(id),
      }));
    },
    listProjects() {
      const { project, projects } = readConfig();
      const own = { id: project.name, folder: resolve(root, project.root), own: true };
      return [own, ...projects.map(({ id, path }) => ({ id, folder: resolve(root, path), own: false }))];
    },
    findDefaultAgent() {
      const { default_cmd, default_preset } = readConfig().agents;
      if (default_cmd !== '') return DEFAULT;
      if (default_preset !== '') return default_preset;
      const [only = null, ...others] = listInstalled();
      return others.length === 0 ? only : null;
    },
    requireDefaultAgent() {
      const agent = agents.findDefaultAgent();
      if (agent !== null) return agent;
      const installed = listInstalled();
      if (installed.length > 0)
        throw new SvcError('conflict', `several agents are installed: ${installed.join(', ')}`, {
          hint: sentence`name one with {input.agent}; {config.set agents.default_preset ${installed[0]}} chooses one for every task`,
        });
      const programs = Object.entries(listCommands()).flatMap(([name, template]) =>
        listPrograms(locateAgent(template, name)),
      );
      throw new SvcError('tool_missing', 'no agent is installed', {
        hint: sentence`${INSTALL_LINES.claude} installs one; {agent.held} lists the others that svc knows`,
        data: { programs },
      });
    },
    findCommand,
    findAuth(agent) {
      const { auth, gateway_route } = readConfig().agents;
      if (gateway_route === false) return 'account';
      return ownValue(auth ?? {}, agent) ?? findPreset(agent)?.auth ?? 'account';
    },
    findKeyBeforeLogin(agent) {
      const { preset } = locateAgent(findCommand(agent).template, agent);
      return preset === null ? null : findKeyBeforeLogin(preset.name, deps.workerEnvironment());
    },
    resolveFolder,
    resolveProjectId(project) {
      resolveFolder(project);
      return project === readConfig().project.name ? null : project;
    },
    findProjectAt(cwd) {
      if (cwd === null) return null;
      const around = readConfig()
        .projects.map(({ id, path }) => ({
          id,
          folder: findRealPath(resolve(root, path)) ?? resolve(root, path),
        }))
        .filter(({ folder }) => isInsideFolder(folder, cwd))
        .sort((one, other) => other.folder.length - one.folder.length);
      return around[0]?.id ?? null;
    },
  };
  return agents;
}

/** Finds the command of an agent. Throws `unknown_agent`. */
function findAgentCommand(
  agent: string,
  { cmds, default_cmd, transport, acp }: AgentsConfig['agents'],
  how: {
    /** True if a client has named the default command. */
    isOverridden: boolean;
    describeWaiting(section: string): string;
  },
): AgentCommand {
  const { describeWaiting } = how;
  if (agent === DEFAULT && default_cmd !== '') {
    if (how.isOverridden) checkOverride(default_cmd);
    return { transport: 'subprocess', template: default_cmd, isBuiltIn: false };
  }
  const way = ownValue(transport ?? {}, agent) ?? 'subprocess';
  const template = ownValue(way === 'acp' ? acp : cmds, agent);
  const preset = findPreset(agent);
  if (template !== undefined)
    return {
      transport: way,
      template,
      isBuiltIn: template === (way === 'acp' ? preset?.acp : preset?.headless),
    };
  if (agent === DEFAULT && !Object.hasOwn(cmds, DEFAULT))
    throw new SvcError('unknown_agent', 'neither SVC_AGENT_CMD nor agents.default_cmd names a command now', {
      hint: `${describeWaiting('agents.')}set one of them again; or svc task retry --hold, then svc task assign, gives a failed task another agent`,
    });
  throw new SvcError('unknown_agent', `no agent ${JSON.stringify(agent)} in agents.cmds`, {
    hint: `${describeWaiting('agents.')}known: ${Object.keys(cmds).sort().join(', ')}`,
  });
}
