import type { Races } from '../board/index.ts';
import type { Task, Tasks } from '../board/tasks/index.ts';
import type { Approvals } from '../board/workflow/index.ts';
import type { Clock } from '../core/base/clock.ts';
import type { SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { Agents, Circuits } from '../workers/agents/index.ts';
import type { GatewayRoute } from '../workers/agents/presets/index.ts';
import type { Kept, ProjectReader, Runner } from '../workers/runner/runs/index.ts';
import type { Placement, RunOutcome, Session, Sessions, Visitors } from '../workers/sessions/index.ts';
import type { TextContributor } from './texts/index.ts';
import type { Verdict } from './verdict.ts';

/** What the gateway offers to runs. */
export interface RunKeys {
  /** Where a run's model calls go, and what is known of the models there. Throws `gateway_unreachable` when nothing answers. */
  findRoute(): Promise<Pick<GatewayRoute, 'url' | 'models'>>;
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
  races: Pick<Races, 'get' | 'fixBase' | 'started' | 'sessionEnded' | 'recover'>;
  sessions: Sessions;
  /** People who are in sessions. */
  visitors: Pick<Visitors, 'listVisited'>;
  agents: Agents;
  /** Runs the workers, wherever that is. */
  runner: Runner;
  /** Reads what is approved of a project. */
  projects: ProjectReader;
  /** Write what workers are told; in order. */
  contributors: readonly TextContributor[];
  /** What is remembered about a task, as the file that its worker reads; null for nothing. */
  writeNotes(task: Task, sessionId: string): Promise<string | null>;
  circuits: Circuits;
  keys: RunKeys;
  clock: Clock;
  log: Log;
  timeouts(): { timeoutSec: number; idleTimeoutSec: number };
  /** The configuration in use: another object after each change of it. */
  configuration(): object;
  /** `guard.profile`. */
  profile(): string;
  /** Throws `consent_missing` while nobody has ever agreed to svc.yaml. */
  requireConsent(): void;
  /** Why no worker may be dispatched into a project: no lease, or beyond the quota; null when one may. */
  findLock(project: string | null): SvcError | null;
  /** `agents.permissions`. */
  permissions(): readonly string[];
  /** Whether a question of the session waits for its answer: it is not idle then. */
  isAsking(sessionId: string): boolean;
  /** A run has its folder, and is made ready there. */
  atPlace(placement: Placement): void;
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
