import { ERROR_MEANINGS, type Meaning } from '../base/error-meanings.ts';
import type { ErrorCode } from '../base/errors.ts';
import type { StopReason } from '../sessions/index.ts';
import type { EndCode } from './streams/stream.ts';

/** The meaning of a failed session's code. */
export interface Failure extends Meaning {
  /**
   * True if the failure concerns the agent, its login or its model, not the task: such failures open the agent's
   * circuit.
   */
  isOfAgent?: true;
  /** True for a limit that ends by itself: if the time is known, it is a pause and not a failure. */
  isLimit?: true;
}

type AtEnd = EndCode | StopReason | 'exit_code' | 'no_result' | 'killed' | 'lost' | 'reported';

const AT_END: Readonly<Record<AtEnd, Failure>> = {
  permission_denied: {
    means: 'a tool that it needed was denied to it, and nobody was there to allow it',
    next: "allow it in the agent's own settings, or with transport acp in agents.permissions",
  },
  auth_failed: {
    means: 'its login or key is missing, wrong or has run out',
    next: 'start the agent once by hand and log in; for one that goes through the gateway, svc doctor --live says which provider refuses its key',
    isOfAgent: true,
  },
  rate_limited: {
    means: 'the service of its model refused more requests, and it gave up trying',
    next: 'wait a while',
    isLimit: true,
  },
  usage_limit: {
    means: "the account's allowance is used up",
    next: 'wait until it is renewed, or log in with another account',
    isLimit: true,
  },
  budget_exceeded: {
    means: 'the tokens or the money that it might spend are spent',
    next: 'run it with a larger SVC_TASK_TOKEN_BUDGET, or a larger limit of the agent',
  },
  turn_limit: {
    means: "the agent's own limit of steps was reached",
    next: 'raise the limit in the command under agents.cmds, or just let it go on',
  },
  context_exceeded: {
    means: 'the conversation no longer fits its model',
    next: 'split the task, or begin anew with a shorter prompt',
  },
  refused: { means: 'its model declined to go on', next: 'say the task in other words' },
  model_error: {
    means: 'the service of its model answered with an error, or could not be reached',
    next: 'read the answer in the log, and wait if the service is down',
    isOfAgent: true,
  },
  agent_error: {
    means: 'the program failed by itself, or stopped in the middle',
    next: 'read the log; run the same command by hand',
    isOfAgent: true,
  },
  exit_code: {
    means: 'it exited with a code other than 0 and said nothing else',
    next: 'read the log',
  },
  no_result: {
    means: 'it exited with code 0 and told no result, though its output is read',
    next: 'read the log; run the same command by hand',
    isOfAgent: true,
  },
  killed: {
    means: 'a signal that was not from svc ended it, such as that of a machine without memory',
    next: 'read the log, and see what the machine says of it',
  },
  lost: {
    means: 'it ended while no engine ran, and left no exit code',
    next: 'read the log',
  },
  reported: {
    means: 'its worker marked the task failed, and then ended well',
    next: 'read why in the log',
  },
  timeout: {
    means: 'it ran for as long as it may: agents.timeout_sec, timeout_sec of its template, --timeout',
    next: 'give it longer with --timeout',
  },
  idle_timeout: {
    means: 'it printed nothing for agents.idle_timeout_sec',
    next: 'read the log',
  },
  cancelled: { means: 'a person stopped it', next: 'nothing, unless that was by mistake' },
};

/** Errors that end a session before its agent runs. */
const AT_START = {
  agent_not_found: { ...ERROR_MEANINGS.agent_not_found, isOfAgent: true },
  spawn_failed: { ...ERROR_MEANINGS.spawn_failed, isOfAgent: true },
  unknown_agent: ERROR_MEANINGS.unknown_agent,
  not_a_repository: ERROR_MEANINGS.not_a_repository,
  repository_empty: ERROR_MEANINGS.repository_empty,
  git_failed: ERROR_MEANINGS.git_failed,
  gateway_unreachable: ERROR_MEANINGS.gateway_unreachable,
  tool_missing: ERROR_MEANINGS.tool_missing,
  confinement_unavailable: ERROR_MEANINGS.confinement_unavailable,
  consent_missing: {
    means: 'nobody on this machine has agreed to the setup commands and files of its project',
    next: 'read them with svc project trust, and agree',
  },
  setup_failed: ERROR_MEANINGS.setup_failed,
  inputs_changed: ERROR_MEANINGS.inputs_changed,
} satisfies Partial<Record<ErrorCode, Failure>>;

/** Codes of failed sessions. A start can also fail with any other code of docs/errors.md. */
export const SESSION_FAILURES: Readonly<Record<AtEnd | keyof typeof AT_START, Failure>> = {
  ...AT_END,
  ...AT_START,
};

/** Finds the meaning of a code; null for one that is not in the table. */
export const findFailure = (code: string): Failure | null =>
  Object.hasOwn(SESSION_FAILURES, code) ? SESSION_FAILURES[code as keyof typeof SESSION_FAILURES] : null;
