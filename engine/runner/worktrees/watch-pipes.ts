import { clearTraps, findPipe, readGitFolders } from './traps.ts';

/** Longer than most calls take; then it is worth a look. */
export const PATIENCE_MS = 5000;

/**
 * Watches a call of git that may wait at a pipe that a worker has put in its way, which would never end. What is in git's
 * own folders is taken away, so that the next call goes on.
 * @param stop ends the call
 * @param folder where it was called
 */
export function watchForPipes(
  folder: string,
  stop: () => void,
  patienceMs: number,
): { close(): void; found(): string | null } {
  const closing = new AbortController();
  let found: string | null = null;
  let timer: NodeJS.Timeout;
  const lookForPipe = async (afterMs: number): Promise<void> => {
    const named = readGitFolders(folder);
    const cleared = named === null ? [] : clearTraps(named, { links: false });
    found = cleared[0] ?? (await findPipe(folder, closing.signal));
    if (closing.signal.aborted) return;
    if (found !== null) return stop();
    scheduleLook(afterMs * 2);
  };
  const scheduleLook = (ms: number): void => {
    timer = setTimeout(() => void lookForPipe(ms), ms);
    timer.unref();
  };
  scheduleLook(patienceMs);
  return {
    close() {
      clearTimeout(timer);
      closing.abort();
    },
    found: () => found,
  };
}
