import { rmSync } from 'node:fs';
import { z } from 'zod';
import type { Clock } from '../core/base/clock.ts';
import { asSvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { readPrivate, replacePrivate } from '../core/base/private-files.ts';

/** Elapsed time is recorded when it exceeds the recorded time by this much, ms. */
const NOTED_MS = 10 * 60_000;
const LARGEST_FILE = 64 * 1024;

const stored = z.object({
  lease: z.string(),
  offset_ms: z.number(),
  /** The newest server time that was seen. */
  server_time: z.number(),
  /** The newest corrected time since then. */
  seen_time: z.number(),
});

/** A lease as stored, with the times at which it was seen. */
export type StoredLease = z.output<typeof stored>;

export type LeaseStore = ReturnType<typeof createLeaseStore>;

/** Stores a lease in a file, and corrects the local clock by the server's time in it. */
export function createLeaseStore({ file, clock, log }: { file: string; clock: Clock; log: Log }) {
  let kept: StoredLease | null = null;

  /** Returns the local clock, corrected, and never earlier than a time already seen: setting a clock back revives nothing. */
  const now = (): number =>
    kept === null ? clock.now() : Math.max(kept.server_time, kept.seen_time, clock.now() + kept.offset_ms);

  function saveLease(): void {
    try {
      replacePrivate(file, `${JSON.stringify(kept)}\n`, { isDurable: true });
    } catch (error) {
      log.warn({ error: asSvcError(error).message }, 'the lease was not saved');
    }
  }

  return {
    now,
    offsetMs: (): number | null => kept?.offset_ms ?? null,
    noteTime(): void {
      if (kept === null) return;
      const seen = now();
      if (seen - kept.seen_time < NOTED_MS) return;
      kept = { ...kept, seen_time: seen };
      saveLease();
    },
    /** Reads the file; null if there is none. Throws for an invalid one. */
    readFile(): StoredLease | null {
      const text = readPrivate(file, LARGEST_FILE);
      return text === null ? null : stored.parse(JSON.parse(text));
    },
    /** Uses a lease of the file, once it was verified. */
    adopt(read: StoredLease): void {
      kept = read;
    },
    /** Stores a lease that was created just now, at `serverTime`. */
    keep(lease: string, serverTime: number): void {
      kept = {
        lease,
        offset_ms: serverTime - clock.now(),
        server_time: serverTime,
        seen_time: serverTime,
      };
      saveLease();
    },
    remove(): void {
      kept = null;
      try {
        rmSync(file, { force: true });
      } catch (error) {
        log.warn({ error: asSvcError(error).message }, 'the invalid lease was not removed');
      }
    },
  };
}
