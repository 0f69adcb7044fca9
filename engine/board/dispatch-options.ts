import type { AgentOverrides } from '../agents/index.ts';

export interface DispatchOptions {
  agents?: AgentOverrides | undefined;
  inplace?: boolean | undefined;
  keepWorktree?: boolean | undefined;
  /** Stable name of the worker. */
  name?: string | undefined;
  /** Base branch of the worktree. */
  base?: string | undefined;
  timeoutSec?: number | undefined;
  /** The session that dispatches. */
  parent?: string | undefined;
  /** Passes the ledger gate. To the dispatcher: it was passed so, and that is recorded. */
  force?: boolean | undefined;
  /** Not through the gateway, whatever `agents.auth` says. */
  gatewayBypass?: boolean | undefined;
  /** Tokens that all runs of the task may spend. */
  tokenBudget?: number | undefined;
  /** An ended session whose worktree and conversation this one goes on with. */
  continues?: string | undefined;
  /** A person lets it go on without the sandbox that the one before ran in. */
  outside?: boolean | undefined;
  /** A person lets a stranger's task run without the sandbox that it needs. */
  unconfined?: boolean | undefined;
}
