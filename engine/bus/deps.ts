import type { Clock } from '../core/base/clock.ts';
import type { CallerPaths } from '../core/workspace/caller-paths.ts';
import type { WorkspacePaths } from '../core/workspace/workspace-path.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { AgentsSection } from '../workers/agents/config.ts';
import type { PrepareCommand } from '../workers/runner/processes/index.ts';
import type { ReaperDeps, RunOutcome, Session, Sessions, WorkerGuidance } from '../workers/sessions/index.ts';
import type { AsksSection, BusSection } from './config.ts';
import type { NotifyTemplates } from './delivery/send-notices.ts';

/** The parts of the configuration that the bus reads. */
export interface BusConfig {
  workspace: { name: string };
  daemon: { reap_interval_sec?: number | undefined };
  bus: BusSection;
  asks: AsksSection;
  agents: Pick<AgentsSection, 'cmds' | 'interactive' | 'notify'>;
}

/** Dependencies of the bus. */
export interface BusDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  sessions: Sessions;
  paths: WorkspacePaths;
  callerPaths: CallerPaths;
  config(): BusConfig;
  /** The rules that agents are reminded of. */
  guidance: WorkerGuidance;
  /** Resolves a project as a caller names it to its id; null for the workspace's own. Throws `unknown_project`. */
  projectId(project: string | null): string | null;
  /** Its folder, absolute. */
  folder(project: string | null): string;
  /** Returns the location of a project's shared symbol, relative to its folder; otherwise why it is not found, a clause. */
  locateSymbol(symbol: string, project: string | null): Promise<{ path: string; line: number } | string>;
  /** Returns the shared paths of a project, relative to its folder. */
  sharedPaths(project: string | null): readonly string[];
  /** The workspace's folder, absolute. */
  root: string;
  /** The data folder, absolute. */
  data: string;
  /** Starts commands of `agents.notify`. */
  prepare: PrepareCommand;
  /** Called inside the transaction that answers a question of a worker's session. */
  answered(sessionId: string): void;
  /** Called inside the transaction that closes a seat. */
  seatClosed(sessionId: string): void;
  /** Returns the start time of a running process; null if there is none. */
  startOf(pid: number): string | null;
  isAlive: ReaperDeps['isAlive'];
  takeUp: ReaperDeps['takeUp'];
  /** Returns the absolute path of a worker's brief; null before it has a folder. */
  briefOf(session: Session): string | null;
  /** Reads the templates of `agents.notify`. */
  templates: NotifyTemplates;
  log: { info(facts: object, text: string): void; error(facts: object, text: string): void };
}

/** How a session ended, as reported to its Chair. */
export interface SessionOutcome {
  outcome: RunOutcome;
  exitCode: number | null;
  reason: string | null;
  /** Null without a repository, or if it could not be read. */
  commits: number | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  /** Files left behind, commits kept elsewhere and unreadable work, one sentence each. */
  left: readonly string[];
  /** The state of its verification evidence, in one line. */
  verification: string;
}
