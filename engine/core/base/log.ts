import { closeSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import { makePrivateFolder, openPrivate } from './private-files.ts';
import { readCurrentTrace } from './trace-context.ts';

const LARGEST_BYTES = 10 * 1024 ** 2;
const KEPT = 6;

/** A logger in pino's shape. */
export interface Log {
  info(facts: object, text: string): void;
  warn(facts: object, text: string): void;
  error(facts: object, text: string): void;
}

/** Opens structured logs under `.svc/log/`: files of 10 MiB, the newest six per program. Writing never stops the program. */
export function openLog(
  dataDir: string,
  program: 'engine' | 'gateway' = 'engine',
): { log: Logger; close(): void } {
  const folder = join(dataDir, 'log');
  makePrivateFolder(dataDir, folder);
  const formatLogPath = (number: number): string => join(folder, `${program}.${number}.log`);
  const form = new RegExp(`^${program}\\.(\\d+)\\.log$`);
  const listLogNumbers = (): number[] =>
    readdirSync(folder).flatMap((name) => Number(form.exec(name)?.[1] ?? []));

  let newest = Math.max(1, ...listLogNumbers());
  /** Creates it as ours before the library opens it by name. */
  const createLogFile = (file: string): string => {
    closeSync(openPrivate(file, 'add'));
    return file;
  };
  const stream = pino.destination({ dest: createLogFile(formatLogPath(newest)), mode: 0o600, sync: false });
  let size = lstatSync(formatLogPath(newest)).size;
  // A full disk loses log lines, but does not stop the engine.
  stream.on('error', () => undefined);
  stream.on('write', (bytes: number) => {
    size += bytes;
    if (size < LARGEST_BYTES) return;
    size = 0;
    newest += 1;
    try {
      // Pending lines still go to the old file, so no line is cut.
      stream.reopen(createLogFile(formatLogPath(newest)));
      for (const number of listLogNumbers())
        if (number <= newest - KEPT) rmSync(formatLogPath(number), { force: true });
    } catch (error) {
      stream.emit('error', error);
    }
  });
  const log = pino(
    { level: 'info', base: null, timestamp: pino.stdTimeFunctions.isoTime, mixin: readCurrentTrace },
    stream,
  );
  return {
    log,
    close() {
      try {
        stream.flushSync();
      } catch {
        // nothing written yet, or the disk is full
      }
      stream.end();
    },
  };
}

/**
 * Opens structured logs to a descriptor or a file, such as stderr of a server. Lines of one turn of the event loop
 * are written together at its end: a busy server logs many lines in each.
 */
export function openOutputLog(dest: number | string): Logger {
  const stream = pino.destination({ dest, sync: true, minLength: 8192 });
  let isDue = false;
  const writeOut = (): void => {
    isDue = false;
    stream.flush();
  };
  process.once('exit', writeOut);
  return pino(
    { base: null, timestamp: pino.stdTimeFunctions.isoTime },
    {
      write(line) {
        stream.write(line);
        if (!isDue) setImmediate(writeOut);
        isDue = true;
      },
    },
  );
}
