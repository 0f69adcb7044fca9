import type { By } from '../../api/operation.ts';
import { type Clock, rfc3339 } from '../../base/clock.ts';
import { SvcError } from '../../base/errors.ts';
import { sentence } from '../../base/sentence.ts';
import { toPrintable } from '../../base/text.ts';
import type { Peers } from '../../sessions/index.ts';
import type { EventInput, EventLog, Storage } from '../../storage/index.ts';
import type { WorkspacePaths } from '../../workspace/workspace-path.ts';
import { aboutHolder, checkNotEnded } from '../holder.ts';

import { createExpiry } from './expiry.ts';
import { type Reach, reachOf } from './reach.ts';
import { type Lock, type LockRow, toLock } from './rows.ts';

export type { Lock } from './rows.ts';

export interface LocksDeps {
  storage: Storage;
  events: EventLog;
  clock: Clock;
  peers: Pick<Peers, 'find'>;
  paths: WorkspacePaths;
}

/** Owns who holds which path. A lock that has run out does not count, whether its row is still there or not. */
export interface Locks {
  /** Inside `storage.write`. The holder's own lock is extended. Throws `lock_held`, `conflict` (the holder has ended). */
  acquire(wanted: { holder: string; path: string; ttlMin: number }, by: By): Lock;
  /** The holder's lock that covers the path. Throws `lock_denied`, which names who holds it instead. */
  check(holder: string, path: string): { path: string; lock: Lock };
  /** Inside `storage.write`. Throws `holder_mismatch`, `not_found`. Answers the path's key. */
  release(holder: string, path: string, by: By): string;
  /** Locks on a path, on folders above it and on what is below; without a path all of them. */
  around(path?: string): Lock[];
  /** The lock that covers the path and is not `exceptHolder`'s; null when nobody else holds it. */
  holderOver(path: string, exceptHolder: string | null): Lock | null;
  /** Inside `storage.write`: the holder is gone, and `why`. */
  releaseAll(holder: string, why: string): void;
  /** Begins to end what runs out. */
  start(): void;
  close(): void;
}

const ABOVE = 'path IN (SELECT value FROM json_each(@above))';
/** Keys that begin with `/` are of projects outside the workspace; `0` is the character after it. */
const BELOW = `((path >= @low AND path < @high) OR (@holdsWorkspace = 1 AND (path < '/' OR path >= '0')))`;

