import type { Tasks } from '../../board/tasks/index.ts';
import type { Session, Sessions } from '../../bus/sessions/index.ts';
import type { Clock } from '../../clock.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { Processes } from '../processes/index.ts';
import type { Worktrees } from '../worktrees/index.ts';
import type { Agents } from './agents.ts';
import type { Kept, Verdict } from './finish.ts';

/** A logger in pino's shape. */
export interface Log {
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
  error(facts: object, text: string): void;
}

export interface DispatchPaths {
  /** Absolute; one folder per session with log, prompt and run directories. */
  agents: string;
  /** Absolute; one worktree per session. */
  worktrees: string;
}

/** What the dispatcher is made of. */
export interface DispatchDeps {
  storage: Storage;
  events: EventLog;
  tasks: Tasks;
  sessions: Sessions;
  processes: Processes;
  worktrees: Worktrees;
  agents: Agents;
  clock: Clock;
  log: Log;
  paths: DispatchPaths;
  /** svc.yaml, given to workers as `SVC_CONFIG`. */
  configFile: string;
  /** Program and arguments that run `svc`; null when the host has none. */
  svc: readonly string[] | null;
  /** The environment that workers inherit an allow-listed part of. */
  env: NodeJS.ProcessEnv;
  /** Names of variables that hold secrets and are never passed on. */
  secretNames(): string[];
  timeouts(): { timeoutSec: number; idleTimeoutSec: number };
  /** Inside the transaction that records the end: what the session held is freed, and its Chair is told. */
  atEnd(session: Session, verdict: Verdict, kept: Kept): void;
  /** How many workers run at once. */
  cap: number;
  /** How long a stopped worker may take to end by itself, ms. */
  graceMs: number;
}
