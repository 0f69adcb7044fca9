import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import openRolling from 'pino-roll';

/** Structured logs under `.svc/log/`: files of 10 MiB, the newest six kept. Writing them never stops the engine. */
export async function openLog(dataDir: string): Promise<{ log: Logger; close(): void }> {
  const folder = join(dataDir, 'log');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stream = await openRolling({
    file: join(folder, 'engine'),
    extension: '.log',
    size: '10m',
    limit: { count: 5, removeOtherLogFiles: true },
    mode: 0o600,
    sync: false,
  });
  // A full disk loses log lines, not the engine.
  stream.on('error', () => undefined);
  const log = pino({ level: 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  return {
    log,
    close() {
      try {
        stream.flushSync();
      } catch {
        // nothing was written yet, or the disk is full
      }
      stream.end();
    },
  };
}
