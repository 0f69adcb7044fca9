import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import { rfc3339 } from '../../../core/base/clock.ts';
import { openPrivate, readPrivate } from '../../../core/base/private-files.ts';

/**
 * A worker's log is read by logical offsets: bytes ever written, which keep growing when the file is cut to its
 * newest part (log-watch.ts). The sidecar `<log>.cut` records how many bytes were dropped before the first remaining
 * one.
 */

export interface ProcessLogPart {
  /** The bytes as text; a UTF-8 sequence is never split between two reads. */
  text: string;
  bytes: Buffer;
  /** The start of the next read. */
  next: number;
  /** How many of the requested bytes are no longer kept; the part then starts at the oldest kept byte. */
  dropped: number;
  /** Logical size of the log at this moment. */
  end: number;
}

/** Converts between logical and physical offsets: physical = logical - dropped + header. */
export interface LogCut {
  /** Logical bytes dropped. */
  dropped: number;
  /** Length in bytes of the header line about the cut; it is not part of the log. */
  header: number;
}

export const cutSidecar = (file: string): string => `${file}.cut`;
export const formatHeader = (dropped: number): string =>
  `[svc: ${dropped} bytes of earlier output dropped]\n`;

const WHOLE: LogCut = { dropped: 0, header: 0 };

/** Reads up to `length` bytes from a position; fewer only at the end of the file. */
export function readBytesAt(fd: number, position: number, length: number): Buffer {
  const buffer = Buffer.allocUnsafe(length);
  let filled = 0;
  while (filled < length) {
    const count = readSync(fd, buffer, filled, length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

/**
 * The cut of an open log. The sidecar is written before the file is touched and names the state before as well; the
 * file's own first line shows which of the two applies, so a crash in between cannot shift the offsets.
 */
export function readCut(file: string, fd: number): LogCut {
  let recorded: { dropped?: unknown; before?: unknown };
  try {
    recorded = JSON.parse(readPrivate(cutSidecar(file), 4096) ?? 'null') as typeof recorded;
    if (recorded === null) return WHOLE;
  } catch {
    return WHOLE;
  }
  for (const dropped of [recorded.dropped, recorded.before]) {
    if (typeof dropped !== 'number' || dropped <= 0) continue;
    const header = formatHeader(dropped);
    if (readBytesAt(fd, 0, header.length).toString('latin1') === header)
      return { dropped, header: header.length };
  }
  return WHOLE;
}

/** Returns the length of the incomplete UTF-8 sequence at the end of the bytes; 0 for none. */
export function measureIncompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back += 1) {
    const byte = bytes[bytes.length - back]!;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue; // a continuation: its lead is further back
    const length = byte >= 0xf5 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

function withOpenLog<T>(file: string, missing: T, use: (fd: number, cut: LogCut, size: number) => T): T {
  let fd: number;
  try {
    fd = openPrivate(file, 'read');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return missing;
    throw error;
  }
  try {
    return use(fd, readCut(file, fd), fstatSync(fd).size);
  } finally {
    closeSync(fd);
  }
}

/**
 * Reads from a logical offset. Synchronous, so that a cut by the same host cannot happen between its steps.
 * @param options.maxBytes at least 4, so that every read can make progress
 * @param options.ended the log will not grow any more, so an incomplete last sequence is returned too
 */
export function readLog(
  file: string,
  { from, maxBytes, ended = false }: { from: number; maxBytes: number; ended?: boolean },
): ProcessLogPart {
  const nothing: ProcessLogPart = { text: '', bytes: Buffer.alloc(0), next: 0, dropped: 0, end: 0 };
  return withOpenLog(file, nothing, (fd, cut, size) => {
    const end = Math.max(cut.dropped, size - cut.header + cut.dropped);
    const asked = Math.max(0, from);
    const begin = Math.min(Math.max(asked, cut.dropped), end);
    let bytes = readBytesAt(
      fd,
      begin - cut.dropped + cut.header,
      Math.min(Math.max(4, maxBytes), end - begin),
    );
    const isEnd = begin + bytes.length >= end;
    if (!(isEnd && ended)) bytes = bytes.subarray(0, bytes.length - measureIncompleteTail(bytes));
    return {
      text: bytes.toString('utf8'),
      bytes,
      next: begin + bytes.length,
      dropped: Math.max(0, cut.dropped - asked),
      end,
    };
  });
}

/** Returns when the log was last written to, RFC 3339; null if there is none. */
export function readLogTime(file: string): string | null {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? null : rfc3339(stat.mtimeMs);
}

/** Finds the logical offset of the last `lines` lines; a last line without its newline counts as one. */
export function findTailOffset(file: string, lines: number): number {
  return withOpenLog(file, 0, (fd, cut, size) => {
    const logical = (physical: number): number => physical - cut.header + cut.dropped;
    if (lines <= 0) return Math.max(cut.dropped, logical(size));
    let left = lines;
    let end = size;
    while (end > cut.header) {
      const begin = Math.max(cut.header, end - 64 * 1024);
      const block = readBytesAt(fd, begin, end - begin);
      for (let at = block.length - 1; at >= 0; at -= 1) {
        // The newline that ends the last line does not start another.
        if (block[at] !== 0x0a || begin + at === size - 1) continue;
        left -= 1;
        if (left === 0) return logical(begin + at + 1);
      }
      end = begin;
    }
    return cut.dropped;
  });
}
