import { homedir } from 'node:os';
import { join } from 'node:path';

export type ClientScope = 'project' | 'user';

/** The server as a client starts it. */
export interface ServerEntry {
  command: string;
  args: readonly string[];
}

/** The location of the client file that all folders share. */
interface UserPlace {
  /** The variable that overrides the folder. */
  variable?: string;
  /** The default folder, below the person's home. */
  below: string;
  /** Names in that folder, the first one for a new file. */
  files: readonly string[];
}

interface ProjectPlace {
  /** Names in the folder of the project, the first one for a new file. */
  files: readonly string[];
  /** True if the client also searches the folders above the one where it is started. */
  upward: boolean;
}

/** A program with its own configuration for the servers that it starts. */
export interface ClientProgram {
  /** The name of its preset. */
  name: string;
  format: 'json' | 'toml';
  /** The keys that lead to the entry. */
  path: readonly string[];
  entry(server: ServerEntry): Record<string, unknown>;
  /** Null if it has none, or ignores it until the person trusts the folder in its own dialog. */
  project: ProjectPlace | null;
  user: UserPlace;
  /** Other entries of a new file. */
  start?: Record<string, unknown>;
  /** Instructions for the person if the file alone is not enough. */
  next?: Partial<Record<ClientScope, string>>;
}

const SERVERS = ['mcpServers', 'svc'] as const;
const TRUST = 'gemini starts servers only in trusted folders';

const formatPlainEntry = ({ command, args }: ServerEntry): Record<string, unknown> => ({ command, args });

/** The file formats as the programs write them; docs/extend/agents.md has the same as a table. */
export const listClients = (passedOn: readonly string[]): readonly ClientProgram[] => [
  {
    name: 'claude',
    format: 'json',
    path: SERVERS,
    entry: (server) => ({ type: 'stdio', ...formatPlainEntry(server), env: {} }),
    project: { files: ['.mcp.json'], upward: true },
    user: { variable: 'CLAUDE_CONFIG_DIR', below: '', files: ['.claude.json'] },
    next: { project: 'claude asks once whether it may start the server of a project' },
  },
  {
    name: 'codex',
    format: 'toml',
    path: ['mcp_servers', 'svc'],
    entry: (server) => ({ ...formatPlainEntry(server), env_vars: passedOn }),
    project: null,
    user: { variable: 'CODEX_HOME', below: '.codex', files: ['config.toml'] },
  },
  {
    name: 'gemini',
    format: 'json',
    path: SERVERS,
    entry: formatPlainEntry,
    project: { files: ['.gemini/settings.json'], upward: false },
    user: { variable: 'GEMINI_CLI_HOME', below: '', files: ['.gemini/settings.json'] },
    next: { project: TRUST, user: TRUST },
  },
  {
    name: 'opencode',
    format: 'json',
    path: ['mcp', 'svc'],
    entry: ({ command, args }) => ({ type: 'local', command: [command, ...args] }),
    project: { files: ['opencode.json', 'opencode.jsonc'], upward: true },
    user: {
      variable: 'XDG_CONFIG_HOME',
      below: '.config',
      files: ['opencode/opencode.json', 'opencode/opencode.jsonc'],
    },
    start: { $schema: 'https://opencode.ai/config.json' },
  },
  {
    name: 'copilot',
    format: 'json',
    path: SERVERS,
    entry: (server) => ({ tools: ['*'], type: 'local', ...formatPlainEntry(server) }),
    project: null,
    user: { variable: 'COPILOT_HOME', below: '.copilot', files: ['mcp-config.json'] },
  },
  {
    name: 'qwen',
    format: 'json',
    path: SERVERS,
    entry: formatPlainEntry,
    project: { files: ['.qwen/settings.json'], upward: false },
    user: { variable: 'QWEN_HOME', below: '.qwen', files: ['settings.json'] },
    next: { project: 'qwen starts the server of a project only after qwen mcp approve svc' },
  },
  {
    name: 'kimi',
    format: 'json',
    path: SERVERS,
    entry: formatPlainEntry,
    project: null,
    user: { variable: 'KIMI_CODE_HOME', below: '.kimi-code', files: ['mcp.json'] },
  },
  {
    name: 'cursor',
    format: 'json',
    path: SERVERS,
    entry: formatPlainEntry,
    project: { files: ['.cursor/mcp.json'], upward: true },
    user: { below: '.cursor', files: ['mcp.json'] },
  },
  {
    name: 'droid',
    format: 'json',
    path: SERVERS,
    entry: (server) => ({ type: 'stdio', ...formatPlainEntry(server), disabled: false }),
    project: { files: ['.factory/mcp.json'], upward: true },
    user: { below: '.factory', files: ['mcp.json'] },
  },
];

/** Client names for help and completion, which load nothing else. */
export const CLIENT_NAMES: readonly string[] = listClients([]).map(({ name }) => name);

/** Lists the paths of the client's file in a scope, the first one for a new file. */
export function listClientFiles(
  client: ClientProgram,
  scope: ClientScope,
  root: string,
  env: NodeJS.ProcessEnv,
): string[] {
  if (scope === 'project') return (client.project?.files ?? []).map((file) => join(root, file));
  const { variable, below, files } = client.user;
  const named = variable === undefined ? undefined : env[variable];
  const folder = named || join(env.HOME || homedir(), below);
  return files.map((file) => join(folder, file));
}
