import { setTimeout as delay } from 'node:timers/promises';
import type { Storage } from '../../storage/index.ts';

/** The target duration of a removal's transaction, since others wait for it. */
const MOST_WRITE_MS = 2;

/** Writes in small transactions with pauses in between, so that other writers hardly wait. */
export interface PacedWriter {
  /** Calls `work` for each item inside `storage.write`, in several transactions. Returns the results of `work`. */
  writeEach<T, R>(items: readonly T[], work: (item: T) => R): Promise<R[]>;
  /** Pauses in proportion to the last piece of work. */
  rest(workedMs: number): Promise<void>;
}

export function createPacedWriter(
  storage: Pick<Storage, 'write'>,
  isClosed: () => boolean,
  /** The pause between two pieces of work, as a multiple of their duration. */
  restShare: number,
): PacedWriter {
  const rest = async (workedMs: number): Promise<void> => {
    await delay(Math.min(200, Math.max(1, workedMs * restShare)), undefined, { ref: false });
  };
  return {
    rest,
    async writeEach(items, work) {
      const done: ReturnType<typeof work>[] = [];
      while (done.length < items.length && !isClosed()) {
        const from = done.length;
        const asked = performance.now();
        const made = await storage.write(() => {
          const begun = performance.now();
          const results: ReturnType<typeof work>[] = [];
          for (let at = from; at < items.length; at += 1) {
            results.push(work(items[at]!));
            if (performance.now() - begun > MOST_WRITE_MS) break;
          }
          return results;
        });
        done.push(...made);
        // Including the commit: the slower the disk, the longer the pause.
        await rest(performance.now() - asked);
      }
      return done;
    },
  };
}
