import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { asSvcError } from '../../base/errors.ts';
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

/** Owns what is forgotten: old messages, notices and lists of what was shown. Unread alerts never are. */
export interface Retention {
  /** Once now, then every few minutes. */
  start(): void;
  run(): Promise<void>;
  close(): Promise<void>;
}

const EVERY_MS = 5 * 60_000;
/** Rows in one transaction; others write in between. */
const AT_ONCE = 500;

export function createRetention({ storage, clock, limits, data, onError }: RetentionDeps): Retention {
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

  async function rows({ retainAckedMs, retainUnreadMs, maxAcked }: BusLimits): Promise<void> {
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

  async function once(): Promise<void> {
    const current = limits();
    const now = clock.now();
    await rows(current);
    dropFiles(noticesFolder(data), '.md', now - current.noticesRetainMs);
    dropFiles(surfacedFolder(data), '.ids', now - current.surfacedRetainMs);
  }

  function run(): Promise<void> {
    running ??= once().finally(() => {
      running = null;
    });
    return running;
  }

  function quietly(): void {
    if (isClosed) return;
    run().catch((error: unknown) => {
      if (!isClosed) onError(`old messages were not removed: ${asSvcError(error).message}`);
    });
  }

  return {
    start() {
      quietly();
      timer = setInterval(quietly, EVERY_MS);
      timer.unref();
    },
    run,
    async close() {
      isClosed = true;
      clearInterval(timer);
      await running?.catch(() => undefined);
    },
  };
}

/** Plain files of the folder that were last written before `at`, ms. */
function dropFiles(folder: string, extension: string, at: number): void {
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
      // Somebody else removed it.
    }
  }
}
