import type { Verification } from '../board/verify/index.ts';
import type { Worktrees } from '../runner/worktrees/index.ts';
import type { Session, Sessions } from '../sessions/index.ts';
import type { EventLog, Storage } from '../storage/index.ts';

export interface WorktreeActionsDeps {
  storage: Storage;
  events: EventLog;
  sessions: Sessions;
  worktrees: Worktrees;
  /** Folder of the session worktrees, absolute. */
  worktreesDir: string;
  /** Absolute folder; null is the workspace's own project. */
  resolveFolder(project: string | null): string;
  /** All project ids, the workspace's own first as null. */
  listProjects(): (string | null)[];
  /** What a session's evidence is worth now. */
  readEvidence(sessionId: string): Promise<Pick<Verification, 'state' | 'reasons' | 'rerun' | 'rerunState'>>;
  /** Runs the teardown commands in a session's worktree; what did not go as it should, one sentence each. */
  tearDownWorktree(session: Session): Promise<string[]>;
  /** `guard.profile` is strict: nothing is promoted that is not verified. */
  isStrict(): boolean;
}

export interface Wanted {
  session: string;
  base?: string | undefined;
  /** Only if the session is of this project. */
  project?: string | undefined;
}
