import { homedir } from 'node:os';
import { join } from 'node:path';
import { type HookEvent, presets, shellWord } from '../../engine/index.ts';
import type { Scope } from './clients.ts';

/** Program and arguments that run svc. */
export type Words = readonly string[];

/** One entry of a list of hooks, under the agent's own name of the event. */
export interface HookEntry {
  list: string;
  entry: Record<string, unknown>;
}

interface Place {
  file: string;
  /** The variable that names another folder than the person's, and what is below the home without it. */
  variable?: string;
  below?: string;
}

/** An agent whose hooks a person can have svc in. */
export interface HookFile {
  /** The name of its preset. */
  agent: string;
  /** json: lists below `hooks`; toml: tables at the end of the file; own: a file of svc alone. */
  format: 'json' | 'toml' | 'own';
  /** Null where it has none. */
  project: Place | null;
  user: Place;
  entries(svc: Words): HookEntry[];
  /** What a new file has besides. */
  start?: Record<string, unknown>;
  /** The whole text of a file of svc alone, where it is no JSON. */
  text?(svc: Words): Promise<string>;
  /** What the person still has to do. */
  next?: string;
}

/** A hook of ours that is slower is broken, and must not hold the agent up. */
const TIMEOUT_SEC = 10;

const words = (svc: Words, event: HookEvent, agent: string): string[] => [
  ...svc,
  'hook',
  event,
  '--agent',
  agent,
];

/** For agents that hand the command to a shell. */
const shell = (svc: Words, event: HookEvent, agent: string): string =>
  words(svc, event, agent)
    .map((word) => (/^[\w./=:@+-]+$/.test(word) ? word : shellWord(word)))
    .join(' ');

type Names = Partial<Record<HookEvent, { list: string; matcher?: string }>>;

/** What claude calls the moments, and others after it. */
const CLAUDE: Names = {
  'pre-write': { list: 'PreToolUse', matcher: 'Write|Edit|MultiEdit|NotebookEdit' },
  'post-tool': { list: 'PostToolUse', matcher: '*' },
  'pre-compact': { list: 'PreCompact' },
  'session-start': { list: 'SessionStart', matcher: 'compact' },
};

const withoutCompact = ({ 'pre-compact': _, ...names }: Names): Names => names;

const eachOf = (names: Names): [HookEvent, { list: string; matcher?: string }][] =>
  Object.entries(names) as [HookEvent, { list: string; matcher?: string }][];

/** Entries in claude's form, with the command in the way that the agent takes it. */
const grouped =
  (names: Names, hook: (svc: Words, event: HookEvent) => Record<string, unknown>) =>
  (svc: Words): HookEntry[] =>
    eachOf(names).map(([event, { list, ...matcher }]) => ({
      list,
      entry: { ...matcher, hooks: [{ type: 'command', ...hook(svc, event) }] },
    }));

const shellHook =
  (agent: string, timeout: number) =>
  (svc: Words, event: HookEvent): Record<string, unknown> => ({ command: shell(svc, event, agent), timeout });

/** Entries that are the command itself. */
const flat =
  (names: Names, hook: (svc: Words, event: HookEvent) => Record<string, unknown>) =>
  (svc: Words): HookEntry[] =>
    eachOf(names).map(([event, { list, ...matcher }]) => ({
      list,
      entry: { ...matcher, ...hook(svc, event) },
    }));

