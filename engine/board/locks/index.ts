import type { CallAuthor } from '../../core/api/operation.ts';
import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import type { EventInput, EventLog, Storage } from '../../storage/index.ts';
import type { SessionPeers } from '../../workers/sessions/index.ts';
import { checkNotEnded, findEventScope } from '../holder.ts';

import { createExpiry } from './expiry.ts';
import { computeReach, type LockReach } from './reach.ts';
import { type Lock, type LockRow, toLock } from './rows.ts';

export type { Lock } from './rows.ts';

export interface LocksDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  peers: Pick<SessionPeers, 'find'>;
  paths: WorkspacePaths;
  /** Lists sessions whose locks do not exclude a given session's. */
  rivalsOf(sessionId: string): readonly string[];
}

/**
 * Owns the locks on paths. An expired lock is invalid, even while its row still exists. Competitors of a race edit
 * copies, one of which is promoted: their locks do not exclude each other, but exclude everyone else.
 */
export interface Locks {
  /** Locks a path, or extends the holder's lock, inside `storage.write`. Throws `lock_held`, `conflict` (holder has ended). */
  acquire(wanted: { holder: string; path: string; ttlMin: number }, by: CallAuthor): Lock;
  /** Finds the holder's lock that covers the path. Throws `lock_denied`, which names the actual holder. */
  check(holder: string, path: string): { path: string; lock: Lock };
  /** Releases a lock, inside `storage.write`, and returns the path's key. Throws `holder_mismatch`, `not_found`. */
  release(holder: string, path: string, by: CallAuthor): string;
  /** Lists locks on a path, on the folders above it and below it; without a path, all locks. */
  around(path?: string): Lock[];
  /** Finds the lock that covers the path and is neither `exceptHolder`'s nor a competitor's; null if no one else holds it. */
  holderOver(path: string, exceptHolder: string | null): Lock | null;
  /** Lists all locks that cover the path. */
  listOver(path: string): Lock[];
  /** Releases all locks of a holder that is gone, inside `storage.write`. */
  releaseAll(holder: string, why: string): void;
  /** Starts removing expired locks. */
  start(): void;
  close(): void;
}

/** Neither the holder's own nor its competitors'. */
const OF_OTHERS = 'holder NOT IN (SELECT value FROM json_each(@exempt))';
const ABOVE = 'path IN (SELECT value FROM json_each(@above))';
/** Keys that start with `/` belong to projects outside the workspace; `0` is the character after `/`. */
const BELOW = `((path >= @low AND path < @high) OR (@holdsWorkspace = 1 AND (path < '/' OR path >= '0')))`;

