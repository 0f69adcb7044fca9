import type { Clock } from '../../core/base/clock.ts';
import type { Storage } from '../../storage/index.ts';
import type { SeatRegistry } from './seats/index.ts';

export interface ReaperDeps {
  storage: Storage;
  clock: Clock;
  seats: SeatRegistry;
  isAlive(pid: number, pidStart: string): 'alive' | 'dead' | 'unknown';
  /** `daemon.reap_interval_sec`: seconds, 0 for never. */
  intervalSec(): number;
  /** Adopts worker sessions that nothing supervises. */
  takeUp(): Promise<void>;
  log: { info(facts: object, text: string): void; error(facts: object, text: string): void };
}

/** Consecutive checks that must miss a session before it counts as gone (R6). */
const MISSES = 2;

/** Delay of the check that confirms a miss, ms. */
const CONFIRM_MS = 5_000;

/** Time without a call after which a seat without a process counts as gone, ms. */
const SILENT_MS = 60 * 60 * 1000;

/** How long closed seats are kept, ms. */
const FORGET_MS = 30 * 24 * 60 * 60 * 1000;
const FORGET_EVERY_MS = 60 * 60 * 1000;

export interface SessionReaper {
  start(): void;
  /** Checks now, closing seats that were missed twice. */
  look(): Promise<void>;
  close(): void;
}

/** Closes the seats of sessions that died silently, which releases what they held. */
export function createReaper(deps: ReaperDeps): SessionReaper {
  const { storage, clock, seats } = deps;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let forgetAt = 0;

  /** `unknown` changes nothing: a failed probe proves nothing. */
  function isSessionGone({
    pid,
    pidStart,
    seenAt,
    isAttended,
  }: ReturnType<SeatRegistry['watched']>[number]): boolean | 'unknown' {
    if (isAttended) return false;
    if (pid === null || pidStart === null) return clock.now() - seenAt > SILENT_MS;
    const found = deps.isAlive(pid, pidStart);
    return found === 'unknown' ? 'unknown' : found === 'dead';
  }

  async function reapGone(): Promise<void> {
    if (clock.now() >= forgetAt) {
      forgetAt = clock.now() + FORGET_EVERY_MS;
      await storage.write(() => seats.forget(clock.now() - FORGET_MS));
    }
    // Nothing is written if nothing changed: an idle engine must not touch the disk.
    const changed = seats
      .watched()
      .map((seat) => ({ seat, gone: isSessionGone(seat) }))
      .filter(({ seat, gone }) => gone !== 'unknown' && (gone || seat.misses > 0));
    let isMissing = false;
    if (changed.length > 0 || seats.isHeard()) {
      await storage.write(() => {
        seats.flush();
        for (const { seat, gone } of changed) {
          const misses = seats.miss(seat.sessionId, gone === true);
          if (gone !== true) continue;
          if (misses >= MISSES) seats.close(seat.sessionId, 'its process is gone');
          else isMissing = true;
        }
      });
    }
    await deps.takeUp();
    if (isMissing) scheduleNext(CONFIRM_MS);
  }

  function scheduleNext(soonestMs?: number): void {
    clearTimeout(timer);
    const everyMs = deps.intervalSec() * 1000;
    if (isClosed) return;
    // While disabled, the configuration is still checked, since it may be enabled again.
    const pause = everyMs === 0 ? 60_000 : Math.min(everyMs, soonestMs ?? everyMs);
    timer = setTimeout(() => {
      scheduleNext();
      if (everyMs === 0) return;
      reapGone().catch((error: unknown) => deps.log.error({ error: String(error) }, 'the reaper failed'));
    }, pause);
    timer.unref();
  }

  return {
    start: () => scheduleNext(),
    look: reapGone,
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
