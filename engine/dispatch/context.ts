import type { DispatchOptions, Races } from '../board/index.ts';
import type { Task, Tasks } from '../board/tasks/index.ts';
import type { ApprovalCheck } from '../board/workflow/index.ts';
import type { Bus } from '../bus/index.ts';
import type { Clock } from '../core/base/clock.ts';
import type { SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { AgentCircuits, AgentRegistry } from '../workers/agents/index.ts';
import type { GatewayRoute } from '../workers/agents/presets/index.ts';
import type { KeptWorktree, ProjectReader, Runner } from '../workers/runner/runs/index.ts';
import type {
  ReadySession,
  RunOutcome,
  Session,
  SessionPlacement,
  Sessions,
  SessionVisitors,
} from '../workers/sessions/index.ts';
import type { TextContributor } from './texts/index.ts';
import type { RunVerdict } from './verdict.ts';

/** The gateway's interface for runs. */
export interface RunKeys {
  /**
   * Returns the route of a run's model calls, and the known facts about its models. Throws `gateway_unreachable` if
   * nothing answers.
   */
  findRoute(): Promise<Pick<GatewayRoute, 'url' | 'models'>>;
  /** Returns the same address, whether or not anything answers there. */
  buildRoute(): string;
  /** Inside `storage.write`: creates a new key, the only one of this session. */
  issueKey(run: {
    sessionId: string;
    taskId: string;
    budgetTokens: number | null;
    claimedTokens: number;
  }): string;
  /** Resolves once the calls so far are in the books, if the gateway answers. */
  saveCalls(): Promise<void>;
  /** Inside `storage.write`: revokes the keys of a session. */
  revokeKey(sessionId: string): void;
  /** Returns when a provider's limit for this session ends, Unix ms; null for none. */
  limitedUntil(sessionId: string): number | null;
}

/** The machines on which a session may run, if not on this one. */
export interface Destination {
  pool: string;
  /** The id of the one machine; null for any of the pool. */
  runner: string | null;
}

type WantedMachine = Pick<DispatchOptions, 'pool' | 'on'>;

/** The other machines that workers run on. All of it is read synchronously, from what is known here. */
export interface OtherMachines {
  /** Reports whether there is any. */
  hasAny(): boolean;
  /** Reports whether a machine was not removed. */
  isKnown(runner: string): boolean;
  /** Reports whether a machine was removed or cut off, so that nothing there can be asked any more. */
  isGone(runner: string): boolean;
  /** Describes the loss of a machine, a clause, and whether its sessions may continue on others. */
  explainLoss(runner: string): { name: string; text: string; mayMove: boolean };
  /** Puts what was saved of a session on its branch, and counts what is there. Never rejects. */
  takeStock(session: Session): Promise<KeptWorktree>;
  /** Cleans a machine of the runs that were given up, once it can be reached. */
  settle(runner: string): void;
  /** Reports whether a machine is connected. */
  isReachable(runner: string): boolean;
  /** Returns the pool that a run is bound to; null for this machine. Throws nothing: an unknown machine is its own pool. */
  findPool(project: string | null, wanted: WantedMachine): string | null;
  /**
   * Finds where a run may go; null for this machine. Throws `no_runner` if there is no such machine, and
   * `share_missing` if the project is not shared with its pool.
   */
  findDestination(project: string | null, wanted: WantedMachine): Destination | null;
  /**
   * Opens the choice of machines for sessions that wait, to be used at once.
   * @param working how many sessions work on each machine
   */
  openChoice(working: ReadonlyMap<string | null, number>): MachineChoice;
}

/** Chooses machines for many sessions, by what is known of the machines at one moment. */
export interface MachineChoice {
  /** Chooses the machine for a session, or explains why none takes it, a clause. Its own machine goes first. */
  choose(
    wanted: Pick<ReadySession, 'agent' | 'project' | 'runner' | 'mayMove' | 'profile'> & {
      /** Null before it exists. */
      sessionId: string | null;
      pool: string;
    },
  ): { runner: string } | { why: string };
  /** Counts a session as working on a machine. */
  take(runner: string): void;
}

/** The dependencies of the dispatcher. */
export interface DispatchDeps {
  storage: Storage;
  events: EventLog;
  tasks: Tasks;
  approvals: ApprovalCheck;
  races: Pick<Races, 'get' | 'fixBase' | 'started' | 'sessionEnded' | 'recover'>;
  sessions: Sessions;
  /** People who have entered sessions. */
  visitors: Pick<SessionVisitors, 'listVisited'>;
  agents: AgentRegistry;
  /** Runs the workers, on any machine. */
  runner: Runner;
  machines: OtherMachines;
  /** Reads the approved parts of a project. */
  projects: ProjectReader;
  /** Contributors of texts for workers, in order. */
  contributors: readonly TextContributor[];
  /** Returns the memories for a task, as the file that its worker reads; null for none. */
  writeNotes(task: Task, sessionId: string): Promise<string | null>;
  circuits: AgentCircuits;
  keys: RunKeys;
  clock: Clock;
  log: Log;
  timeouts(): { timeoutSec: number; idleTimeoutSec: number };
  /** The configuration in use: a new object after each change. */
  configuration(): object;
  /** `guard.profile`. */
  profile(): string;
  /** Throws `consent_missing` while no one has ever agreed to svc.yaml. */
  requireConsent(): void;
  /** Explains why no worker may be dispatched into a project: no lease, or over the quota; null if one may. */
  findLock(project: string | null): SvcError | null;
  /** `agents.permissions`. */
  permissions(): readonly string[];
  /** The session's questions, which hold it up. */
  questions: {
    hold: Bus['findHold'];
    /** Inside the transaction that pauses it. */
    keep: Bus['keepAsksOf'];
    /** Inside the transaction that resumes it without an answer. */
    drop: Bus['dropAsksOf'];
  };
  /** Called when the process of a run has started in its folder. */
  atStart(placement: SessionPlacement): void;
  /** Called inside the transaction that records the end: releases what the session held, and notifies its Chair. */
  atEnd(
    session: Session,
    end: Pick<RunVerdict, 'exitCode' | 'reason'> & { outcome: RunOutcome },
    kept: KeptWorktree,
  ): void;
  /** Maximum number of concurrent workers. */
  cap: number;
  /** How long a worker may take to end by itself after it was stopped, or has reported its end, ms. */
  graceMs: number;
}
