import { type ExecFileException, execFile } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gitEnvironment } from '../workspaces/git.ts';

/** The folder into which .ci/agents.sh installs real agent programs. */
export const AGENTS_BIN = fileURLToPath(
  new URL('../../../../.cache/agents/node_modules/.bin', import.meta.url),
);

export const isInstalled = (agent: string): boolean => existsSync(join(AGENTS_BIN, agent));

/** Returns why a test of this agent is skipped; false if the agent is installed. */
export const missing = (agent: string): string | false =>
  isInstalled(agent) ? false : `${agent} is not installed; .ci/agents.sh installs it`;

/** A server with tools: either a command to start or a URL. */
export type McpServer =
  | { command: string; args: string[]; env?: Record<string, string> }
  | { url: string; token: string };

export interface AgentWish {
  prompt: string;
  /** URL of a fake model. */
  modelUrl: string;
  /** The server that the agent sees under the name svc. */
  mcp?: McpServer;
  cwd: string;
  /** An empty home folder, without the login and settings of the user who runs the tests. */
  home: string;
  env?: Record<string, string>;
  timeoutMs?: number;
}

interface Command {
  args: string[];
  env: Record<string, string>;
  input?: string;
}

/** Tokens are passed in the environment because every user can read a program's arguments. */
const TOKEN = 'SVC_TEST_TOKEN';
const bearer = (variable: string): object => ({ Authorization: `Bearer ${variable}` });

const claudeServer = (mcp: McpServer): object =>
  'url' in mcp ? { type: 'http', url: mcp.url, headers: bearer(`\${${TOKEN}}`) } : mcp;

/** Formats a value as TOML, which writes strings and lists of strings as JSON does. */
const codexServer = (mcp: McpServer): string => {
  const settings =
    'url' in mcp
      ? [`url=${JSON.stringify(mcp.url)}`, `bearer_token_env_var="${TOKEN}"`]
      : [
          `command=${JSON.stringify(mcp.command)}`,
          `args=${JSON.stringify(mcp.args)}`,
          `env={${Object.entries(mcp.env ?? {}).map(([name, value]) => `${name}=${JSON.stringify(value)}`)}}`,
        ];
  // Without `required` it starts without a server that is slow to start.
  return `mcp_servers.svc={${[...settings, 'required=true']}}`;
};

const opencodeServer = (mcp: McpServer): object =>
  'url' in mcp
    ? { type: 'remote', url: mcp.url, headers: bearer(`{env:${TOKEN}}`), oauth: false, enabled: true }
    : { type: 'local', command: [mcp.command, ...mcp.args], environment: mcp.env ?? {}, enabled: true };

const MODEL = 'stand-in';
const KEY = 'no key';

/** Configures opencode to use the fake model and nothing else. */
export const opencodeEnvironment = ({
  modelUrl,
  key,
  limit,
  more = {},
}: {
  modelUrl: string;
  key: string;
  /** The model's context size in tokens; without it opencode never compacts. */
  limit?: { context: number; output: number };
  more?: object;
}): Record<string, string> => ({
  OPENCODE_DISABLE_MODELS_FETCH: '1',
  OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
  OPENCODE_CONFIG_CONTENT: JSON.stringify({
    autoupdate: false,
    share: 'disabled',
    model: `svc/${MODEL}`,
    small_model: `svc/${MODEL}`,
    provider: {
      svc: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${modelUrl}/v1`, apiKey: key },
        models: { [MODEL]: limit === undefined ? {} : { limit } },
      },
    },
    ...more,
  }),
});

/**
 * Commands and settings that give each program a model and a server with tools, and keep it from asking questions.
 */
const AGENTS: Record<string, (wish: AgentWish) => Command> = {
  claude: ({ prompt, modelUrl, mcp }) => ({
    args: [
      ...['-p', '--output-format', 'stream-json', '--verbose', '--permission-mode', 'bypassPermissions'],
      ...[
        '--strict-mcp-config',
        '--mcp-config',
        JSON.stringify({ mcpServers: mcp ? { svc: claudeServer(mcp) } : {} }),
      ],
      '--',
      prompt,
    ],
    env: {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_AUTH_TOKEN: KEY,
      // Otherwise it refuses to run as root.
      IS_SANDBOX: '1',
      DISABLE_AUTOUPDATER: '1',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  }),
  codex: ({ prompt, modelUrl, mcp }) => {
    const provider = `{name="svc",base_url="${modelUrl}/v1",env_key="SVC_TEST_KEY",wire_api="responses",supports_websockets=false}`;
    const settings = [
      'model_provider="svc"',
      `model="${MODEL}"`,
      `model_providers.svc=${provider}`,
      'analytics.enabled=false',
      'check_for_update_on_startup=false',
    ];
    if (mcp !== undefined) settings.push(codexServer(mcp));
    return {
      args: [
        ...['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox'],
        ...settings.flatMap((setting) => ['-c', setting]),
        '--',
        prompt,
      ],
      env: { SVC_TEST_KEY: KEY },
    };
  },
  opencode: ({ prompt, modelUrl, mcp }) => ({
    args: ['run', '--format', 'json', '--auto'],
    // opencode adds quotes to arguments with spaces; input on stdin is passed on unchanged.
    input: prompt,
    env: {
      ...opencodeEnvironment({ modelUrl, key: KEY, more: { mcp: mcp ? { svc: opencodeServer(mcp) } : {} } }),
    },
  }),
};

/** Runs a real agent program with one prompt until it exits. */
export function runAgent(
  agent: string,
  wish: AgentWish,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { args, env, input = '' } = AGENTS[agent]!(wish);
  mkdirSync(wish.home, { recursive: true });
  const inherited = gitEnvironment();
  return new Promise((resolve) => {
    const child = execFile(
      join(AGENTS_BIN, agent),
      args,
      {
        cwd: wish.cwd,
        env: {
          PATH: `${AGENTS_BIN}${delimiter}${inherited.PATH}`,
          HOME: wish.home,
          LANG: 'C.UTF-8',
          ...(wish.mcp && 'url' in wish.mcp ? { [TOKEN]: wish.mcp.token } : {}),
          ...env,
          ...wish.env,
        },
        timeout: wish.timeoutMs ?? 90_000,
        maxBuffer: 64 * 1024 * 1024,
      },
      (error: ExecFileException | null, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 128;
        resolve({ code, stdout, stderr });
      },
    );
    child.stdin?.end(input);
  });
}
