import { ERROR_MEANINGS, type ErrorMeaning } from '../../core/base/error-meanings.ts';
import type { ErrorCode } from '../../core/base/errors.ts';
import type { StopReason } from '../sessions/index.ts';
import type { EndCode } from './streams/stream.ts';

/** The meaning of a failed session's code. */
export interface SessionFailure extends ErrorMeaning {
  /** True if the failure concerns the agent, its login or its model, not the task: such failures open the agent's circuit. */
  isOfAgent?: true;
  /** True for a limit that ends by itself: if the time is known, it is a pause and not a failure. */
  isLimit?: true;
}

type AtEnd =
  | EndCode
  | Exclude<StopReason, 'unanswered'>
  | 'exit_code'
  | 'no_result'
  | 'killed'
  | 'lost'
  | 'runner_lost'
  | 'reported';

const AT_END: Readonly<Record<AtEnd, SessionFailure>> = {
  permission_denied: {
    means: 'it was denied a tool that it needed, and no one was there to allow it',
    next: "allow it in the agent's own settings, or with transport acp in agents.permissions",
  },
  auth_failed: {
    means: 'its login or key is missing, wrong or expired',
    next: 'start the agent once by hand and log in; if it uses the gateway, svc doctor --live shows which provider refuses its key',
    isOfAgent: true,
  },
  rate_limited: {
    means: 'its model service refused further requests, and it stopped retrying',
    next: 'wait a while',
    isLimit: true,
  },
  usage_limit: {
    means: "the account's allowance is used up",
    next: 'wait until it is renewed, or log in with another account',
    isLimit: true,
  },
  budget_exceeded: {
    means: 'its token or money budget is used up',
    next: 'run it with a larger SVC_TASK_TOKEN_BUDGET, or a larger limit of the agent',
  },
  turn_limit: {
    means: 'it reached its own limit of steps',
    next: 'raise the limit in its command under agents.cmds, or resume it',
  },
  context_exceeded: {
    means: 'the conversation exceeds the context window of its model',
    next: 'split the task, or start again with a shorter prompt',
  },
  refused: { means: 'its model refused to continue', next: 'rephrase the task' },
  model_error: {
    means: 'its model service returned an error or could not be reached',
    next: 'read the answer in the log; if the service is down, wait',
    isOfAgent: true,
  },
  agent_error: {
    means: 'the program failed or stopped midway',
    next: 'read the log; run the same command by hand',
    isOfAgent: true,
  },
  exit_code: {
    means: 'it exited with a code other than 0 and gave no reason',
    next: 'read the log',
  },
  no_result: {
    means: 'it exited with code 0 and reported no result, although svc reads its output',
    next: 'read the log; run the same command by hand',
    isOfAgent: true,
  },
  killed: {
    means:
      'it was ended by a signal that svc did not send, for example because the machine ran out of memory',
    next: 'read the log and the system log',
  },
  lost: {
    means: 'it ended while no engine was running, and left no exit code',
    next: 'read the log',
  },
  runner_lost: {
    means: 'its machine was lost, or removed from the fleet, while it worked there',
    next: 'what had arrived is on its branch; svc task retry runs it again',
  },
  reported: {
    means: 'its worker marked the task failed, and then exited normally',
    next: 'read why in the log',
  },
  timeout: {
    means: 'it reached its time limit: agents.timeout_sec, timeout_sec of its template, or --timeout',
    next: 'allow more time with --timeout',
  },
  idle_timeout: {
    means: 'it printed nothing for agents.idle_timeout_sec',
    next: 'read the log',
  },
  cancelled: { means: 'a person stopped it', next: 'nothing, unless it was a mistake' },
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
    means: 'no one on this machine has trusted the setup commands and files of its project',
    next: 'review and trust them with svc project trust',
  },
  trust_missing: ERROR_MEANINGS.trust_missing,
  setup_failed: ERROR_MEANINGS.setup_failed,
  inputs_changed: ERROR_MEANINGS.inputs_changed,
} satisfies Partial<Record<ErrorCode, SessionFailure>>;

/** Codes of failed sessions. A start can also fail with any other code of docs/reference/errors.md. */
export const SESSION_FAILURES: Readonly<Record<AtEnd | keyof typeof AT_START, SessionFailure>> = {
  ...AT_END,
  ...AT_START,
};

/** Finds the meaning of a code; null for one that is not in the table. */
export const findFailure = (code: string): SessionFailure | null =>
  Object.hasOwn(SESSION_FAILURES, code) ? SESSION_FAILURES[code as keyof typeof SESSION_FAILURES] : null;
