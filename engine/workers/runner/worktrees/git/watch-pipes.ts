import { existsSync } from 'node:fs';
import { readGitFolders } from './git-folders.ts';
import { findPipe, listTraps, removeTrap } from './traps.ts';

/** Longer than most git calls take; then a pipe is likely. */
export const PATIENCE_MS = 5000;

/** Why a git call was stopped: the path of a pipe, or its folder no longer exists. */
export type StopReason = { pipe: string } | 'folder_removed';

/**
 * Watches a git call that may hang at a pipe which a worker has created. Pipes in git's own folders are removed, so
 * that the next call works. A call whose folder was removed is stopped too: the pipe at which it waits may have been in
 * it.
 * @param stop ends the call
 * @param folder where it was called
 */
export function watchForPipes(
  folder: string,
  stop: () => void,
  patienceMs: number,
): { close(): void; findReason(): StopReason | null } {
  const closing = new AbortController();
  let reason: StopReason | null = null;
  let timer: NodeJS.Timeout;
  const lookForPipe = async (afterMs: number): Promise<void> => {
    const named = readGitFolders(folder);
    const traps = named === null ? [] : listTraps(named, { links: false });
    const pipe = traps[0] ?? (await findPipe(folder, closing.signal));
    if (closing.signal.aborted) return;
    if (pipe !== null) reason = { pipe };
    else if (!existsSync(folder)) reason = 'folder_removed';
    if (reason !== null) stop();
    // Afterwards, since it lets the call continue.
    for (const trap of traps) removeTrap(trap);
    if (reason !== null) return;
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
    findReason: () => reason,
  };
}
