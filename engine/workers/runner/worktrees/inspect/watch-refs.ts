import { type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';

/** A commit or fetch moves several refs; they are reported together. */
const SETTLE_MS = 100;
/** How often to report a change if none can be detected. */
const BLIND_MS = 5000;
/** More folders below `refs/heads` than this are not watched one by one. */
const MOST_FOLDERS = 500;

export interface RefWatch {
  close(): void;
}

/**
 * Calls `onMoved` after a branch of a repository has moved, appeared or gone, with any storage format of git. If the
 * system cannot watch files, it is called every five seconds.
 * @param common the repository's own git folder
 * @param beside folders with branches that are not taken over yet
 */
export function watchRefs(
  { common, beside }: { common: string; beside: readonly string[] },
  onMoved: () => void,
): RefWatch {
  let watchers: FSWatcher[] = [];
  let settling: NodeJS.Timeout | null = null;
  let blind: NodeJS.Timeout | null = null;

  function noticeMove(): void {
    settling ??= setTimeout(() => {
      settling = null;
      // Folders come and go with branches: restart the watch first, then report earlier moves.
      watchAll();
      onMoved();
    }, SETTLE_MS);
  }

  function watchFolder(folder: string, isRef: (name: string) => boolean): boolean {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null || isRef(name)) noticeMove();
      });
      watcher.on('error', becomeBlind);
      watchers.push(watcher);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') becomeBlind();
      return false;
    }
  }

  function becomeBlind(): void {
    blind ??= setInterval(onMoved, BLIND_MS).unref();
  }

  function watchTree(folder: string): void {
    if (watchers.length > MOST_FOLDERS) becomeBlind();
    else if (watchFolder(folder, (name) => !name.endsWith('.lock')))
      for (const name of listFolderNames(folder)) watchTree(join(folder, name));
  }

  function closeAll(): void {
    for (const watcher of watchers) watcher.close();
    watchers = [];
  }

  function watchAll(): void {
    closeAll();
    watchFolder(common, (name) => name === 'packed-refs');
    for (const folder of [join(common, 'refs', 'heads'), join(common, 'reftable'), ...beside])
      watchTree(folder);
  }

  watchAll();
  return {
    close() {
      if (settling !== null) clearTimeout(settling);
      if (blind !== null) clearInterval(blind);
      closeAll();
    },
  };
}

function listFolderNames(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
      each.isDirectory() ? [each.name] : [],
    );
  } catch {
    return [];
  }
}
