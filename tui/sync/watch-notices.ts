import { constants, mkdirSync } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { basename } from 'node:path';
import type { ListedNotice } from '../state/rows.ts';

const MOST_BYTES = 64 * 1024;

/**
 * Reports text appended to `.svc/notices/<session>.md` while the dashboard is open. chokidar is loaded late, so that
 * the first screen does not wait for it.
 */
export async function watchNotices(options: {
  folder: string;
  onNotices(notices: readonly ListedNotice[]): void;
}): Promise<{ close(): Promise<void> }> {
  const { watch } = await import('chokidar');
  const read = new Map<string, number>();
  let count = 0;
  try {
    mkdirSync(options.folder, { mode: 0o700 });
  } catch {
    // Either it exists, or the data folder is gone; the next connection watches again.
  }

  async function readNotices(path: string, isNew: boolean): Promise<void> {
    // svc does not create links there.
    const found = await lstat(path);
    if (!found.isFile()) return;
    const { size, mtime } = found;
    // Content from before the dashboard was opened is not news; a file that shrank was restarted.
    const from = isNew ? size : (read.get(path) ?? 0);
    const start = from > size ? 0 : from;
    read.set(path, size);
    if (size === start) return;
    const begin = Math.max(start, size - MOST_BYTES);
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(size - begin), 0, size - begin, begin);
      const text = buffer.subarray(0, bytesRead).toString('utf8').trim();
      if (text === '') return;
      count += 1;
      options.onNotices([
        { id: `n-${count}`, session: basename(path, '.md'), at: mtime.toISOString(), text },
      ]);
    } finally {
      await file.close();
    }
  }

  let isFirstLook = true;
  const watcher = watch(options.folder, {
    depth: 0,
    ignored: (path, stats) => stats?.isFile() === true && !path.endsWith('.md'),
  });
  watcher
    .on('add', (path) => void readNotices(path, isFirstLook).catch(() => undefined))
    .on('change', (path) => void readNotices(path, false).catch(() => undefined))
    .on('unlink', (path) => void read.delete(path))
    .on('ready', () => {
      isFirstLook = false;
    })
    // A removed folder must not stop it.
    .on('error', () => undefined);
  return { close: () => watcher.close() };
}
