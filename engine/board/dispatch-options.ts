import type { AgentOverrides } from '../agents/index.ts';

/** What a dispatch may be asked for. */
export interface DispatchOptions {
  agents?: AgentOverrides | undefined;
  inplace?: boolean | undefined;
  keepWorktree?: boolean | undefined;
  /** Stable name of the worker. */
  name?: string | undefined;
  /** Base branch of the worktree. */
  base?: string | undefined;
  timeoutSec?: number | undefined;
  /** The dispatching session. */
  parent?: string | undefined;
  /** Bypasses the ledger gate. For the dispatcher: the gate was bypassed, which is recorded. */
  force?: boolean | undefined;
  /** Does not use the gateway, whatever `agents.auth` says. */
  gatewayBypass?: boolean | undefined;
  /** Tokens that all runs of the task together may spend. */
  tokenBudget?: number | undefined;
  /** An ended session whose worktree and conversation this one continues. */
  continues?: string | undefined;
  /** A person allows it to continue without the sandbox of the previous run. */
  outside?: boolean | undefined;
  /** A person allows a stranger's task to run without the sandbox that it needs. */
  unconfined?: boolean | undefined;
}
