import type { Clock } from '../clock.ts';
import type { Config } from '../config/index.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { PrepareCommand } from '../workers/processes/index.ts';
import type { WorkspacePaths } from '../workspace-path.ts';
import type { NotifyTemplates } from './delivery/index.ts';
import type { ReaperDeps } from './reaper.ts';
import type { Sessions } from './sessions/index.ts';

/** What the bus is made of. */
export interface BusDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  sessions: Sessions;
  paths: WorkspacePaths;
  config(): Config;
  /** A registered project's id as a caller names it; null for the workspace's own. Throws `unknown_project`. */
  projectId(project: string | null): string | null;
  /** Its folder, absolute. */
  folder(project: string | null): string;
  /** The workspace's folder, absolute. */
  root: string;
  /** The data folder, absolute. */
  data: string;
  /** How commands of `agents.notify` are started. */
  prepare: PrepareCommand;
  /** Inside the transaction that closes a seat. */
  seatClosed(sessionId: string): void;
  /** The start time of a running process; null when there is none. */
  startOf(pid: number): string | null;
  isAlive: ReaperDeps['isAlive'];
  takeUp: ReaperDeps['takeUp'];
  /** How the templates of `agents.notify` are read. */
  templates: NotifyTemplates;
  log: { info(facts: object, text: string): void; error(facts: object, text: string): void };
}

/** How a session ended, for whom it concerns. */
export interface SessionOutcome {
  sealed: boolean;
  exitCode: number | null;
  reason: string | null;
  commits: number | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  /** State of its evidence; see `VerificationState`. */
  verification: string;
}
