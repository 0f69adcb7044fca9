import { z } from 'zod';
import type { AgentOverrides } from '../agents/index.ts';
import type { Caller } from '../api/operation.ts';
import { SvcError } from '../base/errors.ts';
import type { Decisions } from './decisions/index.ts';
import type { DispatchOptions } from './dispatch-options.ts';
import { pickRequested } from './workflow/index.ts';

// Inputs that tasks and decisions share.

export const id = z.string().min(1);
/** Exact ids; unknown ones are left out of the answer. */
export const ids = z.array(z.string()).max(1000).optional();
export const limit = z.int().min(1).max(100_000).optional();
/** The body of a task. */
export const body = z.string().max(4_000_000);
/** Hash of what a person saw that a task or decision would run. */
export const hash = z.string().optional();
export const timeout = z
  .int()
  .min(1)
  .max(7 * 86_400)
  .optional();

/** Input of every operation that may dispatch. */
export const dispatchInput = {
  inplace: z.boolean().optional(),
  keep_worktree: z.boolean().optional(),
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,63}$/, 'a name has letters, digits, . _ - and at most 64 characters')
    .optional(),
  base: z.string().min(1).optional(),
  timeout_sec: timeout,
  force: z.boolean().optional(),
};

/** Priority among the tasks that wait for a worker. */
export const PRIORITIES = { low: -1, normal: 0, high: 1 } as const;
export const priority = z.enum(['low', 'normal', 'high']).optional();

const dispatching = z.object(dispatchInput);

export const optionsOf = (input: z.infer<typeof dispatching>, caller: Caller): DispatchOptions => ({
  agents: agentOverrides(caller),
  parent: caller.sessionId ?? undefined,
  inplace: input.inplace,
  keepWorktree: input.keep_worktree,
  name: input.name,
  base: input.base ?? caller.env.SVC_GIT_BASE,
  timeoutSec: input.timeout_sec,
  force: input.force === true || isOn(caller.env.SVC_LEDGER_FORCE),
  gatewayBypass: isOn(caller.env.SVC_GATEWAY_BYPASS),
  tokenBudget: parseTokenBudget(caller.env.SVC_TASK_TOKEN_BUDGET),
});

/** The options of a run that adds nothing to those of the task's open decision. */
export const plannedOptions = (
  decisions: Pick<Decisions, 'openOf' | 'boundTo'>,
  taskId: string,
  caller: Caller,
): DispatchOptions => {
  const open = decisions.openOf(taskId);
  const asked = open === null ? {} : decisions.boundTo(open.decisionId).options;
  return { ...asked, ...pickRequested(optionsOf({}, caller)) };
};

/**
 * The agent overrides in the caller's environment; undefined for none. Only a person may name a program, so only the
 * Chair's environment counts. Throws `config_invalid`.
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

/** Throws `config_invalid`: an invalid budget must not pass for none. */
function parseTokenBudget(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const count = /^\d{1,15}$/.test(text) ? Number(text) : 0;
  if (count > 0) return count;
  throw new SvcError('config_invalid', 'SVC_TASK_TOKEN_BUDGET: expected a number of tokens above 0');
}

const isOn = (value: string | undefined): boolean => /^(?:1|true|yes|on)$/i.test(value ?? '');
