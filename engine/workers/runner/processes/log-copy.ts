import { closeSync, fstatSync, ftruncateSync, writeSync } from 'node:fs';
import { makePrivateFile, openPrivate, replacePrivate } from '../../../core/base/private-files.ts';
import { cutSidecar, formatHeader, readCut } from './log.ts';
import { cutLog } from './log-watch.ts';

/** As for the log itself; see `LogWatchOptions`. */
const LIMIT_BYTES = 64 * 1024 * 1024;
const KEEP_BYTES = 8 * 1024 * 1024;

/**
 * Adds a part of a log to its copy, at the same logical offset. The bytes that the copy already has are skipped; if the
 * part starts after its end, because the log was cut in between, the copy starts there again.
 */
export function appendLogCopy(file: string, { from, bytes }: { from: number; bytes: Uint8Array }): void {
  makePrivateFile(file);
  const fd = openPrivate(file, 'change');
  let isTooLong: boolean;
  try {
    const cut = readCut(file, fd);
    const size = fstatSync(fd).size;
    const end = Math.max(cut.dropped, size - cut.header + cut.dropped);
    if (from > end) {
      const header = Buffer.from(formatHeader(from));
      replacePrivate(cutSidecar(file), JSON.stringify({ dropped: from, before: cut.dropped }));
      writeFully(fd, header, 0);
      writeFully(fd, bytes, header.length);
      ftruncateSync(fd, header.length + bytes.length);
    } else writeFully(fd, bytes.subarray(Math.min(bytes.length, end - from)), size);
    isTooLong = fstatSync(fd).size > LIMIT_BYTES;
  } finally {
    closeSync(fd);
  }
  if (isTooLong) cutLog(file, KEEP_BYTES);
}

function writeFully(fd: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(fd, bytes, done, bytes.length - done, position + done);
}
