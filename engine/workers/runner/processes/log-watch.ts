import { closeSync, fstatSync, ftruncateSync, statSync, writeSync } from 'node:fs';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import { openPrivate, replacePrivate } from '../../../core/base/private-files.ts';
import { cutSidecar, formatHeader, readBytesAt, readCut } from './log.ts';

export interface LogWatchOptions {
  file: string;
  /** The file is cut when it is larger than this; 64 MiB. */
  limitBytes?: number;
  /** How much a cut keeps, at most half the limit; 8 MiB. */
  keepBytes?: number;
  /** Called with the logical size after the log has grown. */
  onGrow?: (size: number) => void;
  /** Pause between two checks while the log grows, ms; five times as long while it does not. 100. */
  intervalMs?: number;
  clock?: Clock;
}

export interface LogWatch {
  /** Bytes ever written, as of the last check. */
  size(): number;
  /** The time when the log last grew, by the monotonic clock, ms, for the idle timeout; at first the file's own time, or now. */
  lastChangeAt(): number;
  /** Checks immediately, e.g. after the worker has ended. */
  check(): void;
  close(): void;
}

const MiB = 1024 * 1024;
const CATCH_UP_ROUNDS = 8;

function writeFully(from: Buffer, fd: number, position: number): void {
  for (let done = 0; done < from.length; ) {
    done += writeSync(fd, from, done, from.length - done, position + done);
  }
}

/** Finds the start of the kept part: after a newline if one is near, otherwise at the start of a UTF-8 sequence. */
function findKeptStart(bytes: Buffer): number {
  const newline = bytes.subarray(0, Math.min(bytes.length - 1, 64 * 1024)).indexOf(0x0a);
  if (newline >= 0) return newline + 1;
  let at = 0;
  while (at < 3 && at < bytes.length && (bytes[at]! & 0b1100_0000) === 0b1000_0000) at += 1;
  return at;
}

/** Writes the sidecar; false on a full disk, when only the cut itself frees space. */
function recordCut(file: string, dropped: number, before: number): boolean {
  const sidecar = cutSidecar(file);
  try {
    replacePrivate(sidecar, JSON.stringify({ dropped, before }));
    return true;
  } catch {
    return false;
  }
}

/**
 * Cuts the file in place to its newest part: the worker keeps writing to the same file and, having opened it with
 * O_APPEND, continues at the new end. The kept part moves to the front, followed by what arrives in the meantime, so
 * the order stays; only bytes written between the last read and the truncation itself can be lost.
 */
export function cutLog(file: string, keepBytes: number): void {
  const fd = openPrivate(file, 'change');
  try {
    const cut = readCut(file, fd);
    const size = fstatSync(fd).size;
    const from = Math.max(cut.header, size - keepBytes);
    let part = readBytesAt(fd, from, size - from);
    const skipped = findKeptStart(part);
    part = part.subarray(skipped);
    const dropped = from + skipped - cut.header + cut.dropped;
    if (dropped <= cut.dropped) return;

    const isRecorded = recordCut(file, dropped, cut.dropped);

    // Body first, header last: until the header is written the sidecar's `before` applies.
    const header = Buffer.from(formatHeader(dropped));
    let source = from + skipped;
    let target = header.length;
    for (let round = 0; part.length > 0 && round < CATCH_UP_ROUNDS; round += 1) {
      writeFully(part, fd, target);
      source += part.length;
      target += part.length;
      part = readBytesAt(fd, source, Math.min(keepBytes, fstatSync(fd).size - source));
    }
    writeFully(header, fd, 0);
    ftruncateSync(fd, target);
    if (!isRecorded) recordCut(file, dropped, cut.dropped);
  } finally {
    closeSync(fd);
  }
}

/**
 * Watches a worker's log: reports growth and keeps its size bounded (R9). One `stat` per check; does not keep the
 * host alive. The first check happens immediately.
 */
export function createLogWatch(options: LogWatchOptions): LogWatch {
  const { file, limitBytes = 64 * MiB, onGrow, intervalMs = 100, clock = systemClock } = options;
  const keepBytes = Math.min(options.keepBytes ?? 8 * MiB, Math.floor(limitBytes / 2));
  let physical = -1;
  let size = 0;
  let lastChange = clock.monotonic();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  const measureLog = (bytes: number): void => {
    const fd = openPrivate(file, 'read');
    try {
      const cut = readCut(file, fd);
      size = Math.max(size, bytes - cut.header + cut.dropped);
      physical = bytes;
    } finally {
      closeSync(fd);
    }
  };
  const checkLog = (): boolean => {
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat === undefined || (stat.size === physical && stat.size <= limitBytes)) return false;
    const isFirst = physical < 0;
    const before = size;
    try {
      measureLog(stat.size);
      if (stat.size > limitBytes) {
        cutLog(file, keepBytes);
        measureLog(statSync(file).size);
      }
    } catch {
      return false; // gone or a full disk: the next check tries again
    }
    if (size <= before) return false;
    lastChange = clock.monotonic() - (isFirst ? Math.max(0, clock.now() - stat.mtimeMs) : 0);
    onGrow?.(size);
    return true;
  };
  const scheduleCheck = (pauseMs: number): void => {
    if (isClosed) return;
    timer = setTimeout(
      () => scheduleCheck(checkLog() ? intervalMs : Math.min(pauseMs * 1.5, intervalMs * 5)),
      pauseMs,
    );
    timer.unref();
  };
  checkLog();
  scheduleCheck(intervalMs);
  return {
    size: () => size,
    lastChangeAt: () => lastChange,
    check: () => void checkLog(),
    close() {
      isClosed = true;
      clearTimeout(timer);
    },
  };
}