export function createLocks({ storage, events, clock, peers, paths }: LocksDeps): Locks {
  const { db } = storage;
  const find = (where: string, order = 'path') =>
    db.prepare<unknown[], LockRow>(
      `SELECT * FROM lock WHERE expires_at > @now AND ${where} ORDER BY ${order}`,
    );
  const all = find('true');
  const exactly = find('path = @key');
  const around = find(`(${ABOVE} OR ${BELOW})`);
  const conflicts = find(`holder <> @holder AND (${ABOVE} OR ${BELOW})`);
  const over = find(`holder <> @holder AND ${ABOVE}`, 'length(path) DESC');
  // The one that lasts longest says most.
  const own = find(`holder = @holder AND ${ABOVE}`, 'expires_at DESC');
  const put =
    db.prepare(`INSERT INTO lock (path, holder, fence, acquired_at, expires_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (path) DO UPDATE SET fence = excluded.fence, expires_at = excluded.expires_at`);
  const remove = db.prepare('DELETE FROM lock WHERE path = ?');
  const removeOf = db.prepare<unknown[], LockRow>('DELETE FROM lock WHERE holder = ? RETURNING *');
  const removeExpired = db.prepare<unknown[], LockRow>('DELETE FROM lock WHERE expires_at <= ? RETURNING *');
  const earliest = db.prepare<unknown[], { at: number | null }>('SELECT min(expires_at) AS at FROM lock');
  const countFence = db.prepare<
    unknown[],
    { value: string }
  >(`INSERT INTO meta (key, value) VALUES ('fence', '1')
    ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT) RETURNING value`);

  const reach = (path: string): Reach => reachOf(paths.resolveNamed(path), paths.resolveNamed('.').absolute);

  const asked = ({ key, above, low, high, holdsWorkspace }: Reach, holder = '') => ({
    key,
    above: JSON.stringify(above),
    low,
    high,
    holdsWorkspace: holdsWorkspace ? 1 : 0,
    holder,
    now: clock.now(),
  });

  function tell(
    kind: 'lock_acquired' | 'lock_released' | 'lock_expired',
    { path, holder, fence, expires_at }: LockRow,
    more: Partial<EventInput> = {},
  ): void {
    const facts = { path, holder, fence, expiresAt: rfc3339(expires_at) };
    events.append({ kind, ...aboutHolder(peers, holder), ...more, data: { ...facts, ...more.data } });
  }

  /** Inside `storage.write`. */
  function expire(): void {
    const gone = removeExpired.all(clock.now());
    if (gone.length === 0) return;
    expiry.changed();
    gone.sort((one, other) => one.expires_at - other.expires_at);
    // Outbound events name no paths: the reason names the holder, the path is for who may read the log here.
    for (const row of gone)
      tell('lock_expired', row, { via: 'engine', data: { reason: `a lock of ${row.holder} ran out` } });
  }

  const expiry = createExpiry({ storage, clock, nextAt: () => earliest.get()?.at ?? null, expire });

  return {
    acquire({ holder, path, ttlMin }, by) {
      checkNotEnded(peers, holder);
      const { key, ...rest } = reach(path);
      expire();
      const wish = asked({ key, ...rest }, holder);
      const other = conflicts.get(wish);
      if (other) throw held(key, other);
      const before = exactly.get(wish);
      const row: LockRow = {
        path: key,
        holder,
        fence: Number(countFence.get()?.value),
        acquired_at: before?.acquired_at ?? wish.now,
        expires_at: wish.now + ttlMin * 60_000,
      };
      put.run(row.path, row.holder, row.fence, row.acquired_at, row.expires_at);
      expiry.changed();
      tell('lock_acquired', row, { ...by, data: { extended: before !== undefined } });
      return toLock(row);
    },

    check(holder, path) {
      const at = reach(path);
      const lock = own.get(asked(at, holder));
      if (lock) return { path: at.key, lock: toLock(lock) };
      throw denied(at.key, holder, over.get(asked(at, holder)) ?? conflicts.get(asked(at, holder)));
    },

    release(holder, path, by) {
      const at = reach(path);
      const row = exactly.get(asked(at));
      if (row === undefined) throw notLocked(at.key, own.get(asked(at, holder)));
      if (row.holder !== holder) {
        throw new SvcError(
          'holder_mismatch',
          `${toPrintable(at.key)} is held by ${row.holder}, not by ${holder}`,
          {
            hint: `${row.holder} can release it`,
            data: facts(at.key, row),
          },
        );
      }
      remove.run(at.key);
      expiry.changed();
      tell('lock_released', row, { ...by });
      return at.key;
    },

    around: (path) =>
      (path === undefined ? all.all({ now: clock.now() }) : around.all(asked(reach(path)))).map(toLock),

    holderOver(path, exceptHolder) {
      const row = over.get(asked(reach(path), exceptHolder ?? ''));
      return row === undefined ? null : toLock(row);
    },

    releaseAll(holder, why) {
      expire();
      const rows = removeOf.all(holder);
      if (rows.length === 0) return;
      expiry.changed();
      for (const row of rows) tell('lock_released', row, { via: 'engine', data: { reason: why } });
    },

    start: expiry.start,
    close: expiry.close,
  };
}

const facts = (path: string, row: LockRow | undefined) => ({
  path,
  held_by: row?.holder ?? null,
  expires_at: row === undefined ? null : rfc3339(row.expires_at),
  lock_path: row?.path ?? null,
});

/** `s-3 holds src until 2026-11-21T07:00:00.000Z`. */
const holds = (row: LockRow): string =>
  `${row.holder} holds ${toPrintable(row.path)} until ${rfc3339(row.expires_at)}`;

const held = (key: string, row: LockRow): SvcError =>
  new SvcError('lock_held', `${toPrintable(key)} cannot be locked: ${holds(row)}`, {
    hint: `work elsewhere meanwhile, or send ${row.holder} a message; it is free when the lock is released or runs out`,
    data: { ...facts(key, row), holder: row.holder },
  });

function denied(key: string, holder: string, row: LockRow | undefined): SvcError {
  const who = row === undefined ? 'nobody does' : holds(row);
  return new SvcError('lock_denied', `${holder} holds no lock on ${toPrintable(key)}: ${who}`, {
    hint:
      row === undefined
        ? sentence`acquire it first ({lock.acquire})`
        : `leave it to ${row.holder} until then`,
    data: facts(key, row),
  });
}

const notLocked = (key: string, covering: LockRow | undefined): SvcError =>
  new SvcError('not_found', `nobody holds a lock on ${toPrintable(key)}`, {
    hint:
      covering === undefined
        ? sentence`{lock.status} shows the locks that are held`
        : `${covering.holder} holds ${toPrintable(covering.path)} above it: release that`,
    data: { path: key },
  });
