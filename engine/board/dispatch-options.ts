import { z } from 'zod';
import type { Caller } from '../core/api/operation.ts';
import { UNLISTED } from '../core/api/tool.ts';
import { SvcError } from '../core/base/errors.ts';
import type { AgentOverrides } from '../workers/agents/index.ts';

/** Hard limit of a run, seconds. */
export const timeoutSec = z
  .int()
  .min(1)
  .max(7 * 86_400)
  .optional();

/**
 * Options of a client for a run: input of every operation and tool that dispatches. Its decision stores them, and a
 * run that continues it repeats them; read an option with `decisions.boundTo(session.decisionId).options`.
 */
export const dispatchInput = {
  base: z.string().min(1).optional().describe('branch to create the worktree from').meta(UNLISTED),
  force: z.boolean().optional().describe('skip the ledger gate; recorded'),
  inplace: z.boolean().optional().describe('in the project’s own folder, without a worktree'),
  keep_worktree: z.boolean().optional().describe('keep it after a promotion'),
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, 'a name has letters, digits, . _ - and at most 64 characters')
    .optional()
    .describe('stable worker id across sessions'),
  on: z.string().min(1).max(100).optional().describe('the machine to run on, by its name').meta(UNLISTED),
  pool: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('run on a machine of this pool; local: here')
    .meta(UNLISTED),
  timeout_sec: timeoutSec.describe('time limit of the run'),
};

type DispatchInput = z.infer<z.ZodObject<typeof dispatchInput>>;

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** All options of a dispatch: the client's own, and those added by its environment, its seat or an approval. */
export type DispatchOptions = {
  [K in keyof DispatchInput as CamelCase<K>]?: DispatchInput[K] | undefined;
} & {
  agents?: AgentOverrides | undefined;
  /** The agents of a race: a session each. */
  race?: readonly string[] | undefined;
  /** The dispatching session. */
  parent?: string | undefined;
  /** True if it does not use the gateway, regardless of `agents.auth`. */
  gatewayBypass?: boolean | undefined;
  /** Token limit of all runs of the task together. */
  tokenBudget?: number | undefined;
  /** An ended session whose worktree and conversation this one continues. */
  continues?: string | undefined;
  /** True if a person allows it to continue without the sandbox of the previous run. */
  outside?: boolean | undefined;
  /** True if a person allows a task from an untrusted author to run without its required sandbox. */
  unconfined?: boolean | undefined;
};

/** Reads the options of one call: its input and its caller's environment. Throws `config_invalid` for an invalid variable. */
export function readDispatchOptions(input: DispatchInput, caller: Caller): DispatchOptions {
  const asked = Object.keys(dispatchInput).map((key) => [
    key.replace(/_./g, (pair) => pair.slice(1).toUpperCase()),
    input[key as keyof DispatchInput],
  ]);
  return {
    ...(Object.fromEntries(asked) as DispatchOptions),
    agents: agentOverrides(caller),
    parent: caller.sessionId ?? undefined,
    base: input.base ?? caller.env.SVC_GIT_BASE,
    force: input.force === true || isOptionOn(caller.env.SVC_LEDGER_FORCE),
    gatewayBypass: isOptionOn(caller.env.SVC_GATEWAY_BYPASS),
    tokenBudget: parseTokenBudget(caller.env.SVC_TASK_TOKEN_BUDGET),
  };
}

/** Drops unset options, so that it only adds to other options. */
export const pickRequested = (options: DispatchOptions): DispatchOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== false));

/**
 * Returns the options that the next run in the same worktree repeats: not the ones of one call, of one approval or
 * for a new worktree. Its agent stays the one of its conversation.
 */
export const pickRepeatable = ({
  base: _base,
  parent: _parent,
  force: _force,
  continues: _continues,
  outside: _outside,
  unconfined: _unconfined,
  race: _race,
  ...options
}: DispatchOptions): DispatchOptions => options;

/**
 * Reads the agent overrides in the caller's environment; undefined for none. Only a person may name a program, so
 * only the Chair's environment is used. Throws `config_invalid`.
 */
export function agentOverrides({ seat, env }: Pick<Caller, 'seat' | 'env'>): AgentOverrides | undefined {
  if (seat !== 'chair') return undefined;
  const overrides = {
    command: env.SVC_AGENT_CMD || undefined,
    preset: env.SVC_AGENT_PRESET || undefined,
    transport: parseTransport(env.SVC_AGENT_TRANSPORT || undefined),
    timeoutSec: parseSeconds(env.SVC_AGENT_TIMEOUT_SEC || '0'),
  };
  return Object.values(overrides).some((value) => value !== undefined) ? overrides : undefined;
}

function parseTransport(word: string | undefined): AgentOverrides['transport'] {
  if (word === undefined || word === 'subprocess' || word === 'acp') return word;
  throw new SvcError('config_invalid', 'SVC_AGENT_TRANSPORT: expected one of subprocess, acp');
}

/** 0 means no override. */
function parseSeconds(text: string): number | undefined {
  if (/^\d{1,9}$/.test(text)) return Number(text) || undefined;
  throw new SvcError('config_invalid', 'SVC_AGENT_TIMEOUT_SEC: expected a whole number of seconds');
}

/** Throws `config_invalid`: an invalid budget must not be treated as none. */
function parseTokenBudget(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const count = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (count > 0) return count;
  throw new SvcError('config_invalid', 'SVC_TASK_TOKEN_BUDGET: expected a number of tokens above 0');
}

const isOptionOn = (value: string | undefined): boolean => /^(?:1|true|yes|on)$/i.test(value ?? '');
