import type { CallAuthor } from '../../core/api/operation.ts';
import { rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { EventInput } from '../../storage/index.ts';
import { checkNotEnded, findEventScope } from '../holder.ts';
import { createExpiry } from './expiry.ts';
import { createLockTable, type LocksDeps } from './lock-table.ts';
import { type Lock, type LockRow, toLock } from './rows.ts';

export type { Lock } from './rows.ts';

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

export function createLocks(deps: LocksDeps): Locks {
  const { storage, events, clock, peers } = deps;
  const table = createLockTable(deps);
  const { resolveReach } = table;

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
    const gone = table.removeExpired(clock.now());
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
    nextAt: table.findEarliestEnd,
    expire: removeExpiredLocks,
  });

  return {
    acquire({ holder, path, ttlMin }, by) {
      checkNotEnded(peers, holder);
      const at = resolveReach(path);
      removeExpiredLocks();
      const other = table.findConflict(at, holder);
      if (other) throw lockHeldError(at.key, other);
      const found = table.findExact(at, holder);
      const now = clock.now();
      const before = found?.holder === holder ? found : undefined;
      const row: LockRow = {
        path: before?.path ?? at.key,
        holder,
        fence: table.nextFence(),
        acquired_at: before?.acquired_at ?? now,
        expires_at: now + ttlMin * 60_000,
      };
      table.put(row);
      expiry.changed();
      recordLockEvent('lock_acquired', row, { ...by, data: { extended: before !== undefined } });
      return toLock(row);
    },

    check(holder, path) {
      const at = resolveReach(path);
      const lock = table.findOwn(at, holder);
      if (lock) return { path: at.key, lock: toLock(lock) };
      throw lockDeniedError(at.key, holder, table.listOver(at, holder)[0] ?? table.findConflict(at, holder));
    },

    release(holder, path, by) {
      const at = resolveReach(path);
      const row = table.findExact(at, holder);
      if (row === undefined) throw notLockedError(at.key, table.findOwn(at, holder));
      if (row.holder !== holder) throw notHolderError(at.key, holder, row);
      table.remove(row);
      expiry.changed();
      recordLockEvent('lock_released', row, { ...by });
      return at.key;
    },

    around: (path) =>
      (path === undefined ? table.listAll() : table.listAround(resolveReach(path))).map(toLock),

    holderOver(path, exceptHolder) {
      const [row] = table.listOver(resolveReach(path), exceptHolder ?? '');
      return row === undefined ? null : toLock(row);
    },

    listOver: (path) => table.listOver(resolveReach(path)).map(toLock),

    releaseAll(holder, why) {
      removeExpiredLocks();
      const rows = table.removeOf(holder);
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

const notHolderError = (key: string, holder: string, row: LockRow): SvcError =>
  new SvcError('holder_mismatch', `${toPrintable(key)} is held by ${row.holder}, not by ${holder}`, {
    hint: `${row.holder} can release it`,
    data: describeLock(key, row),
  });

const notLockedError = (key: string, covering: LockRow | undefined): SvcError =>
  new SvcError('not_found', `no one holds a lock on ${toPrintable(key)}`, {
    hint:
      covering === undefined
        ? sentence`{lock.status} lists the held locks`
        : `${covering.holder} holds ${toPrintable(covering.path)} above it: release that lock`,
    data: { path: key },
  });
