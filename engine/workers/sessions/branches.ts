import type { Clock } from '../../core/base/clock.ts';
import { parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import { type ReadRows, SELECT_SESSIONS, type Session, type SessionRow } from './rows.ts';
import { formatRunnerId, type SessionPlacement, writeSitePath } from './site.ts';

/** The worktrees and branches of sessions. Methods that change them are called inside `storage.write`. */
export interface SessionBranches {
  /** Lists ended ones that are due to be discarded, since another session of their race was promoted. */
  listDiscardDue(): Session[];
  setDiscardDue(sessionId: string, isDue: boolean): void;
  isDiscardDue(sessionId: string): boolean;
  place(sessionId: string, placement: SessionPlacement): void;
  /** Returns the id of the runner whose machine a session is on; null for this machine. */
  findRunner(sessionId: string): string | null;
  /** Lists the ports of the worktrees on record of this machine. */
  listPorts(): number[];
  /** Lists ended sessions whose worktree is still on record. */
  endedWithWorktree(): Session[];
  worktreeGone(sessionId: string): void;
  /** Its worktree exists again. */
  worktreeBack(sessionId: string, path: string): void;
  /** Another session has its worktree and branch from now on. */
  handedOn(sessionId: string): void;
  promoted(sessionId: string, by: string): void;
  /** Its base no longer contains its work. */
  promotionUndone(sessionId: string): void;
  /**
   * Lists ended sessions with commits, or with unreadable work, that were not promoted; without a worktree, only
   * those whose branch may still exist.
   */
  unpromoted(): Session[];
  branchBecame(sessionId: string, state: Session['branchState']): void;
}

export function createSessionBranches(
  { db }: Pick<Storage, 'db'>,
  clock: Clock,
  readRows: ReadRows,
): SessionBranches {
  const discardDue = db.prepare<unknown[], SessionRow>(
    `${SELECT_SESSIONS} WHERE s.discard_due = 1 AND s.state = 'ended' ORDER BY s.id`,
  );
  const setDue = db.prepare('UPDATE session SET discard_due = ? WHERE id = ?');
  const findDue = db.prepare<unknown[], { discard_due: number }>(
    'SELECT discard_due FROM session WHERE id = ?',
  );
  const setPlace = db.prepare(
    'UPDATE session SET repository = ?, worktree = ?, cwd = ?, branch = ?, base = ?, base_commit = ?, port = ? WHERE id = ?',
  );
  const runnerOf = db.prepare<unknown[], { runner: number | null }>(
    'SELECT runner FROM session WHERE id = ?',
  );
  const ports = db.prepare<unknown[], { port: number }>(
    'SELECT port FROM session WHERE port IS NOT NULL AND worktree IS NOT NULL AND runner IS NULL',
  );
  const keeping = db.prepare<unknown[], SessionRow>(
    `${SELECT_SESSIONS} WHERE s.state = 'ended' AND s.worktree IS NOT NULL ORDER BY s.id`,
  );
  const setWorktree = db.prepare('UPDATE session SET worktree = ? WHERE id = ?');
  const setHandedOn = db.prepare(
    `UPDATE session SET worktree = NULL, branch_state = 'continued' WHERE id = ?`,
  );
  const unpromoted = db.prepare<unknown[], SessionRow>(
    `${SELECT_SESSIONS} WHERE s.state = 'ended' AND coalesce(s.commits, s.cwd IS NOT NULL) > 0 AND s.promoted_at IS NULL AND s.branch IS NOT NULL
     AND (s.branch_state IS NULL OR s.worktree IS NOT NULL)`,
  );
  const setBranchState = db.prepare('UPDATE session SET branch_state = ? WHERE id = ?');
  const setPromoted = db.prepare('UPDATE session SET promoted_at = ?, promoted_by = ? WHERE id = ?');

  return {
    listDiscardDue: () => readRows(discardDue.all()),
    setDiscardDue: (sessionId, isDue) => void setDue.run(isDue ? 1 : 0, parseId('s', sessionId)),
    isDiscardDue: (sessionId) => findDue.get(parseId('s', sessionId))?.discard_due === 1,
    place(sessionId, placement) {
      const { repository, worktree, cwd, branch, base, baseCommit, port } = placement;
      const paths = [writeSitePath(worktree), writeSitePath(cwd)];
      setPlace.run(repository, ...paths, branch, base, baseCommit, port, parseId('s', sessionId));
    },
    findRunner(sessionId) {
      const runner = runnerOf.get(parseId('s', sessionId))?.runner ?? null;
      return runner === null ? null : formatRunnerId(runner);
    },
    listPorts: () => ports.all().map(({ port }) => port),
    endedWithWorktree: () => readRows(keeping.all()),
    worktreeGone(sessionId) {
      setWorktree.run(null, parseId('s', sessionId));
    },
    worktreeBack(sessionId, path) {
      setWorktree.run(path, parseId('s', sessionId));
    },
    handedOn(sessionId) {
      setHandedOn.run(parseId('s', sessionId));
    },
    promoted(sessionId, by) {
      setPromoted.run(clock.now(), by, parseId('s', sessionId));
    },
    promotionUndone(sessionId) {
      setPromoted.run(null, null, parseId('s', sessionId));
    },
    unpromoted: () => readRows(unpromoted.all()),
    branchBecame(sessionId, state) {
      setBranchState.run(state, parseId('s', sessionId));
    },
  };
}
