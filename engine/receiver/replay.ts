import { readFileSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import type { Storage } from '../storage/index.ts';
import { SKEW_MS } from './signature.ts';

/** How long a signature is remembered, by a clock that nobody can set. */
export const REPLAY_MS = 600_000;

const PURGE_EVERY = 256;
// More than came in meanwhile, so that the table shrinks after a burst; bounded, so that no request waits for it.
const PURGE_ROWS = 512;

/**
 * The signatures of the last ten minutes, over all routes. The table only grows at its end and is read once, at the
 * start: signatures are random, and an index over them would make each request write a page of its own. Looking up is
 * in memory, some 150 bytes for each signed request of the last ten minutes.
 *
 * What is remembered ends by the monotonic clock: one that was set ahead and back must not empty it. A signature whose
 * time could still pass is kept longer, and after a clock that was set far back no time passes that may have been used
 * already.
 */
export interface ReplayCache {
  /**
   * Inside `storage.write`. False when it was seen; the row and the memory of it are then as they were.
   * @param signedAt the time that it signs, Unix ms; null when its scheme signs none
   */
  rememberSignature(signature: Buffer, signedAt: number | null): boolean;
  /** After an undone transaction. */
  forgetSignature(signature: Buffer): void;
  /** Whether a signature of that time may have been used and forgotten: the clock was set back since. */
  mayBeForgotten(signedAt: number): boolean;
}

interface Seen {
  /** Of the monotonic clock. */
  until: number;
  signedAt: number | null;
}

/** Names this start of the machine, since when the monotonic clock counts; null where that cannot be told. */
function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() || null;
  } catch {
    return null;
  }
}

export function createReplayCache({
  storage,
  clock,
  boot = readBootId(),
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
  /** By signature; in order of their ends. */
  const seen = new Map<string, Seen>();
  let sincePurge = 0;
  /** The newest signed time of what was forgotten, Unix ms. */
  let forgottenUntil = 0;

  // Of another start of the machine, nothing says how long ago they came: they have all of their time again.
  const isOtherBoot = (): boolean => boot === null || bootOfRows.get()?.value !== boot;
  let hasOldRows = isOtherBoot();
  const latest = clock.monotonic() + REPLAY_MS;
  for (const { signature, expires_at, signed_at } of load.iterate())
    keepSeen(signatureKey(signature), {
      until: hasOldRows ? latest : Math.min(expires_at, latest),
      signedAt: signed_at,
    });

  /** Always put at the end, so that the order stays that of the ends. */
  function keepSeen(key: string, each: Seen): void {
    seen.delete(key);
    seen.set(key, each);
  }

  /** The rows count from now on by this start of the machine. */
  function takeOverRows(): void {
    if (!hasOldRows) return;
    renewRows.run(latest);
    if (boot !== null) setBoot.run(boot);
    hasOldRows = false;
  }

  const isOver = ({ until, signedAt }: Seen, at: number): boolean =>
    until < at && (signedAt === null || signedAt < clock.now() - SKEW_MS);

  function purgeSeen(): void {
    const at = clock.monotonic();
    for (const [key, each] of seen) {
      if (each.until >= at) break;
      if (isOver(each, at)) {
        seen.delete(key);
        forgottenUntil = Math.max(forgottenUntil, each.signedAt ?? 0);
      } else {
        // Its time could pass again, since the clock was set back: for another ten minutes, as a row of its own.
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
      if (before !== undefined && !isOver(before, at)) return false;
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

/** A character for each byte: a Buffer for each signature takes several times as much memory. */
const signatureKey = (signature: Buffer): string => signature.toString('latin1');
