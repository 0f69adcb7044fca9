import { homedir } from 'node:os';
import { join } from 'node:path';
import { type AgentHooks, agentPrograms, type HookLines } from '../../engine/index.ts';
import type { ClientScope } from './clients.ts';

/** Program and arguments that run svc. */
export type HookProgram = readonly string[];

interface Place {
  file: string;
  /** The variable that overrides the folder, and the default below the home. */
  variable?: string;
  below?: string;
}

/** An agent whose hooks can run svc. */
export interface HookFile {
  /** The name of its preset, which defines the hooks. */
  agent: string;
  /** json: lists below `hooks`; toml: tables at the end of the file; own: a file of svc alone; plugin: a program. */
  format: 'json' | 'toml' | 'own' | 'plugin';
  /** Null if it has none. */
  project: Place | null;
  user: Place;
  /** Other entries of a new file. */
  start?: Record<string, unknown>;
  /** Remaining instructions for the person. */
  next?: string;
}

/** The locations and formats of the programs; docs/extend/hooks.md has the same as a table. */
export const HOOK_FILES: readonly HookFile[] = [
  {
    agent: 'claude',
    format: 'json',
    project: { file: '.claude/settings.local.json' },
    user: { variable: 'CLAUDE_CONFIG_DIR', below: '.claude', file: 'settings.json' },
  },
  {
    agent: 'codex',
    format: 'toml',
    project: null,
    user: { variable: 'CODEX_HOME', below: '.codex', file: 'config.toml' },
    next: 'codex runs a new hook only after you have trusted it: it asks at its next start, or open /hooks',
  },
  {
    agent: 'gemini',
    format: 'json',
    project: { file: '.gemini/settings.json' },
    user: { variable: 'GEMINI_CLI_HOME', below: '', file: '.gemini/settings.json' },
  },
  {
    agent: 'opencode',
    format: 'plugin',
    project: { file: '.opencode/plugin/svc.js' },
    user: { variable: 'XDG_CONFIG_HOME', below: '.config', file: 'opencode/plugin/svc.js' },
  },
  {
    agent: 'copilot',
    format: 'own',
    project: null,
    user: { variable: 'COPILOT_HOME', below: '.copilot', file: 'hooks/svc.json' },
    start: { version: 1 },
  },
  {
    agent: 'qwen',
    format: 'json',
    project: { file: '.qwen/settings.json' },
    user: { variable: 'QWEN_HOME', below: '.qwen', file: 'settings.json' },
  },
  {
    agent: 'kimi',
    format: 'toml',
    project: null,
    user: { variable: 'KIMI_CODE_HOME', below: '.kimi-code', file: 'config.toml' },
  },
  {
    agent: 'cursor',
    format: 'json',
    project: { file: '.cursor/hooks.json' },
    user: { below: '.cursor', file: 'hooks.json' },
    start: { version: 1 },
  },
  {
    agent: 'droid',
    format: 'json',
    project: { file: '.factory/settings.json' },
    user: { below: '.factory', file: 'settings.json' },
  },
];

export const findHookFile = (agent: string): HookFile | undefined =>
  HOOK_FILES.find((each) => each.agent === agent);

/** Loads the hooks of the agent from its preset. */
export async function loadAgentHooks({ agent }: HookFile): Promise<AgentHooks> {
  const { findPreset } = await agentPrograms();
  return findPreset(agent)!.hooks!;
}

/** Returns the command of each hook event. */
export function writeHookLines({ agent }: HookFile, svc: HookProgram): HookLines {
  const [command = '', ...args] = svc;
  const makeHookLine = (event: keyof HookLines) => ({
    command,
    args: [...args, 'hook', event, '--agent', agent],
  });
  return {
    'pre-write': makeHookLine('pre-write'),
    'post-tool': makeHookLine('post-tool'),
    'pre-compact': makeHookLine('pre-compact'),
    'session-start': makeHookLine('session-start'),
  };
}

/** Returns the file of a scope; undefined if the agent has none there. */
export function findHookPlace(
  { project, user }: HookFile,
  scope: ClientScope,
  { root, env }: { root: string; env: NodeJS.ProcessEnv },
): string | undefined {
  if (scope === 'project') return project === null ? undefined : join(root, project.file);
  const named = user.variable === undefined ? undefined : env[user.variable];
  return join(named || join(env.HOME || homedir(), user.below ?? ''), user.file);
}

/** Reports whether an agent's configuration runs `svc hook` for that agent. */
export function runsOurHook(value: unknown, agent: string): boolean {
  const text = listTexts(value)
    .join(' ')
    .replace(/['"\\]/g, '');
  return new RegExp(
    `\\bhook (?:pre-write|post-tool|pre-compact|session-start) --agent ${agent}(?![\\w-])`,
  ).test(text);
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(listTexts);
}
