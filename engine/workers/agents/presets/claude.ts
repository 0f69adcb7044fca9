import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject } from '../../../core/base/json-object.ts';
import { findRouteLimits } from '../../../core/models/index.ts';
import { createClaudeReader } from '../streams/claude.ts';
import { escapeSlashCommand } from './escape-prompt.ts';
import { groupedHooks, groupHookEntries, HOOK_TIMEOUT_SEC } from './hooks.ts';
import { formatServerFlag } from './mcp.ts';
import { TO_FILE } from './notify.ts';
import { KEY_VARIABLE, type Preset, shareHomeFolder, withArguments } from './preset.ts';

const OPTIONS =
  'claude -p --output-format stream-json --verbose --permission-mode bypassPermissions --name={{name}}';

/** Other keys and providers, which would take precedence over ours. */
const OTHERS = {
  ANTHROPIC_AUTH_TOKEN: '',
  ANTHROPIC_API_KEY: '',
  CLAUDE_CODE_OAUTH_TOKEN: '',
  CLAUDE_CODE_USE_BEDROCK: '',
  CLAUDE_CODE_USE_VERTEX: '',
  CLAUDE_CODE_USE_FOUNDRY: '',
};

const HOOKS = groupedHooks(
  {
    'pre-write': { name: 'PreToolUse', matcher: 'Write|Edit|MultiEdit|NotebookEdit' },
    'post-tool': { name: 'PostToolUse', matcher: '*', failed: 'PostToolUseFailure' },
    'pre-compact': { name: 'PreCompact' },
    'session-start': { name: 'SessionStart', matcher: 'compact' },
  },
  // It starts the program itself.
  ({ command, args }) => ({ type: 'command', command, args, timeout: HOOK_TIMEOUT_SEC }),
);

/** `env` in a settings file overrides the environment that claude is started with. */
const findOverride: Preset['findOverride'] = (names, { env, cwd }) => {
  const own = env.CLAUDE_CONFIG_DIR || join(env.HOME || homedir(), '.claude');
  const project = join(cwd, '.claude');
  const files = [
    join(own, 'settings.json'),
    join(project, 'settings.json'),
    join(project, 'settings.local.json'),
  ];
  for (const file of files) {
    const settings = readSettings(file);
    const changed = isJsonObject(settings.env) ? Object.keys(settings.env) : [];
    const name = changed.find((each) => names.includes(each));
    if (name !== undefined) return `${file} sets ${name}`;
  }
  return null;
};

function readSettings(file: string): Record<string, unknown> {
  try {
    const settings: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return isJsonObject(settings) ? settings : {};
  } catch {
    return {};
  }
}

export const claude: Preset = {
  name: 'claude',
  programs: ['claude'],
  headless: `${OPTIONS} -- {{prompt}}`,
  headlessLong: `${OPTIONS} < {{prompt_file}}`,
  unasked: ['--permission-mode bypassPermissions'],
  interactive: 'claude',
  acp: 'claude-agent-acp',
  notify: TO_FILE,
  reader: createClaudeReader,
  resume: (argv, id) => withArguments(argv, [`--resume=${id}`]),
  resumeInteractive: (argv, id) => withArguments(argv, [`--resume=${id}`]),
  hooks: HOOKS,
  literal: escapeSlashCommand,
  setUpRun({ mcp, gateway, hooks, env, isAttended }) {
    const args: string[] = [];
    const more: Record<string, string> = {};
    if (mcp !== null) args.push(formatServerFlag('--mcp-config', mcp, { type: 'stdio' }));
    const settings: { hooks?: object; env?: object; apiKeyHelper?: string } = {};
    if (hooks !== null) settings.hooks = groupHookEntries(HOOKS, hooks);
    if (gateway !== null) {
      // `env` in a person's settings file overrides the environment; only these settings override that.
      const { context, output } = findRouteLimits(gateway.models);
      settings.env = { ANTHROPIC_BASE_URL: gateway.url, ...OTHERS };
      if (context !== null) more.CLAUDE_CODE_AUTO_COMPACT_WINDOW = String(context);
      if (output !== null) more.CLAUDE_CODE_MAX_OUTPUT_TOKENS = String(output);
      settings.apiKeyHelper = `printenv ${KEY_VARIABLE}`;
      Object.assign(more, {
        ...Object.fromEntries(Object.keys(OTHERS).flatMap((name) => (env[name] ? [[name, '']] : []))),
        [KEY_VARIABLE]: gateway.key,
        ANTHROPIC_BASE_URL: gateway.url,
        ANTHROPIC_AUTH_TOKEN: gateway.key,
        ANTHROPIC_API_KEY: '',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      });
    }
    if (Object.keys(settings).length > 0) args.push(`--settings=${JSON.stringify(settings)}`);
    // As root it refuses to run without asking, unless a variable marks the machine as a sandbox.
    if (process.getuid?.() === 0 && isAttended !== true) more.IS_SANDBOX = '1';
    return { args, env: more, files: [] };
  },
  findOverride,
  auth: 'account',
  keysBeforeLogin: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
  home: {
    ...shareHomeFolder('.claude', {
      login: ['.credentials.json'],
      settings: [
        'settings.json',
        'CLAUDE.md',
        'agents',
        'commands',
        'hooks',
        'plugins',
        'skills',
        'output-styles',
      ],
    }),
    copied: ['.claude.json'],
  },
  cannot: {},
};
