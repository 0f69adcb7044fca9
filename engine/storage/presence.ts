import { type BigIntStats, statSync } from 'node:fs';

/**
 * Whether the file at `path` still is the one that was there when this was called. SQLite goes on writing to a file
 * that was deleted, and what it then calls saved is gone with the process.
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

/** Calls `act` once, when the database is found gone. Returns how to stop looking. */
export function whenGone({ isGone }: { isGone(): boolean }, act: () => void): () => void {
  const timer = setInterval(() => {
    if (!isGone()) return;
    clearInterval(timer);
    act();
  }, LOOK_MS);
  return () => clearInterval(timer);
}
