import { relative, resolve, sep } from 'node:path';
import { SvcError } from '../../errors.ts';
import { detectAgents } from '../presets/detect.ts';

/** The parts of the configuration that say which agent runs where. */
export interface AgentsConfig {
  agents: { cmds: Readonly<Record<string, string>>; default_cmd: string; default_preset: string };
  project: { name: string; root: string };
  projects: readonly { id: string; path: string }[];
}

/** An agent that a task may name. */
export interface AgentChoice {
  id: string;
  /** Its placeholders not filled in. */
  command: string;
  /** Its program can be found from here. */
  installed: boolean;
}

export interface ProjectChoice {
  id: string;
  /** Absolute. */
  folder: string;
  /** The workspace's own project. */
  own: boolean;
}

const contains = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`);
};

/** What agents.default_cmd runs as. */
const DEFAULT = 'default';

/** Looks agents and projects up in the configuration as it is now. */
export interface Agents {
  all(): AgentChoice[];
  /** The workspace's own project first. */
  projects(): ProjectChoice[];
  /** The name under which a task without an agent runs: a preset, or `default` for agents.default_cmd; null for none. */
  fallback(): string | null;
  /** Command template. Throws `unknown_agent`. */
  template(agent: string): string;
  /** Absolute folder; null is the workspace's own project. Throws `unknown_project`. */
  folder(project: string | null): string;
  /** A project's id as the register has it: null for the workspace's own, also when it is named. Throws `unknown_project`. */
  projectId(project: string | null): string | null;
  /** The registered project whose folder contains `cwd`, the innermost one; null is the workspace's own. */
  projectAt(cwd: string | null): string | null;
}

export function createAgents({
  root,
  config,
  env,
}: {
  root: string;
  config(): AgentsConfig;
  /** Where the programs are looked for. */
  env: NodeJS.ProcessEnv;
}): Agents {
  function folder(project: string | null): string {
    const { project: own, projects } = config();
    if (project === null || project === own.name) return resolve(root, own.root);
    const entry = projects.find(({ id }) => id === project);
    if (entry) return resolve(root, entry.path);
    throw new SvcError('unknown_project', `no project ${JSON.stringify(project)} in projects`, {
      hint: `known: ${[own.name, ...projects.map(({ id }) => id)].join(', ')}`,
    });
  }

  return {
    all() {
      const { cmds, default_cmd } = config().agents;
      const commands = default_cmd === '' ? cmds : { ...cmds, [DEFAULT]: default_cmd };
      const installed = new Set(detectAgents(commands, env, root).map(({ preset }) => preset));
      return Object.entries(commands).map(([id, command]) => ({ id, command, installed: installed.has(id) }));
    },
    projects() {
      const { project, projects } = config();
      const own = { id: project.name, folder: resolve(root, project.root), own: true };
      return [own, ...projects.map(({ id, path }) => ({ id, folder: resolve(root, path), own: false }))];
    },
    fallback() {
      const { default_cmd, default_preset } = config().agents;
      return default_cmd !== '' ? DEFAULT : default_preset === '' ? null : default_preset;
    },
    template(agent) {
      const { cmds, default_cmd } = config().agents;
      if (agent === DEFAULT && default_cmd !== '') return default_cmd;
      const template = Object.hasOwn(cmds, agent) ? cmds[agent] : undefined;
      if (template !== undefined) return template;
      throw new SvcError('unknown_agent', `no agent ${JSON.stringify(agent)} in agents.cmds`, {
        hint: `known: ${Object.keys(cmds).sort().join(', ')}`,
      });
    },
    folder,
    projectId(project) {
      folder(project);
      return project === config().project.name ? null : project;
    },
    projectAt(cwd) {
      if (cwd === null) return null;
      const around = config()
        .projects.map(({ id, path }) => ({ id, folder: resolve(root, path) }))
        .filter(({ folder }) => contains(folder, cwd))
        .sort((one, other) => other.folder.length - one.folder.length);
      return around[0]?.id ?? null;
    },
  };
}
