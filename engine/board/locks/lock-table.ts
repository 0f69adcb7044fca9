import type { Clock } from '../../core/base/clock.ts';
import type { WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { SessionPeers } from '../../workers/sessions/index.ts';
import { computeReach, type LockReach } from './reach.ts';
import type { LockRow } from './rows.ts';

/** Neither the holder's own nor its competitors'. */
const OF_OTHERS = 'holder NOT IN (SELECT value FROM json_each(@exempt))';

export interface LocksDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  peers: Pick<SessionPeers, 'find'>;
  paths: WorkspacePaths;
  /** Lists sessions whose locks do not exclude a given session's. */
  rivalsOf(sessionId: string): readonly string[];
}

/** The stored locks; searches find only ones that are not expired. */
export interface LockTable {
  resolveReach(path: string): LockReach;
  listAll(): LockRow[];
  /** Lists locks on a path, on the folders above it and below it. */
  listAround(reach: LockReach): LockRow[];
  /** Lists locks that cover a path, the nearest first, except the holder's and its competitors'. */
  listOver(reach: LockReach, holder?: string): LockRow[];
  /** Finds a lock on exactly that path, the holder's first. */
  findExact(reach: LockReach, holder: string): LockRow | undefined;
  /** Finds a lock of others around a path. */
  findConflict(reach: LockReach, holder: string): LockRow | undefined;
  /** Finds the holder's lock that covers a path. */
  findOwn(reach: LockReach, holder: string): LockRow | undefined;
  put(row: LockRow): void;
  remove(row: Pick<LockRow, 'path' | 'holder'>): void;
  removeOf(holder: string): LockRow[];
  removeExpired(now: number): LockRow[];
  /** Returns when the next lock expires; null for none. */
  findEarliestEnd(): number | null;
  nextFence(): number;
}

export function createLockTable({
  storage: { db },
  clock,
  paths,
  rivalsOf,
}: Pick<LocksDeps, 'storage' | 'clock' | 'paths' | 'rivalsOf'>): LockTable {
  const { foldKey } = paths;
  // If case makes no difference, the keys are compared without it, and stored as they were named first.
  if (foldKey !== null) db.function('fold_key', { deterministic: true }, (key) => foldKey(String(key)));
  const fold = foldKey ?? ((key: string) => key);
  const path = foldKey === null ? 'path' : 'fold_key(path)';
  const above = `${path} IN (SELECT value FROM json_each(@above))`;
  /** Keys that start with `/` belong to projects outside the workspace; `0` is the character after `/`. */
  const below = `((${path} >= @low AND ${path} < @high) OR (@holdsWorkspace = 1 AND (path < '/' OR path >= '0')))`;
  const prepareFind = (where: string, order = 'path') =>
    db.prepare<unknown[], LockRow>(
      `SELECT * FROM lock WHERE expires_at > @now AND ${where} ORDER BY ${order}`,
    );
  const all = prepareFind('true', 'path, holder');
  const exactly = prepareFind(`${path} = @key`, 'holder <> @holder, holder');
  const around = prepareFind(`(${above} OR ${below})`, 'path, holder');
  const conflicts = prepareFind(`${OF_OTHERS} AND (${above} OR ${below})`);
  const over = prepareFind(`${OF_OTHERS} AND ${above}`, 'length(path) DESC, holder');
  // The one that lasts longest.
  const own = prepareFind(`holder = @holder AND ${above}`, 'expires_at DESC');
  const put =
    db.prepare(`INSERT INTO lock (path, holder, fence, acquired_at, expires_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (path, holder) DO UPDATE SET fence = excluded.fence, expires_at = excluded.expires_at`);
  const remove = db.prepare('DELETE FROM lock WHERE path = ? AND holder = ?');
  const removeOf = db.prepare<unknown[], LockRow>('DELETE FROM lock WHERE holder = ? RETURNING *');
  const removeExpired = db.prepare<unknown[], LockRow>('DELETE FROM lock WHERE expires_at <= ? RETURNING *');
  const earliest = db.prepare<unknown[], { at: number | null }>('SELECT min(expires_at) AS at FROM lock');
  const countFence = db.prepare<
    unknown[],
    { value: string }
  >(`INSERT INTO meta (key, value) VALUES ('fence', '1')
    ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) RETURNING value`);

  const buildLockParameters = (reach: LockReach, holder = '') => ({
    key: fold(reach.key),
    above: JSON.stringify(reach.above.map(fold)),
    low: fold(reach.low),
    high: fold(reach.high),
    holdsWorkspace: reach.holdsWorkspace ? 1 : 0,
    holder,
    exempt: JSON.stringify(holder === '' ? [] : [holder, ...rivalsOf(holder)]),
    now: clock.now(),
  });

  return {
    resolveReach: (path) => computeReach(paths.resolveNamed(path), paths.resolveNamed('.').absolute),
    listAll: () => all.all({ now: clock.now() }),
    listAround: (reach) => around.all(buildLockParameters(reach)),
    listOver: (reach, holder) => over.all(buildLockParameters(reach, holder)),
    findExact: (reach, holder) => exactly.get(buildLockParameters(reach, holder)),
    findConflict: (reach, holder) => conflicts.get(buildLockParameters(reach, holder)),
    findOwn: (reach, holder) => own.get(buildLockParameters(reach, holder)),
    put: (row) => void put.run(row.path, row.holder, row.fence, row.acquired_at, row.expires_at),
    remove: ({ path, holder }) => void remove.run(path, holder),
    removeOf: (holder) => removeOf.all(holder),
    removeExpired: (now) => removeExpired.all(now),
    findEarliestEnd: () => earliest.get()?.at ?? null,
    nextFence: () => Number(countFence.get()?.value),
  };
}
