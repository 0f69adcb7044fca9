import type { Clock } from '../core/base/clock.ts';
import { SKEW_MS } from '../core/http/signature.ts';
import { platform } from '../core/platform/index.ts';
import type { Storage } from '../storage/index.ts';

/** How long a signature is remembered, by the monotonic clock, ms. */
export const REPLAY_MS = 600_000;

const PURGE_EVERY = 256;
// More than PURGE_EVERY, so the table shrinks after a burst; bounded, so no request waits long for the purge.
const PURGE_ROWS = 512;

/**
 * Remembers the signatures of the last ten minutes across all routes. The table is append-only and is read once, at
 * startup: signatures are random, and an index on them would make every request write a separate page. Lookups are in
 * memory, at about 150 bytes per signed request.
 *
 * Entries expire by the monotonic clock, so setting the wall clock forward and back cannot empty the cache. An entry whose
 * signed time would still be accepted is kept longer. After the wall clock was set far back, a signed time that an expired
 * entry may have used is refused.
 */
export interface ReplayCache {
  /**
   * Records a signature. Call inside `storage.write`. False when it was already known; nothing is changed then.
   * @param signedAt the signed time, Unix ms; null when the scheme signs none
   */
  rememberSignature(signature: Buffer, signedAt: number | null): boolean;
  /** Removes a signature whose transaction was rolled back. */
  forgetSignature(signature: Buffer): void;
  /** Reports whether a signature with this time may have been used and since expired, because the wall clock was set back. */
  mayBeForgotten(signedAt: number): boolean;
}

interface Seen {
  /** Expiry, on the monotonic clock, ms. */
  until: number;
  signedAt: number | null;
}

export function createReplayCache({
  storage,
  clock,
  // The monotonic clock counts from it.
  boot = platform.readBootId(),
}: {
  storage: Storage;
  clock: Clock;
  boot?: string | null;
}): ReplayCache {
  const { db } = storage;
  const insert = db.prepare('INSERT INTO replay (signature, expires_at, signed_at) VALUES (?, ?, ?)');
  const purgeRows = db.prepare(`DELETE FROM replay WHERE id IN
    (SELECT id FROM (SELECT id, expires_at FROM replay ORDER BY id LIMIT ${PURGE_ROWS}) WHERE expires_at < ?)`);
  const purgeReceipts = db.prepare(`DELETE FROM receipt WHERE key IN
    (SELECT key FROM receipt WHERE expires_at IS NOT NULL AND expires_at < ? LIMIT ${PURGE_ROWS})`);
  const load = db.prepare<unknown[], { signature: Buffer; expires_at: number; signed_at: number | null }>(
    'SELECT signature, expires_at, signed_at FROM replay ORDER BY id',
  );
  const bootOfRows = db.prepare<unknown[], { value: string }>(
    "SELECT value FROM meta WHERE key = 'replay_boot'",
  );
  const setBoot = db.prepare("INSERT OR REPLACE INTO meta (key, value) VALUES ('replay_boot', ?)");
  const renewRows = db.prepare('UPDATE replay SET expires_at = ?');
  /** By signature, in order of expiry. */
  const seen = new Map<string, Seen>();
  let sincePurge = 0;
  /** The latest signed time among expired entries, Unix ms. */
  let forgottenUntil = 0;

  // The age of rows from another boot is unknown, so they get the full ten minutes again.
  const isOtherBoot = (): boolean => boot === null || bootOfRows.get()?.value !== boot;
  let hasOldRows = isOtherBoot();
  const latest = clock.monotonic() + REPLAY_MS;
  for (const { signature, expires_at, signed_at } of load.iterate())
    keepSeen(signatureKey(signature), {
      until: hasOldRows ? latest : Math.min(expires_at, latest),
      signedAt: signed_at,
    });

  /** Appends an entry, which keeps the map in order of expiry. */
  function keepSeen(key: string, each: Seen): void {
    seen.delete(key);
    seen.set(key, each);
  }

  /** Moves the stored rows to this boot's monotonic clock. */
  function takeOverRows(): void {
    if (!hasOldRows) return;
    renewRows.run(latest);
    if (boot !== null) setBoot.run(boot);
    hasOldRows = false;
  }

  const isExpiredRequest = ({ until, signedAt }: Seen, at: number): boolean =>
    until < at && (signedAt === null || signedAt < clock.now() - SKEW_MS);

  function purgeSeen(): void {
    const at = clock.monotonic();
    for (const [key, each] of seen) {
      if (each.until >= at) break;
      if (isExpiredRequest(each, at)) {
        seen.delete(key);
        forgottenUntil = Math.max(forgottenUntil, each.signedAt ?? 0);
      } else {
        // The wall clock was set back, so its signed time would be accepted again: keep it for another ten minutes.
        insert.run(Buffer.from(key, 'latin1'), at + REPLAY_MS, each.signedAt);
        keepSeen(key, { until: at + REPLAY_MS, signedAt: each.signedAt });
      }
    }
    purgeRows.run(at);
    purgeReceipts.run(clock.now());
  }

  return {
    rememberSignature(signature, signedAt) {
      const at = clock.monotonic();
      const key = signatureKey(signature);
      const before = seen.get(key);
      if (before !== undefined && !isExpiredRequest(before, at)) return false;
      takeOverRows();
      const until = at + REPLAY_MS;
      insert.run(signature, until, signedAt);
      keepSeen(key, { until, signedAt });
      sincePurge += 1;
      if (sincePurge >= PURGE_EVERY) {
        sincePurge = 0;
        purgeSeen();
      }
      return true;
    },
    forgetSignature(signature) {
      seen.delete(signatureKey(signature));
      hasOldRows = isOtherBoot();
    },
    mayBeForgotten: (signedAt) => signedAt <= forgottenUntil,
  };
}

/** Converts a signature to a map key, one character per byte; a Buffer would take several times the memory. */
const signatureKey = (signature: Buffer): string => signature.toString('latin1');