export function createLocks({ storage, events, clock, peers, paths, rivalsOf }: LocksDeps): Locks {
  const { db } = storage;
  const prepareFind = (where: string, order = 'path') =>
    db.prepare<unknown[], LockRow>(
      `SELECT * FROM lock WHERE expires_at > @now AND ${where} ORDER BY ${order}`,
    );
  const all = prepareFind('true', 'path, holder');
  const exactly = prepareFind('path = @key', 'holder <> @holder, holder');
  const around = prepareFind(`(${ABOVE} OR ${BELOW})`, 'path, holder');
  const conflicts = prepareFind(`${OF_OTHERS} AND (${ABOVE} OR ${BELOW})`);
  const over = prepareFind(`${OF_OTHERS} AND ${ABOVE}`, 'length(path) DESC, holder');
  // The one that lasts longest.
  const own = prepareFind(`holder = @holder AND ${ABOVE}`, 'expires_at DESC');
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

  const resolveReach = (path: string): LockReach =>
    computeReach(paths.resolveNamed(path), paths.resolveNamed('.').absolute);

  const buildLockParameters = ({ key, above, low, high, holdsWorkspace }: LockReach, holder = '') => ({
    key,
    above: JSON.stringify(above),
    low,
    high,
    holdsWorkspace: holdsWorkspace ? 1 : 0,
    holder,
    exempt: JSON.stringify(holder === '' ? [] : [holder, ...rivalsOf(holder)]),
    now: clock.now(),
  });

  function recordLockEvent(
    kind: 'lock_acquired' | 'lock_released' | 'lock_expired',
    { path, holder, fence, expires_at }: LockRow,
    more: Partial<EventInput> = {},
  ): void {
    const facts = { path, holder, fence, expiresAt: rfc3339(expires_at) };
    events.append({ kind, ...findEventScope(peers, holder), ...more, data: { ...facts, ...more.data } });
  }

  /** Inside `storage.write`. */
  function removeExpiredLocks(): void {
    const gone = removeExpired.all(clock.now());
    if (gone.length === 0) return;
    expiry.changed();
    gone.sort((one, other) => one.expires_at - other.expires_at);
    // The reason is sent with the event and names only the holder; the path stays in the local log.
    for (const row of gone)
      recordLockEvent('lock_expired', row, {
        via: 'engine',
        data: { reason: `a lock of ${row.holder} expired` },
      });
  }

  const expiry = createExpiry({
    storage,
    clock,
    nextAt: () => earliest.get()?.at ?? null,
    expire: removeExpiredLocks,
  });

  return {
    acquire({ holder, path, ttlMin }, by) {
      checkNotEnded(peers, holder);
      const { key, ...rest } = resolveReach(path);
      removeExpiredLocks();
      const wish = buildLockParameters({ key, ...rest }, holder);
      const other = conflicts.get(wish);
      if (other) throw lockHeldError(key, other);
      const found = exactly.get(wish);
      const before = found?.holder === holder ? found : undefined;
      const row: LockRow = {
        path: key,
        holder,
        fence: Number(countFence.get()?.value),
        acquired_at: before?.acquired_at ?? wish.now,
        expires_at: wish.now + ttlMin * 60_000,
      };
      put.run(row.path, row.holder, row.fence, row.acquired_at, row.expires_at);
      expiry.changed();
      recordLockEvent('lock_acquired', row, { ...by, data: { extended: before !== undefined } });
      return toLock(row);
    },

    check(holder, path) {
      const at = resolveReach(path);
      const lock = own.get(buildLockParameters(at, holder));
      if (lock) return { path: at.key, lock: toLock(lock) };
      throw lockDeniedError(
        at.key,
        holder,
        over.get(buildLockParameters(at, holder)) ?? conflicts.get(buildLockParameters(at, holder)),
      );
    },

    release(holder, path, by) {
      const at = resolveReach(path);
      const row = exactly.get(buildLockParameters(at, holder));
      if (row === undefined) throw notLockedError(at.key, own.get(buildLockParameters(at, holder)));
      if (row.holder !== holder) {
        throw new SvcError(
          'holder_mismatch',
          `${toPrintable(at.key)} is held by ${row.holder}, not by ${holder}`,
          {
            hint: `${row.holder} can release it`,
            data: describeLock(at.key, row),
          },
        );
      }
      remove.run(at.key, holder);
      expiry.changed();
      recordLockEvent('lock_released', row, { ...by });
      return at.key;
    },

    around: (path) =>
      (path === undefined
        ? all.all({ now: clock.now() })
        : around.all(buildLockParameters(resolveReach(path)))
      ).map(toLock),

    holderOver(path, exceptHolder) {
      const row = over.get(buildLockParameters(resolveReach(path), exceptHolder ?? ''));
      return row === undefined ? null : toLock(row);
    },

    listOver: (path) => over.all(buildLockParameters(resolveReach(path))).map(toLock),

    releaseAll(holder, why) {
      removeExpiredLocks();
      const rows = removeOf.all(holder);
      if (rows.length === 0) return;
      expiry.changed();
      for (const row of rows) recordLockEvent('lock_released', row, { via: 'engine', data: { reason: why } });
    },

    start: expiry.start,
    close: expiry.close,
  };
}

const describeLock = (path: string, row: LockRow | undefined) => ({
  path,
  held_by: row?.holder ?? null,
  expires_at: row === undefined ? null : rfc3339(row.expires_at),
  lock_path: row?.path ?? null,
});

/** Formats `s-3 holds src until 2026-11-21T07:00:00.000Z`. */
const formatHold = (row: LockRow): string =>
  `${row.holder} holds ${toPrintable(row.path)} until ${rfc3339(row.expires_at)}`;

const lockHeldError = (key: string, row: LockRow): SvcError =>
  new SvcError('lock_held', `${toPrintable(key)} cannot be locked: ${formatHold(row)}`, {
    hint: `work on something else, or send ${row.holder} a message; it is free once the lock is released or expires`,
    data: { ...describeLock(key, row), holder: row.holder },
  });

function lockDeniedError(key: string, holder: string, row: LockRow | undefined): SvcError {
  const who = row === undefined ? 'no one does' : formatHold(row);
  return new SvcError('lock_denied', `${holder} holds no lock on ${toPrintable(key)}: ${who}`, {
    hint:
      row === undefined
        ? sentence`acquire it first ({lock.acquire})`
        : `leave it to ${row.holder} until then`,
    data: describeLock(key, row),
  });
}

const notLockedError = (key: string, covering: LockRow | undefined): SvcError =>
  new SvcError('not_found', `no one holds a lock on ${toPrintable(key)}`, {
    hint:
      covering === undefined
        ? sentence`{lock.status} lists the held locks`
        : `${covering.holder} holds ${toPrintable(covering.path)} above it: release that lock`,
    data: { path: key },
  });
