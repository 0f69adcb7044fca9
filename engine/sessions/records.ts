import type { SessionState, SessionUsage } from './rows.ts';

/** What is needed for a new one, which waits for its first run then. */
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
  /** An ended session whose worktree and conversation it goes on with. */
  continues: string | null;
  /** Its runs have the agent's own login, whatever `agents.auth` says. */
  gatewayBypass: boolean;
  tokenBudget: number | null;
  /** The session that dispatched it. */
  parent: string | null;
}

/** How a run is about to be made. */
export interface RunStart {
  runId: string;
  transport: 'subprocess' | 'acp';
  auth: 'account' | 'gateway';
  /** `guard.profile`. */
  profile: string;
}

/** What a run has said of itself; its tokens are added to those of the runs before. */
export interface RunFacts {
  agentSession: string | null;
  model: string | null;
  /** Of this run alone. */
  usage: SessionUsage | null;
  /** Of its whole conversation, where the agent has told that. */
  conversation: SessionUsage | null;
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
  limit?: number | undefined;
}
