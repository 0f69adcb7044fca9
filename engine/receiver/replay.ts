import type { Clock } from '../clock.ts';
import type { Storage } from '../storage/index.ts';

/** How long a signature is remembered. */
export const REPLAY_MS = 600_000;

const PURGE_EVERY = 256;
// More than came in meanwhile, so that the table shrinks after a burst; bounded, so that no request waits for it.
const PURGE_ROWS = 512;

/**
 * The signatures of the last ten minutes, over all routes. The table only grows at its end and is read once, at the
 * start: signatures are random, and an index over them would make each request write a page of its own. Looking up is
 * in memory, about a hundred bytes for each signed request of the last ten minutes.
 */
export interface ReplayCache {
  /** Inside `storage.write`. False when it was seen; the row and the memory of it are then as they were. */
  remember(signature: Buffer): boolean;
  /** After an undone transaction. */
  forget(signature: Buffer): void;
}

export function createReplayCache({ storage, clock }: { storage: Storage; clock: Clock }): ReplayCache {
  const { db } = storage;
  const insert = db.prepare('INSERT INTO replay (signature, expires_at) VALUES (?, ?)');
  const purgeRows = db.prepare(`DELETE FROM replay WHERE id IN
    (SELECT id FROM (SELECT id, expires_at FROM replay ORDER BY id LIMIT ${PURGE_ROWS}) WHERE expires_at < ?)`);
  const purgeReceipts = db.prepare(`DELETE FROM receipt WHERE key IN
    (SELECT key FROM receipt WHERE expires_at IS NOT NULL AND expires_at < ? LIMIT ${PURGE_ROWS})`);
  const load = db.prepare<unknown[], { signature: Buffer; expires_at: number }>(
    'SELECT signature, expires_at FROM replay WHERE expires_at >= ? ORDER BY id',
  );
  /** By half of the signature, 128 bits of a MAC; in order of arrival. */
  const seen = new Map<string, number>();
  let sincePurge = 0;

  for (const { signature, expires_at } of load.iterate(clock.now())) seen.set(keyOf(signature), expires_at);

  function purge(now: number): void {
    for (const [key, expiresAt] of seen) {
      if (expiresAt >= now) break;
      seen.delete(key);
    }
    purgeRows.run(now);
    purgeReceipts.run(now);
  }

  return {
    remember(signature) {
      const now = clock.now();
      const key = keyOf(signature);
      const expiresAt = seen.get(key);
      if (expiresAt !== undefined && expiresAt >= now) return false;
      insert.run(signature, now + REPLAY_MS);
      // Deleted first, so that the order stays that of the expiries.
      seen.delete(key);
      seen.set(key, now + REPLAY_MS);
      sincePurge += 1;
      if (sincePurge >= PURGE_EVERY) {
        sincePurge = 0;
        purge(now);
      }
      return true;
    },
    forget(signature) {
      seen.delete(keyOf(signature));
    },
  };
}

const keyOf = (signature: Buffer): string => signature.toString('latin1', 0, 16);
