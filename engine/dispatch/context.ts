import type { Agents, Circuits } from '../agents/index.ts';
import type { Clock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import type { Tasks } from '../board/tasks/index.ts';
import type { Approvals } from '../board/workflow/index.ts';
import type { Confinement } from '../runner/confine/index.ts';
import type { RunSockets } from '../runner/index.ts';
import type { Processes } from '../runner/processes/index.ts';
import type { Setup } from '../runner/setup/index.ts';
import type { Worktrees } from '../runner/worktrees/index.ts';
import type { RunOutcome, Session, Sessions } from '../sessions/index.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { DispatchPaths } from './folders.ts';
import type { SessionLogs } from './logs.ts';
import type { Kept, Verdict } from './verdict.ts';

/** What the gateway offers to runs. */
export interface RunKeys {
  /** Where a run's model calls go. Throws `gateway_unreachable` when nothing answers there. */
  findUrl(): Promise<string>;
  /** The same address, whether anything answers there or not. */
  buildRoute(): string;
  /** Inside `storage.write`: a new key, the only one of this session. */
  issueKey(run: { sessionId: string; taskId: string; budgetTokens: number | null }): string;
  /** Inside `storage.write`: the keys of a session hold no longer. */
  revokeKey(sessionId: string): void;
  /** When the limit that a provider put on this session is over, Unix ms; null when there is none. */
  limitedUntil(sessionId: string): number | null;
}

/** What the dispatcher is made of. */
export interface DispatchDeps {
  storage: Storage;
  events: EventLog;
  tasks: Tasks;
  approvals: Approvals;
  sessions: Sessions;
  processes: Processes;
  worktrees: Worktrees;
  agents: Agents;
  setup: Pick<
    Setup,
    | 'readProjectSetup'
    | 'digestProjectSetup'
    | 'checkConsent'
    | 'prepareWorktree'
    | 'endAbandonedSetup'
    | 'endAbandonedTeardowns'
  >;
  logs: SessionLogs;
  circuits: Circuits;
  keys: RunKeys;
  clock: Clock;
  log: Log;
  paths: DispatchPaths;
  /** svc.yaml, given to workers as `SVC_CONFIG`. */
  configFile: string;
  /** Program and arguments that run `svc`; null when the host has none. */
  svc: readonly string[] | null;
  /** Whether other users of this machine can read the arguments of our processes. */
  isArgvSeen: boolean;
  /** Of a child of the engine: what it may inherit, the engine's mark, and what is added. */
  environment(extra: Record<string, string>): Record<string, string>;
  timeouts(): { timeoutSec: number; idleTimeoutSec: number };
  /** The configuration in use: another object after each change of it. */
  configuration(): object;
  /** `guard.profile`. */
  profile(): string;
  /** Throws `consent_missing` while nobody has ever agreed to svc.yaml. */
  requireConsent(): void;
  /** `agents.permissions`. */
  permissions(): readonly string[];
  confinement: Confinement;
  /** Whether workers can be confined here. Throws `tool_missing`, `confinement_unavailable`. */
  checkConfinement(): Promise<unknown>;
  /** Gives a confined run its own way to the engine. */
  runSockets: RunSockets;
  /** Whether a question of the session waits for its answer: it is not idle then. */
  isAsking(sessionId: string): boolean;
  /** Inside the transaction that records the end: what the session held is freed, and its Chair is told. */
  atEnd(
    session: Session,
    end: Pick<Verdict, 'exitCode' | 'reason'> & { outcome: RunOutcome },
    kept: Kept,
  ): void;
  /** How many workers run at once. */
  cap: number;
  /** How long a worker may take to end by itself after it was stopped, or has said that it is at its end, ms. */
  graceMs: number;
}
