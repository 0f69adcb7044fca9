import type { Clock } from '../core/base/clock.ts';
import { createDueTimer } from '../core/base/due-timer.ts';
import { asSvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';

/** Pause after an outcome could not be saved; an immediate retry would only fail again. */
const STALLED_MS = 5000;

/** Work that becomes due by the clock, one loop per receiver, so that a slow or missing one delays no other. */
export interface DueLoops {
  /** Starts doing what is due. */
  start(): void;
  /** Called when something may have become due. */
  look(): void;
  /** Like `wake`, when postponed receivers may have been released. */
  wake(): void;
  /** Resolves when nothing is in progress and nothing more is due. */
  settled(): Promise<void>;
  /** Starts nothing more, and waits for work in progress. */
  close(): Promise<void>;
}

export interface DueLoopsDeps {
  clock: Clock;
  log: Log;
  /** The name of the work for the log, such as `a delivery`. */
  what: string;
  /** Returns when something becomes due after that time, Unix ms; null for never. */
  findNextDue(now: number): Promise<number | null>;
  /** Lists the receivers with due work. */
  listDue(now: number): Promise<readonly string[]>;
  /** Does the due work of one receiver, and returns until when it is postponed; null for not at all. */
  run(receiver: string, isClosing: () => boolean): Promise<number | null>;
}

export function createDueLoops({ clock, log, what, findNextDue, listDue, run }: DueLoopsDeps): DueLoops {
  const loops = new Map<string, Promise<void>>();
  const putOff = new Map<string, number>();
  const timer = createDueTimer({ clock, onDue: runDue });
  let looking: Promise<void> | null = null;
  let mustLookAgain = false;
  /** Number of calls of `wake`. */
  let wakes = 0;
  let isStarted = false;
  let isClosing = false;

  function startLoop(id: string): void {
    putOff.delete(id);
    const before = wakes;
    const running = run(id, () => isClosing)
      .then((until) => {
        // A release in the meantime may have been missed.
        if (until !== null && before === wakes) putOff.set(id, until);
      })
      .catch((thrown: unknown) => {
        if (isClosing) return;
        putOff.set(id, clock.now() + STALLED_MS);
        log.error({ receiver: id, error: asSvcError(thrown).message }, `${what} failed here`);
      })
      .finally(() => {
        loops.delete(id);
        runDue();
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

  /** One check at a time; requests during one are handled after it. */
  function runDue(): void {
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
        if (mustLookAgain) runDue();
      });
  }

  return {
    start() {
      isStarted = true;
      runDue();
    },
    look: runDue,
    wake() {
      wakes += 1;
      putOff.clear();
      runDue();
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
