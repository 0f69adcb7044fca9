import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../core/base/clock.ts';
import { asSvcError } from '../../core/base/errors.ts';
import type { Storage } from '../../storage/index.ts';
import type { BusLimits } from '../config.ts';
import { noticesFolder } from '../notices/index.ts';
import { surfacedFolder } from '../notices/surfaced.ts';

export interface RetentionDeps {
  storage: Storage;
  clock: Clock;
  /** Read at each run. */
  limits(): BusLimits;
  data: string;
  onError(message: string): void;
}

/** Removes old messages, notices and lists of shown messages. Unread alerts are never removed. */
export interface MessageRetention {
  /** Runs now, then every few minutes. */
  start(): void;
  run(): Promise<void>;
  close(): Promise<void>;
}

const EVERY_MS = 5 * 60_000;
/** Rows per transaction, so that other writes get in between. */
const AT_ONCE = 500;

export function createRetention({ storage, clock, limits, data, onError }: RetentionDeps): MessageRetention {
  const { db } = storage;
  const dropAcked = db.prepare(`DELETE FROM message WHERE id IN
    (SELECT id FROM message WHERE acked_at IS NOT NULL AND acked_at < ? LIMIT ${AT_ONCE})`);
  const dropUnread = db.prepare(`DELETE FROM message WHERE id IN
    (SELECT id FROM message WHERE acked_at IS NULL AND kind <> 'alert' AND created_at < ? LIMIT ${AT_ONCE})`);
  const dropBeyond = db.prepare(`DELETE FROM message WHERE id IN
    (SELECT id FROM message WHERE acked_at IS NOT NULL ORDER BY acked_at DESC, id DESC LIMIT ${AT_ONCE} OFFSET ?)`);
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | null = null;
  let isClosed = false;

  async function removeOldRows({ retainAckedMs, retainUnreadMs, maxAcked }: BusLimits): Promise<void> {
    const now = clock.now();
    const steps = [
      () => dropAcked.run(now - retainAckedMs),
      () => dropUnread.run(now - retainUnreadMs),
      ...(maxAcked === 0 ? [] : [() => dropBeyond.run(maxAcked)]),
    ];
    for (const step of steps) {
      while (!isClosed && (await storage.write(step)).changes === AT_ONCE);
    }
  }

  async function removeOld(): Promise<void> {
    const current = limits();
    const now = clock.now();
    await removeOldRows(current);
    removeOldFiles(noticesFolder(data), '.md', now - current.noticesRetainMs);
    removeOldFiles(surfacedFolder(data), '.ids', now - current.surfacedRetainMs);
  }

  function removeOnce(): Promise<void> {
    running ??= removeOld().finally(() => {
      running = null;
    });
    return running;
  }

  function removeQuietly(): void {
    if (isClosed) return;
    removeOnce().catch((error: unknown) => {
      if (!isClosed) onError(`old messages were not removed: ${asSvcError(error).message}`);
    });
  }

  return {
    start() {
      removeQuietly();
      timer = setInterval(removeQuietly, EVERY_MS);
      timer.unref();
    },
    run: removeOnce,
    async close() {
      isClosed = true;
      clearInterval(timer);
      await running?.catch(() => undefined);
    },
  };
}

/** Removes regular files of the folder that were last written before `at`, ms. */
function removeOldFiles(folder: string, extension: string, at: number): void {
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    return;
  }
  for (const name of names) {
    if (!name.endsWith(extension)) continue;
    const file = join(folder, name);
    try {
      const found = lstatSync(file);
      if (found.isFile() && found.mtimeMs < at) rmSync(file);
    } catch {
      // Another process removed it.
    }
  }
}