/** The places and forms as the programs themselves have them; docs/hooks.md has the same as a table. */
export const HOOK_FILES: readonly HookFile[] = [
  {
    agent: 'claude',
    format: 'json',
    project: { file: '.claude/settings.local.json' },
    user: { variable: 'CLAUDE_CONFIG_DIR', below: '.claude', file: 'settings.json' },
    entries: grouped(CLAUDE, (svc, event) => {
      const [command, ...args] = words(svc, event, 'claude');
      return { command, args, timeout: TIMEOUT_SEC };
    }),
  },
  {
    agent: 'codex',
    format: 'toml',
    project: null,
    user: { variable: 'CODEX_HOME', below: '.codex', file: 'config.toml' },
    entries: grouped(
      withoutCompact({ ...CLAUDE, 'pre-write': { list: 'PreToolUse', matcher: 'Write|Edit|apply_patch' } }),
      shellHook('codex', TIMEOUT_SEC),
    ),
    next: 'codex runs a new hook only after you have trusted it: it asks at its next start, or open /hooks',
  },
  {
    agent: 'gemini',
    format: 'json',
    project: { file: '.gemini/settings.json' },
    user: { variable: 'GEMINI_CLI_HOME', below: '', file: '.gemini/settings.json' },
    entries: grouped(
      {
        'pre-write': { list: 'BeforeTool', matcher: 'write_file|replace' },
        'post-tool': { list: 'AfterTool', matcher: '*' },
        'session-start': { list: 'SessionStart' },
      },
      (svc, event) => ({ name: `svc-${event}`, ...shellHook('gemini', TIMEOUT_SEC * 1000)(svc, event) }),
    ),
  },
  {
    agent: 'opencode',
    format: 'own',
    project: { file: '.opencode/plugin/svc.js' },
    user: { variable: 'XDG_CONFIG_HOME', below: '.config', file: 'opencode/plugin/svc.js' },
    entries: () => [],
    async text(svc) {
      const { pluginText } = await presets();
      const line = (event: HookEvent) => {
        const [command = '', ...args] = words(svc, event, 'opencode');
        return { command, args };
      };
      return `// Made by svc hooks install opencode; svc hooks remove opencode removes it.\n${pluginText({
        'pre-write': line('pre-write'),
        'post-tool': line('post-tool'),
        'pre-compact': line('pre-compact'),
        'session-start': line('session-start'),
      })}`;
    },
  },
  {
    agent: 'copilot',
    format: 'own',
    project: null,
    user: { variable: 'COPILOT_HOME', below: '.copilot', file: 'hooks/svc.json' },
    entries: flat(
      { 'pre-write': { list: 'PreToolUse' }, 'post-tool': { list: 'PostToolUse' } },
      (svc, event) => ({ type: 'command', bash: shell(svc, event, 'copilot'), timeoutSec: TIMEOUT_SEC }),
    ),
    start: { version: 1 },
  },
  {
    agent: 'qwen',
    format: 'json',
    project: { file: '.qwen/settings.json' },
    user: { variable: 'QWEN_HOME', below: '.qwen', file: 'settings.json' },
    entries: grouped(
      { ...CLAUDE, 'pre-write': { list: 'PreToolUse', matcher: '^(write_file|edit|notebook_edit)$' } },
      shellHook('qwen', TIMEOUT_SEC),
    ),
  },
  {
    agent: 'kimi',
    format: 'toml',
    project: null,
    user: { variable: 'KIMI_CODE_HOME', below: '.kimi-code', file: 'config.toml' },
    entries: (svc) => [
      {
        list: '',
        entry: {
          event: 'PreToolUse',
          matcher: '^(Write|Edit)$',
          command: shell(svc, 'pre-write', 'kimi'),
          timeout: TIMEOUT_SEC,
        },
      },
    ],
  },
  {
    agent: 'cursor',
    format: 'json',
    project: { file: '.cursor/hooks.json' },
    user: { below: '.cursor', file: 'hooks.json' },
    entries: flat(
      {
        'pre-write': { list: 'preToolUse', matcher: 'Write|Edit|Delete' },
        'post-tool': { list: 'postToolUse' },
        'session-start': { list: 'sessionStart' },
      },
      shellHook('cursor', TIMEOUT_SEC),
    ),
    start: { version: 1 },
  },
  {
    agent: 'droid',
    format: 'json',
    project: { file: '.factory/settings.json' },
    user: { below: '.factory', file: 'settings.json' },
    entries: grouped(
      { ...CLAUDE, 'pre-write': { list: 'PreToolUse', matcher: 'Create|Edit|MultiEdit|ApplyPatch|Write' } },
      shellHook('droid', TIMEOUT_SEC),
    ),
  },
];

export const hookFileOf = (agent: string): HookFile | undefined =>
  HOOK_FILES.find((each) => each.agent === agent);

/** The file of a scope; undefined where the agent has none there. */
export function placeOf(
  { project, user }: HookFile,
  scope: Scope,
  { root, env }: { root: string; env: NodeJS.ProcessEnv },
): string | undefined {
  if (scope === 'project') return project === null ? undefined : join(root, project.file);
  const named = user.variable === undefined ? undefined : env[user.variable];
  return join(named || join(env.HOME || homedir(), user.below ?? ''), user.file);
}

/** Whether something in an agent's configuration runs `svc hook` for that agent. */
export function isOurs(value: unknown, agent: string): boolean {
  const text = textsIn(value)
    .join(' ')
    .replace(/['"\\]/g, '');
  return new RegExp(
    `\\bhook (?:pre-write|post-tool|pre-compact|session-start) --agent ${agent}(?![\\w-])`,
  ).test(text);
}

function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(textsIn);
}
