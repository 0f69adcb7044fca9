import { findRouteLimits } from '../../../core/models/index.ts';
import { createCodexReader } from '../streams/codex.ts';
import { groupedHooks, groupHookEntries } from './hooks.ts';
import { TO_FILE } from './notify.ts';
import {
  type GatewayRoute,
  KEY_VARIABLE,
  type McpServer,
  type Preset,
  shareHomeFolder,
  withArguments,
} from './preset.ts';
import { formatTomlText, formatTomlValue } from './toml.ts';

const OPTIONS = 'codex exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox';

/** Codex passes servers only the variables that their entry names. */
export const PASSED_ON: readonly string[] = [
  'SVC_SESSION',
  'SVC_TASK',
  'SVC_AGENT',
  'SVC_NAME',
  'SVC_RUN_ID',
  'SVC_NOTIFY_URL',
  'SVC_ACTOR',
  'SVC_CONFIG',
  'SVC_HOME',
  'SVC_SEAT',
];

const HOOKS = groupedHooks({
  // Patches arrive by a separate tool or through its shell, which is Bash to a hook.
  'pre-write': { name: 'PreToolUse', matcher: 'Write|Edit|apply_patch|Bash' },
  'post-tool': { name: 'PostToolUse', matcher: '*' },
  // It also has PreCompact, which accepts no text.
  'session-start': { name: 'SessionStart', matcher: 'compact' },
});

export const codex: Preset = {
  name: 'codex',
  programs: ['codex'],
  headless: `${OPTIONS} -- {{prompt}}`,
  headlessLong: `${OPTIONS} - < {{prompt_file}}`,
  unasked: ['--dangerously-bypass-approvals-and-sandbox'],
  interactive: 'codex',
  acp: null,
  notify: TO_FILE,
  reader: createCodexReader,
  resume: addResume,
  resumeInteractive: ([program = 'codex', ...rest], id) => [program, 'resume', id, ...rest],
  trustFolders: (folders) => {
    const tables = [...new Set(folders)].map((folder) => `${formatTomlText(folder)}={trust_level="trusted"}`);
    return ['-c', `projects={${tables.join(',')}}`];
  },
  hooks: HOOKS,
  setUpRun({ mcp, gateway, hooks }) {
    const settings = [
      // A login shell reads /etc/profile, which resets the path on Debian, so svc would not be found.
      'allow_login_shell=false',
      ...(mcp === null ? [] : [`mcp_servers.svc=${formatServer(mcp)}`]),
      ...(gateway === null ? [] : [...buildCodexRoute(gateway), 'analytics.enabled=false']),
      ...(gateway === null && hooks === null ? [] : ['check_for_update_on_startup=false']),
      ...Object.entries(hooks === null ? {} : groupHookEntries(HOOKS, hooks)).map(
        ([name, groups]) => `hooks.${name}=${formatTomlValue(groups)}`,
      ),
    ];
    return {
      args: [
        ...settings.flatMap((setting) => ['-c', setting]),
        // Hooks that no one has approved on its own screen are skipped silently.
        ...(hooks === null ? [] : ['--dangerously-bypass-hook-trust']),
      ],
      env: gateway === null ? {} : { [KEY_VARIABLE]: gateway.key },
      files: [],
    };
  },
  auth: 'account',
  isRoutedByOptions: true,
  keysBeforeLogin: ['CODEX_API_KEY'],
  home: shareHomeFolder('.codex', {
    login: ['auth.json'],
    settings: ['config.toml', 'AGENTS.md', 'prompts', 'rules', 'skills'],
  }),
  cannot: {},
};

function formatServer({ command, args, env }: McpServer): string {
  const formatList = (words: readonly string[]): string => `[${words.map(formatTomlText).join(',')}]`;
  const members = [
    `command=${formatTomlText(command)}`,
    `args=${formatList(args)}`,
    `env_vars=${formatList(PASSED_ON)}`,
  ];
  // Otherwise it starts without the tools of a slow server.
  members.push('required=true');
  const own = Object.entries(env).map(([name, value]) => `${formatTomlText(name)}=${formatTomlText(value)}`);
  if (own.length > 0) members.push(`env={${own.join(',')}}`);
  return `{${members.join(',')}}`;
}

/**
 * Builds a custom provider. The model stays the person's or codex's: a route has none, and the gateway maps its name.
 * If another model answers than the one that codex knows, it gets the window of that model, at which it compacts.
 */
function buildCodexRoute({ url, models }: GatewayRoute): string[] {
  const provider = {
    name: 'svc',
    base_url: `${url}/v1`,
    env_key: KEY_VARIABLE,
    wire_api: 'responses',
    supports_websockets: false,
  };
  const { context } = findRouteLimits(models);
  return [
    'model_provider="svc"',
    `model_providers.svc=${formatTomlValue(provider)}`,
    ...(context === null ? [] : [`model_context_window=${context}`]),
  ];
}

/**
 * Options of `exec` that `resume` lacks may precede that word, as they do if a `--` marks the start of the prompt.
 * Otherwise it is the word after `exec`.
 */
function addResume(argv: readonly string[], id: string): string[] {
  if (argv.includes('--')) return withArguments(argv, ['resume', id]);
  const at = argv.indexOf('exec') + 1;
  return [...argv.slice(0, at), 'resume', id, ...argv.slice(at)];
}
