import type { Clock } from '../../core/base/clock.ts';
import { formatId, parseId } from '../../core/base/ids.ts';
import type { Storage } from '../../storage/index.ts';
import type { SavedState } from '../../workers/runner/worktrees/index.ts';
import type { Session } from '../../workers/sessions/index.ts';

/** The discarded parts of a session. */
export interface DiscardedWork extends SavedState {
  sessionId: string;
  /** Unix ms. */
  at: number;
  actor: string;
  stateBefore: Session['branchState'];
  /** True if all of it was removed; false for an interrupted removal. */
  isDone: boolean;
}

/** A promotion that can be undone while its base has not moved. */
export interface RecordedPromotion {
  sessionId: string;
  base: string;
  /** The branch's commit. */
  head: string;
  /** The base's commits. */
  before: string;
  after: string;
  /** The worktree's folder at that time; null for none. */
  path: string | null;
  /** True if an undo of it was interrupted. */
  isUndoing: boolean;
}

/** Stores the data for undoing. Mutating methods are called inside `storage.write`. */
export interface UndoRecords {
  findDiscarded(sessionId: string): DiscardedWork | null;
  /** Lists discards that were interrupted. */
  listUnfinishedDiscards(): DiscardedWork[];
  /** Records the start of a discard; an interrupted one continues. */
  beginDiscard(session: Pick<Session, 'sessionId' | 'branchState'>, actor: string): void;
  /** Records the saved refs. Those of an interrupted attempt stay if this one found nothing. */
  recordSaved(sessionId: string, saved: SavedState): void;
  finishDiscard(sessionId: string): void;
  forgetDiscard(sessionId: string): void;
  findPromotion(sessionId: string): RecordedPromotion | null;
  listInterruptedUndos(): RecordedPromotion[];
  recordPromotion(promotion: Omit<RecordedPromotion, 'isUndoing'>): void;
  beginUndo(sessionId: string): void;
  /** The undo was refused, and the promotion is still valid. */
  abandonUndo(sessionId: string): void;
  forgetPromotion(sessionId: string): void;
}

interface DiscardedRow {
  session_id: number;
  at: number;
  actor: string;
  state_before: Session['branchState'];
  is_done: number;
  head: string | null;
  detached: string | null;
  files: string | null;
  path: string | null;
}

interface PromotionRow {
  session_id: number;
  base: string;
  head: string;
  before_commit: string;
  after_commit: string;
  path: string | null;
  is_undoing: number;
}

const toDiscarded = (row: DiscardedRow): DiscardedWork => ({
  sessionId: formatId('s', row.session_id),
  at: row.at,
  actor: row.actor,
  stateBefore: row.state_before,
  isDone: row.is_done === 1,
  head: row.head,
  detached: row.detached,
  files: row.files,
  path: row.path,
});

const toPromotion = (row: PromotionRow): RecordedPromotion => ({
  sessionId: formatId('s', row.session_id),
  base: row.base,
  head: row.head,
  before: row.before_commit,
  after: row.after_commit,
  path: row.path,
  isUndoing: row.is_undoing === 1,
});

export function createUndoRecords({ db }: Pick<Storage, 'db'>, clock: Pick<Clock, 'now'>): UndoRecords {
  const id = (sessionId: string): number => parseId('s', sessionId);
  const discardedOf = db.prepare<unknown[], DiscardedRow>(
    'SELECT * FROM discarded_work WHERE session_id = ?',
  );
  const unfinished = db.prepare<unknown[], DiscardedRow>('SELECT * FROM discarded_work WHERE is_done = 0');
  const begin =
    db.prepare(`INSERT INTO discarded_work (session_id, at, actor, state_before) VALUES (?, ?, ?, ?)
    ON CONFLICT (session_id) DO UPDATE SET is_done = 0, state_before = excluded.state_before`);
  const save =
    db.prepare(`UPDATE discarded_work SET head = coalesce(?, head), detached = coalesce(?, detached),
    files = coalesce(?, files), path = coalesce(?, path) WHERE session_id = ?`);
  const finish = db.prepare('UPDATE discarded_work SET is_done = 1, at = ? WHERE session_id = ?');
  const forget = db.prepare('DELETE FROM discarded_work WHERE session_id = ?');
  const promotionOf = db.prepare<unknown[], PromotionRow>('SELECT * FROM promotion WHERE session_id = ?');
  const interrupted = db.prepare<unknown[], PromotionRow>('SELECT * FROM promotion WHERE is_undoing = 1');
  const promote = db.prepare(`INSERT OR REPLACE INTO promotion
    (session_id, at, base, head, before_commit, after_commit, path) VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const setUndoing = db.prepare('UPDATE promotion SET is_undoing = ? WHERE session_id = ?');
  const forgetOne = db.prepare('DELETE FROM promotion WHERE session_id = ?');

  return {
    findDiscarded(sessionId) {
      const row = discardedOf.get(id(sessionId));
      return row === undefined ? null : toDiscarded(row);
    },
    listUnfinishedDiscards: () => unfinished.all().map(toDiscarded),
    beginDiscard({ sessionId, branchState }, actor) {
      begin.run(id(sessionId), clock.now(), actor, branchState);
    },
    recordSaved(sessionId, { head, detached, files, path }) {
      save.run(head, detached, files, path, id(sessionId));
    },
    finishDiscard: (sessionId) => void finish.run(clock.now(), id(sessionId)),
    forgetDiscard: (sessionId) => void forget.run(id(sessionId)),
    findPromotion(sessionId) {
      const row = promotionOf.get(id(sessionId));
      return row === undefined ? null : toPromotion(row);
    },
    listInterruptedUndos: () => interrupted.all().map(toPromotion),
    recordPromotion({ sessionId, base, head, before, after, path }) {
      promote.run(id(sessionId), clock.now(), base, head, before, after, path);
    },
    beginUndo: (sessionId) => void setUndoing.run(1, id(sessionId)),
    abandonUndo: (sessionId) => void setUndoing.run(0, id(sessionId)),
    forgetPromotion: (sessionId) => void forgetOne.run(id(sessionId)),
  };
}
