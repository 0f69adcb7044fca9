import type { Clock } from '../core/base/clock.ts';
import { createDueTimer } from '../core/base/due-timer.ts';
import { asSvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';

/** After an outcome could not be saved; going on at once would only do the same again. */
const STALLED_MS = 5000;

/** What becomes due by the clock, in a loop for each receiver, so that one that is slow or gone delays no other. */
export interface DueLoops {
  /** From now on what is due is done. */
  start(): void;
  /** Something may have become due. */
  look(): void;
  /** The same, and receivers that were put off may have been opened. */
  wake(): void;
  /** Resolves when nothing is under way and nothing more is due. */
  settled(): Promise<void>;
  /** Begins nothing more, and waits for what is under way. */
  close(): Promise<void>;
}

export function createDueLoops({
  clock,
  log,
  what,
  findNextDue,
  listDue,
  run,
}: {
  clock: Clock;
  log: Log;
  /** What is sent, for the log, such as `a delivery`. */
  what: string;
  /** When something becomes due after that time, Unix ms; null for never. */
  findNextDue(now: number): Promise<number | null>;
  /** The receivers for whom something is due. */
  listDue(now: number): Promise<readonly string[]>;
  /** Does what is due for one receiver, and says until when that one is put off; null for not at all. */
  run(receiver: string, isClosing: () => boolean): Promise<number | null>;
}): DueLoops {
  const loops = new Map<string, Promise<void>>();
  const putOff = new Map<string, number>();
  const timer = createDueTimer({ clock, onDue: look });
  let looking: Promise<void> | null = null;
  let mustLookAgain = false;
  /** How often `wake` was called. */
  let wakes = 0;
  let isStarted = false;
  let isClosing = false;

  function startLoop(id: string): void {
    putOff.delete(id);
    const before = wakes;
    const running = run(id, () => isClosing)
      .then((until) => {
        // What has opened it meanwhile may not have been seen.
        if (until !== null && before === wakes) putOff.set(id, until);
      })
      .catch((thrown: unknown) => {
        if (isClosing) return;
        putOff.set(id, clock.now() + STALLED_MS);
        log.error({ receiver: id, error: asSvcError(thrown).message }, `${what} failed here`);
      })
      .finally(() => {
        loops.delete(id);
        look();
      });
    loops.set(id, running);
  }

  async function startDue(): Promise<void> {
    const now = clock.now();
    let nextAt = (await findNextDue(now)) ?? Number.POSITIVE_INFINITY;
    for (const id of await listDue(now)) {
      const until = putOff.get(id) ?? 0;
      if (until > now) nextAt = Math.min(nextAt, until);
      else if (!loops.has(id) && !isClosing) startLoop(id);
    }
    timer.sleepUntil(nextAt, 1);
  }

  /** One look at a time; what is asked for during one is done after it. */
  function look(): void {
    if (isClosing || !isStarted) return;
    if (looking !== null) {
      mustLookAgain = true;
      return;
    }
    mustLookAgain = false;
    looking = startDue()
      .catch((thrown: unknown) => {
        if (isClosing) return;
        log.error({ error: asSvcError(thrown).message }, `cannot read due work: ${what}`);
        timer.sleepUntil(clock.now() + STALLED_MS, STALLED_MS);
      })
      .finally(() => {
        looking = null;
        if (mustLookAgain) look();
      });
  }

  return {
    start() {
      isStarted = true;
      look();
    },
    look,
    wake() {
      wakes += 1;
      putOff.clear();
      look();
    },
    async settled() {
      while (looking !== null || loops.size > 0) await Promise.all([looking, ...loops.values()]);
    },
    async close() {
      isClosing = true;
      timer.close();
      await Promise.all([looking, ...loops.values()]);
    },
  };
}
