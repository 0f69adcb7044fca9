import { SvcError } from '../core/base/errors.ts';
import { type ConfigTree, setAt } from './layers.ts';

/** One environment variable and its effect. */
export interface EnvironmentVariable {
  name: string;
  effect: string;
  /** The configuration key it overrides. */
  key?: string;
  /** config: overrides a key; call: read by the command that is run; worker: set for a worker; process: read at start. */
  scope: 'config' | 'call' | 'worker' | 'process';
  /** The feature that reads it. */
  owner: string;
}

const variable = (
  name: string,
  scope: EnvironmentVariable['scope'],
  owner: string,
  effect: string,
  key?: string,
): EnvironmentVariable => ({
  name,
  effect,
  scope,
  owner,
  ...(key === undefined ? {} : { key }),
});
/** All 27 variables of svc. */
export const ENVIRONMENT: readonly EnvironmentVariable[] = [
  variable(
    'SVC_ACTOR',
    'call',
    'policy',
    'actor name for the policy and for records; default: the name of the OS user',
  ),
  variable(
    'SVC_AGENT',
    'worker',
    'workers',
    'given to a worker: its preset; default of from_agent in messages',
  ),
  variable('SVC_AGENT_CMD', 'config', 'workers', 'command of the default agent', 'agents.default_cmd'),
  variable('SVC_AGENT_PRESET', 'config', 'workers', 'preset of the default agent', 'agents.default_preset'),
  variable(
    'SVC_AGENT_TIMEOUT_SEC',
    'config',
    'workers',
    'hard cap of one agent run in seconds',
    'agents.timeout_sec',
  ),
  variable(
    'SVC_AGENT_TRANSPORT',
    'config',
    'agent protocol',
    'transport of every preset: subprocess, or acp for each that has an entry in agents.acp',
    'agents.transport',
  ),
  variable(
    'SVC_ALLOW_UNLINKED',
    'process',
    'linked server',
    '1: a workspace that is not linked needs no lease',
  ),
  variable(
    'SVC_CONFIG',
    'process',
    'configuration',
    'path of svc.yaml, instead of walking up from the current folder',
  ),
  variable(
    'SVC_FORCE_COLOR',
    'process',
    'dashboard, lists',
    '1: colour even with NO_COLOR or a dumb terminal; 0: none',
  ),
  variable('SVC_GATEWAY_BYPASS', 'call', 'gateway', '1: this dispatch is not routed through the gateway'),
  variable('SVC_GIT_BASE', 'call', 'worktrees', 'base branch of new worktrees and of promote'),
  variable(
    'SVC_HOME',
    'process',
    'configuration',
    "folder of the machine home: ai.yaml, keys.env and the account's files",
  ),
  variable(
    'SVC_LEASE_SECRET',
    'process',
    'linked server',
    'root secret of a linked server; a workspace that has it verifies its leases with it and fetches no key from the server; never shown',
  ),
  variable('SVC_LEDGER_FORCE', 'call', 'ledger', '1: dispatch skips the ledger gate, recorded'),
  variable('SVC_NAME', 'worker', 'workers', 'given to a worker: its stable name; default name in messages'),
  variable(
    'SVC_NOTIFY_URL',
    'worker',
    'bus delivery',
    "address under which this session's own agent listens: {{notify_base}}",
  ),
  variable('SVC_NO_SPIN', 'process', 'dashboard', '1: no animation (there is none yet)'),
  variable('SVC_OLLAMA_HOST', 'config', 'gateway', 'address of the local Ollama', 'ai.ollama.host'),
  variable('SVC_OLLAMA_MODEL', 'config', 'gateway', 'model of the local Ollama', 'ai.ollama.model'),
  variable(
    'SVC_PAGER',
    'process',
    'lists',
    'pager for output longer than the terminal, used before PAGER; empty: none',
  ),
  variable(
    'SVC_PORT',
    'worker',
    'workers',
    "given to a worker, the setup and the run commands of its worktree: a free port, the worktree's own",
  ),
  variable(
    'SVC_REQUIRE_LEASE',
    'process',
    'linked server',
    '1: dispatch needs a valid lease from the linked server',
  ),
  variable('SVC_ROLE', 'worker', 'workers', 'given to a worker: its seat; informative, never trusted'),
  variable(
    'SVC_SEAT',
    'worker',
    'workers',
    'given to a worker on another machine than its engine: the folder of its connection to the engine',
  ),
  variable(
    'SVC_SESSION',
    'worker',
    'workers',
    'given to a worker: its session, the default of tools that take one',
  ),
  variable('SVC_SESSION_NAME', 'worker', 'workers', "given to a worker: its session's title"),
  variable('SVC_SETUP_YES', 'call', 'set-up', '1: answers yes to the questions of svc init and other set-up'),
  variable(
    'SVC_SKIP_GATEWAY_AUTOSTART',
    'process',
    'gateway',
    '1: the engine does not start a gateway automatically',
  ),
  variable(
    'SVC_TASK',
    'worker',
    'workers',
    'given to a worker: its task, the default of tools that take one',
  ),
  variable(
    'SVC_TASK_TOKEN_BUDGET',
    'call',
    'gateway',
    'tokens that all runs of one task may spend; no run starts once they are spent',
  ),
];

/** Returns whether a 1/0 variable is on. Throws `config_invalid` for anything else. */
export function readEnvironmentFlag(env: NodeJS.ProcessEnv, name: string): boolean {
  const value = (env[name] ?? '').toLowerCase();
  if (['1', 'true', 'yes', 'on'].includes(value)) return true;
  if (['', '0', 'false', 'no', 'off'].includes(value)) return false;
  throw new SvcError('config_invalid', `${name}: expected 1 or 0`);
}

/**
 * Reads the keys that the environment sets. An empty variable counts as unset. `presets` come from the files: the
 * transport applies to every existing preset.
 */
export function readEnvironmentLayer(env: NodeJS.ProcessEnv, presets: TransportPresets): ConfigTree {
  const layer: ConfigTree = {};
  for (const { name, key } of ENVIRONMENT) {
    const value = env[name];
    if (key === undefined || value === undefined || value === '') continue;
    if (key === 'agents.transport') setAt(layer, key.split('.'), buildTransports(value, presets));
    else setAt(layer, key.split('.'), key.endsWith('_sec') && /^\d+$/.test(value) ? Number(value) : value);
  }
  return layer;
}

/** The existing presets, and those that support the agent protocol. */
export interface TransportPresets {
  all: readonly string[];
  acp: readonly string[];
}

// A preset without a protocol server keeps its transport: one value for all presets must not forbid most of them.
function buildTransports(value: string, { all, acp }: TransportPresets): ConfigTree {
  return Object.fromEntries((value === 'acp' ? acp : all).map((preset) => [preset, value]));
}

/** Finds the variable that sets `key` or something inside it. */
export const findOverriding = (key: string): EnvironmentVariable | undefined =>
  ENVIRONMENT.find((row) => row.key !== undefined && (key === row.key || key.startsWith(`${row.key}.`)));
