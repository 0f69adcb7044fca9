import type { GraphDatabase } from '../store/graph-file.ts';

/** After this many files or this much time, others get a turn and the work is committed. */
export const BATCH = 100;

const BATCH_MS = 50;

/** Does work in transactions of a limited duration. */
export interface BatchWriter {
  /** Does work in transactions, each with the marks that it requires; others get a turn in between. */
  workInBatches<T>(all: readonly T[], work: (each: T) => void, report: (done: number) => void): Promise<void>;
  /** Works from a position on, within the limits of a batch; returns the number of finished items. */
  writeBatch<T>(all: readonly T[], from: number, work: (each: T) => void): number;
}

/** @param marks written at the end of each transaction, and forgotten once it is committed */
export function createBatchWriter(db: GraphDatabase, marks: { flush(): void; forget(): void }): BatchWriter {
  const takeTurns = (): Promise<void> => new Promise((done) => setImmediate(done));

  async function workInBatches<T>(
    all: readonly T[],
    work: (each: T) => void,
    report: (done: number) => void,
  ) {
    for (let done = 0; done < all.length; ) {
      done += writeBatch(all, done, work);
      report(done);
      if (done < all.length) await takeTurns();
    }
  }

  function writeBatch<T>(all: readonly T[], from: number, work: (each: T) => void): number {
    const until = performance.now() + BATCH_MS;
    let at = from;
    db.transaction(() => {
      do {
        work(all[at]!);
        at += 1;
      } while (at < Math.min(all.length, from + BATCH) && performance.now() < until);
      marks.flush();
    })();
    marks.forget();
    return at - from;
  }

  return { workInBatches, writeBatch };
}
