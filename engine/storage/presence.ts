import { type BigIntStats, statSync } from 'node:fs';

/**
 * Watches whether the file at `path` is still the same one. SQLite keeps writing to a deleted file, and that data is
 * lost with the process.
 */
export function watchPresence(path: string): { isGone(): boolean } {
  const readStat = (): BigIntStats | undefined => statSync(path, { bigint: true, throwIfNoEntry: false });
  const first = readStat();
  return {
    isGone() {
      const now = readStat();
      return now === undefined || now.ino !== first?.ino || now.dev !== first.dev;
    },
  };
}

const LOOK_MS = 1000;

/** Calls `act` once when the database is gone. Returns a function that stops watching. */
export function whenGone({ isGone }: { isGone(): boolean }, act: () => void): () => void {
  const timer = setInterval(() => {
    if (!isGone()) return;
    clearInterval(timer);
    act();
  }, LOOK_MS);
  return () => clearInterval(timer);
}
