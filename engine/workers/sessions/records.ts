import type { SessionState } from './rows.ts';
import type { ClaimedUsage } from './usage.ts';

/** Input for a new session, which is then queued for its first run. */
export interface NewSession {
  taskId: string;
  decisionId: string;
  title: string;
  agent: string;
  project: string | null;
  inplace: boolean;
  keepWorktree: boolean;
  base: string | null;
  /** A worker's given name: the same name is the same worker. */
  name: string | null;
  timeoutSec: number;
  idleTimeoutSec: number;
  priority: -1 | 0 | 1;
  /** The ended session whose worktree and conversation it continues. */
  continues: string | null;
  /** True if its runs use the agent's own login, regardless of `agents.auth`. */
  gatewayBypass: boolean;
  tokenBudget: number | null;
  /** The session that dispatched it. */
  parent: string | null;
  /** Its race. */
  race: number | null;
  /** The pool of machines that it may run on; null for this machine. */
  pool: string | null;
  /** The machine that it has to run on; null for any of its pool. */
  runner: string | null;
}

/** The settings of a run that is being started. */
export interface RunStart {
  runId: string;
  transport: 'subprocess' | 'acp';
  auth: 'account' | 'gateway';
  /** `guard.profile`. */
  profile: string;
  /** The machine that it runs on; null for this one. */
  runner: string | null;
}

/** A run's report about itself; its tokens are added to the earlier ones. */
export interface RunFacts {
  agentSession: string | null;
  model: string | null;
  /** Usage of this run only. */
  usage: ClaimedUsage | null;
  /** Usage of the whole conversation, if the agent reported it. */
  conversation: ClaimedUsage | null;
  toolCalls: number;
}

export interface SessionEnd {
  exitCode: number | null;
  exitSignal: string | null;
  failure: { code: string; text: string } | null;
  headCommit?: string | null;
  commits?: number | null;
  files?: number | null;
  insertions?: number | null;
  deletions?: number | null;
}

export interface SessionFilter {
  state?: SessionState | undefined;
  live?: boolean | undefined;
  ids?: readonly string[] | undefined;
  /** The session that a page starts after. */
  cursor?: string | undefined;
  limit?: number | undefined;
}
