import type { CallAuthor } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { Worktrees } from '../../workers/runner/worktrees/index.ts';
import type { Session, Sessions, SessionVisitors } from '../../workers/sessions/index.ts';
import type { Races } from '../index.ts';
import type { Task } from '../tasks/index.ts';
import type { Verification } from '../verify/index.ts';

export interface WorktreeActionsDeps {
  storage: Storage;
  clock: Pick<Clock, 'now'>;
  visitors: Pick<SessionVisitors, 'findVisitorConflict'>;
  events: EventLog;
  sessions: Sessions;
  races: Pick<Races, 'ofSession' | 'checkMayWin' | 'win' | 'reopen'>;
  /** Stops a live session, inside `storage.write`. */
  stopSession(sessionId: string, by: CallAuthor): void;
  worktrees: Worktrees;
  /** Folder of the session worktrees, absolute. */
  worktreesDir: string;
  /** Absolute folder; null for the workspace's own project. */
  resolveFolder(project: string | null): string;
  /** Lists all project ids, starting with the workspace's own, null. */
  listProjects(): (string | null)[];
  getTask(taskId: string): Pick<Task, 'title' | 'source' | 'sourceRef'>;
  /** Returns the current verification state of a session. */
  readEvidence(sessionId: string): Promise<Pick<Verification, 'state' | 'reasons' | 'rerun' | 'rerunState'>>;
  /** Stops the run commands in a worktree that is about to be removed. */
  endCommands(worktree: string): Promise<void>;
  /**
   * Runs the teardown commands in a session's worktree that is about to be removed. Returns one sentence per problem.
   */
  clearWorktree(session: Session): Promise<string[]>;
  /** Reports whether `guard.profile` is strict: unverified work is not promoted. */
  isStrict(): boolean;
}

export interface WantedSession {
  session: string;
  base?: string | undefined;
  /** Only if the session is of this project. */
  project?: string | undefined;
}
