import { asSvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import type { BoardLink } from './board-link.ts';

/** When a machine that was started for some work leaves its fleet again. */
export interface ShortLife {
  /** True for one run. */
  isOnce: boolean;
  /** After so long without a run, ms; null for never. */
  idleMs: number | null;
}

const LOOK_MS = 1000;
const AGAIN_MS = 2000;
/** How long a goodbye without an answer is repeated, ms. */
const LOST_MS = 60_000;

/** Ends a machine's stay in its fleet: it asks for no more runs, says goodbye, and leaves. */
export function watchShortLife(
  { isOnce, idleMs }: ShortLife,
  {
    board,
    countRuns,
    leave,
    log,
  }: {
    board: Pick<BoardLink, 'call' | 'onAttach'>;
    countRuns(): number;
    /** Closes this runner, and removes its folders. */
    leave(): void;
    log: Log;
  },
): { begun(): void; finish(): void; close(): void } {
  let hadRun = false;
  let isLeaving = false;
  let isFinishing = false;
  let busyAt = performance.now();
  let goodbyeAt: number | null = null;
  // Before, it could not be given any work.
  board.onAttach(() => {
    busyAt = performance.now();
  });

  const isOver = (): boolean => {
    if (countRuns() > 0) {
      busyAt = performance.now();
      return false;
    }
    return isFinishing || (isOnce && hadRun) || (idleMs !== null && performance.now() - busyAt >= idleMs);
  };

  /** The board gives it nothing from the first answer on, and forgets it at the second. */
  async function sayGoodbye(): Promise<void> {
    isLeaving = true;
    try {
      if (goodbyeAt === null) await board.call('drain', {});
      if (!isOver()) return;
      goodbyeAt ??= performance.now();
      // Its answer may be lost, and then the board does not know this machine any more.
      await board.call('goodbye', {}).catch((error: unknown) => {
        if (performance.now() - (goodbyeAt ?? 0) < LOST_MS) throw error;
      });
      log.info({}, 'it has left its fleet');
      leave();
    } finally {
      isLeaving = false;
    }
  }

  let pausedUntil = 0;
  const timer = setInterval(() => {
    if (isLeaving || performance.now() < pausedUntil || !isOver()) return;
    sayGoodbye().catch((error: unknown) => {
      pausedUntil = performance.now() + AGAIN_MS;
      log.warn({ error: asSvcError(error).message }, 'it could not leave its fleet yet');
    });
  }, LOOK_MS);

  return {
    begun() {
      hadRun = true;
      if (isOnce) board.call('drain', {}).catch(() => undefined);
    },
    finish() {
      isFinishing = true;
      board.call('drain', {}).catch(() => undefined);
    },
    close: () => clearInterval(timer),
  };
}
