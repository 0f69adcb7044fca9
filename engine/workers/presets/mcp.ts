import { SvcError } from '../../errors.ts';

/** A server of the model context protocol on standard input and output, as an agent is told to start it. */
export interface McpServer {
  command: string;
  args: readonly string[];
  /** Variables for the server alone; most agents pass on their own as well. */
  env: Readonly<Record<string, string>>;
}

/** What makes an agent know the server for one run, without a file of its own being touched. */
export interface McpOfRun {
  /** For `withArguments`. */
  args: string[];
  env: Record<string, string>;
}

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

type ForRun = (server: McpServer, inherited: NodeJS.ProcessEnv) => McpOfRun;

const withFlag =
  (flag: string, more: object = {}): ForRun =>
  ({ command, args, env }) => ({
    // One word, since a list of several values would take the words behind it as well.
    args: [`${flag}=${JSON.stringify({ mcpServers: { svc: { ...more, command, args, env } } })}`],
    env: {},
  });

const FOR_RUN: Readonly<Record<string, ForRun>> = {
  claude: withFlag('--mcp-config', { type: 'stdio' }),
  qwen: withFlag('--mcp-config'),
  copilot: withFlag('--additional-mcp-config', { type: 'local', tools: ['*'] }),
  codex: ({ command, args, env }) => ({
    args: ['-c', `mcp_servers.svc=${codexTable(command, args, env)}`],
    env: {},
  }),
  opencode: ({ command, args, env }, inherited) => ({
    args: [],
    env: {
      OPENCODE_CONFIG_CONTENT: withOpencodeServer(inherited.OPENCODE_CONFIG_CONTENT, {
        type: 'local',
        command: [command, ...args],
        environment: env,
        enabled: true,
      }),
    },
  }),
};

/**
 * How the agent of a preset is told of the server called `svc` for one run; null where its program has no way for that,
 * or, as with gemini and kimi, only one that hides the login of the person. `inherited` is the environment that the run
 * will have. Throws `config_invalid` when that holds something that cannot be added to.
 */
export function mcpForRun(
  preset: string,
  server: McpServer,
  inherited: NodeJS.ProcessEnv = {},
): McpOfRun | null {
  return Object.hasOwn(FOR_RUN, preset) ? FOR_RUN[preset]!(server, inherited) : null;
}

/** The command with options added where they still count as options: before a `--`, else at the end. */
export function withArguments(argv: readonly string[], more: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return end === -1 ? [...argv, ...more] : [...argv.slice(0, end), ...more, ...argv.slice(end)];
}

function codexTable(command: string, args: readonly string[], env: Readonly<Record<string, string>>): string {
  const list = (words: readonly string[]): string => `[${words.map(tomlText).join(',')}]`;
  const members = [`command=${tomlText(command)}`, `args=${list(args)}`, `env_vars=${list(PASSED_ON)}`];
  // Otherwise it begins without the tools of a server that takes a moment to start.
  members.push('required=true');
  const own = Object.entries(env).map(([name, value]) => `${tomlText(name)}=${tomlText(value)}`);
  if (own.length > 0) members.push(`env={${own.join(',')}}`);
  return `{${members.join(',')}}`;
}

// A JSON text is a TOML text too, but for the one character that only TOML wants escaped.
const tomlText = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f');

/** The variable may already carry configuration of the person's own. */
function withOpencodeServer(present: string | undefined, entry: object): string {
  let config: unknown = {};
  try {
    if (present) config = JSON.parse(present);
  } catch {
    config = null;
  }
  if (!isObject(config) || !(config.mcp === undefined || isObject(config.mcp))) {
    throw new SvcError(
      'config_invalid',
      'OPENCODE_CONFIG_CONTENT is set to something that is not a JSON configuration',
      {
        hint: 'unset it, or correct it',
      },
    );
  }
  return JSON.stringify({ ...config, mcp: { ...config.mcp, svc: entry } });
}

const isObject = (value: unknown): value is Record<string, object> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
