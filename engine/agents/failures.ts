import type { ErrorCode } from '../base/errors.ts';
import type { StopReason } from '../sessions/index.ts';
import type { EndCode } from './streams/stream.ts';

/** The meaning of a failed session's code. */
export interface Failure {
  /** Why it failed, a clause. */
  means: string;
  /** What a person does next, a clause. */
  next: string;
  /** The failure concerns the agent, its login or its model, not the task: such failures open the agent's circuit. */
  isOfAgent?: true;
  /** A limit that ends by itself: if the time is known, it is a pause and no failure. */
  isLimit?: true;
}

type AtEnd = EndCode | StopReason | 'exit_code' | 'no_result' | 'killed' | 'lost' | 'reported';
type AtStart = Extract<
  ErrorCode,
  | 'agent_not_found'
  | 'spawn_failed'
  | 'unknown_agent'
  | 'not_a_repository'
  | 'repository_empty'
  | 'git_failed'
  | 'gateway_unreachable'
  | 'tool_missing'
  | 'confinement_unavailable'
  | 'consent_missing'
  | 'setup_failed'
  | 'inputs_changed'
>;

/** Codes of sessions that failed. A start can also fail with any other code of docs/errors.md. */
export const SESSION_FAILURES: Readonly<Record<AtEnd | AtStart, Failure>> = {
  permission_denied: {
    means: 'a tool that it needed was denied to it, and nobody was there to allow it',
    next: "allow it in the agent's own settings, or with transport acp in agents.permissions",
  },
  auth_failed: {
    means: 'its login or key is missing, wrong or has run out',
    next: 'start the agent once by hand and log in',
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
  agent_not_found: {
    means: 'its program is not on the PATH of the engine',
    next: 'install it, or correct the command under agents.cmds',
    isOfAgent: true,
  },
  spawn_failed: {
    means: 'its process could not be started',
    next: 'correct what the failure names',
    isOfAgent: true,
  },
  unknown_agent: { means: 'agents.cmds has no such preset', next: 'add it, or assign another agent' },
  not_a_repository: {
    means: "the project's folder is in no git repository",
    next: 'git init, or run it with --inplace',
  },
  repository_empty: { means: 'the repository has no commit to begin from', next: 'commit something' },
  git_failed: { means: 'git failed while the worktree was made', next: 'correct what the failure names' },
  gateway_unreachable: {
    means: 'its model calls go through the gateway, and nothing listens at gateway.addr',
    next: 'set agents.auth of it to account, or start what is to listen there: svc brings no gateway yet',
  },
  tool_missing: {
    means: 'a program that svc needs is missing: git, or bwrap with guard.profile strict',
    next: 'install it; svc doctor says more',
  },
  confinement_unavailable: {
    means: 'guard.profile is strict, and no sandbox can be made here',
    next: 'svc doctor says why; docs/confinement.md has the reasons',
  },
  consent_missing: {
    means: 'nobody on this machine has agreed to the setup commands and files of its project',
    next: 'read them with svc project trust, and agree',
  },
  setup_failed: {
    means: 'a setup command of its project failed',
    next: 'read the log, and correct the command or what it needs',
  },
  inputs_changed: {
    means:
      'what it would have run is not what was approved: the configuration or the checkout has changed since',
    next: 'look at the decision that waits in its place, svc decision list, and approve it or not',
  },
};

/** Finds the meaning of a code; null for one that is not in the table. */
export const findFailure = (code: string): Failure | null =>
  Object.hasOwn(SESSION_FAILURES, code) ? SESSION_FAILURES[code as AtEnd | AtStart] : null;
