import { readGitFolders } from './git-folders.ts';
import { clearTraps, findPipe } from './traps.ts';

/** Longer than most git calls take; then a pipe is likely. */
export const PATIENCE_MS = 5000;

/**
 * Watches a git call that may hang at a pipe which a worker has created. Pipes in git's own folders are removed, so
 * that the next call works.
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
