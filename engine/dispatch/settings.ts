import type { AgentSettings, RunSettings } from '../board/decisions/index.ts';
import type { DispatchOptions } from '../board/index.ts';
import type { Task } from '../board/tasks/index.ts';
import { chooseStrongerProfile } from '../core/access/guard-profile.ts';
import type { AgentOverrides } from '../workers/agents/index.ts';
import { findPreset } from '../workers/agents/presets/index.ts';
import type { DispatchDeps } from './context.ts';

type Deps = Pick<
  DispatchDeps,
  'agents' | 'sessions' | 'projects' | 'keys' | 'configuration' | 'profile' | 'permissions' | 'machines'
>;

/** The configured settings of one agent and project; cached until the configuration changes. */
type Configured = Omit<RunSettings, 'inplace' | 'base' | 'continues' | 'folder'> & { path: string | null };

/** Missing values are null: a plan names the obstacle. */
function readOrNull<T>(look: () => T): T | null {
  try {
    return look();
  } catch {
    return null;
  }
}

/** Returns the current inputs of a run: synchronously, and without starting a program. */
export type ReadSettings = (task: Task, options: DispatchOptions) => RunSettings;

export function createReadSettings(deps: Deps): ReadSettings {
  const { sessions, projects } = deps;
  /** The configuration that `known` was read from. */
  let configuration: object | null = null;
  const known = new Map<string, Configured>();

  function readConfigured(
    given: string | null,
    project: string | null,
    overrides: AgentOverrides | undefined,
  ): Configured {
    const now = deps.configuration();
    if (now !== configuration) {
      known.clear();
      configuration = now;
    }
    const agents = deps.agents.withOverrides(overrides);
    const agent = given ?? agents.findDefaultAgent();
    const key = JSON.stringify([agent, project, overrides]);
    const before = known.get(key);
    if (before !== undefined) return before;
    const command = agent === null ? null : readOrNull(() => agents.findCommand(agent));
    const auth = agent === null ? null : agents.findAuth(agent);
    const made: Configured = {
      agent,
      command: command?.template ?? null,
      long:
        agent !== null && command?.isBuiltIn && command.transport === 'subprocess'
          ? (findPreset(agent)?.headlessLong ?? null)
          : null,
      transport: command?.transport ?? null,
      auth,
      route: auth === 'gateway' ? deps.keys.buildRoute() : null,
      permissions: command?.transport === 'acp' ? deps.permissions() : null,
      profile: deps.profile(),
      project: readOrNull(() => agents.resolveProjectId(project)) ?? project,
      path: readOrNull(() => agents.resolveFolder(project)),
      setup: readOrNull(() => projects.digestSetup(project)),
    };
    // Names of agents and projects may come from outside.
    if (known.size > 1000) known.clear();
    known.set(key, made);
    return made;
  }

  /** The command of one agent: only what depends on the agent. */
  function readRacer(agent: string, task: Task, options: DispatchOptions): AgentSettings {
    const found = readConfigured(agent, task.project, options.agents);
    const own = options.gatewayBypass === true && found.auth !== null;
    return {
      agent,
      command: found.command,
      long: found.long,
      transport: found.transport,
      auth: own ? 'account' : found.auth,
      route: own ? null : found.route,
      permissions: found.permissions,
    };
  }

  return (task, options) => {
    const { race } = options;
    // A race has its own agents, regardless of the task's.
    const { path, ...rest } = readConfigured(race?.[0] ?? task.agent, task.project, options.agents);
    const { base = null, folder = null } = path === null ? {} : projects.readCheckout(path);
    const former = options.continues === undefined ? null : sessions.get(options.continues);
    const own = options.gatewayBypass === true ? ({ auth: 'account', route: null } as const) : {};
    const pool = deps.machines.findPool(rest.project, options);
    return {
      ...rest,
      ...(rest.auth === null ? {} : own),
      profile: requireProfile(rest.profile, task, options, former?.profile ?? null),
      folder,
      inplace: options.inplace ?? false,
      // A continued worktree was created from a branch earlier.
      base: options.base ?? (former === null ? base : (former.base ?? former.baseCommit)),
      continues: options.continues ?? null,
      ...(race === undefined ? {} : { race: race.map((agent) => readRacer(agent, task, options)) }),
      ...(pool === null ? {} : { pool }),
      ...(pool === null || options.on === undefined ? {} : { machine: options.on }),
    };
  };
}

/**
 * Reports whether a run must be confined: text from an untrusted author, and work of a confined worker, require it
 * unless a person overrides it.
 */
function requireProfile(
  profile: string,
  { stranger }: Task,
  { outside, unconfined }: DispatchOptions,
  former: string | null,
): string {
  const needsStrict = !unconfined && (stranger !== null || (former === 'strict' && !outside));
  return needsStrict ? chooseStrongerProfile(profile, 'strict') : profile;
}
