import { TO_FILE } from './notify.ts';
import { homeFolder, type McpServer, type Preset } from './preset.ts';
import { tomlText } from './toml.ts';

const OPTIONS = 'codex exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox';

/** Codex gives its servers none of its own variables but those that their entry names. */
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
];

export const codex: Preset = {
  name: 'codex',
  programs: ['codex'],
  headless: `${OPTIONS} -- {{prompt}}`,
  headlessLong: `${OPTIONS} - < {{prompt_file}}`,
  interactive: 'codex',
  acp: null,
  notify: TO_FILE,
  reader: null,
  resume: null,
  resumeInteractive: null,
  setUp: ({ mcp }) => ({
    args: mcp === null ? [] : ['-c', `mcp_servers.svc=${serverTable(mcp)}`],
    env: {},
    files: [],
  }),
  auth: 'account',
  home: homeFolder('.codex', {
    login: ['auth.json'],
    settings: ['config.toml', 'AGENTS.md', 'prompts', 'rules', 'skills'],
  }),
  cannot: {},
};

function serverTable({ command, args, env }: McpServer): string {
  const list = (words: readonly string[]): string => `[${words.map(tomlText).join(',')}]`;
  const members = [`command=${tomlText(command)}`, `args=${list(args)}`, `env_vars=${list(PASSED_ON)}`];
  // Otherwise it begins without the tools of a server that takes a moment to start.
  members.push('required=true');
  const own = Object.entries(env).map(([name, value]) => `${tomlText(name)}=${tomlText(value)}`);
  if (own.length > 0) members.push(`env={${own.join(',')}}`);
  return `{${members.join(',')}}`;
}
