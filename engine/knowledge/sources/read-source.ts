import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { MOST_SOURCE_BYTES } from './list-sources.ts';
import { judgeText, type SkipReason } from './skipped.ts';

/** The content of a source, with the state of the file that it was read from. */
export interface SourceText {
  text: string;
  /** SHA-256 of the bytes, the first 16 bytes as hex. */
  hash: string;
  size: number;
  mtimeMs: number;
}

/**
 * Reads a source of a project; a string gives the reason for skipping it. Follows no link, never blocks on a pipe and
 * reads no more than the maximum size. Invalid UTF-8 becomes replacement characters.
 * @param root the project's folder, with links resolved
 * @param path relative to it
 * @param folders folders that were just verified to be reachable without a link; more are added
 */
export function readSource(
  root: string,
  path: string,
  folders?: Set<string>,
): SourceText | SkipReason | 'gone' {
  const read = readRegularFile(root, path, MOST_SOURCE_BYTES, folders);
  if (typeof read === 'string') return read;
  const { bytes, mtimeMs } = read;
  const wide = findWideDecoder(bytes);
  if (wide === null && bytes.includes(0)) return 'binary';
  const text = (wide ?? DECODER).decode(bytes);
  return judgeText(text) ?? { text, hash: hash('sha256', bytes).slice(0, 32), size: bytes.length, mtimeMs };
}

const DECODER = new TextDecoder('utf-8');

/** Returns the decoder of a UTF-16 text by the mark at its start; null for any other. */
function findWideDecoder(bytes: Uint8Array): InstanceType<typeof TextDecoder> | null {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le');
  return first === 0xfe && second === 0xff ? new TextDecoder('utf-16be') : null;
}

/** Reads a small text of a project in the same way; null if it does not exist. */
export function readSourceText(root: string, path: string, mostBytes: number): string | null {
  const read = readRegularFile(root, path, mostBytes);
  return typeof read === 'string' ? null : DECODER.decode(read.bytes);
}

function readRegularFile(
  root: string,
  path: string,
  mostBytes: number,
  folders = new Set<string>(),
): { bytes: Buffer; mtimeMs: number } | SkipReason | 'gone' {
  const whole = join(root, path);
  let file: number;
  try {
    const folder = dirname(whole);
    if (!folders.has(folder)) {
      if (realpathSync.native(folder) !== folder) return 'link';
      folders.add(folder);
    }
    file = openSync(whole, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'gone';
    return code === 'ELOOP' ? 'link' : 'unreadable';
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) return 'special';
    if (stat.size > mostBytes) return 'too_large';
    return { bytes: readBytes(file, stat.size), mtimeMs: stat.mtimeMs };
  } catch {
    return 'unreadable';
  } finally {
    closeSync(file);
  }
}

/** Reads the current content of a file, which may be shorter than before: at most the given number of bytes. */
function readBytes(file: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const read = readSync(file, bytes, length, size - length, null);
    if (read === 0) break;
    length += read;
  }
  return bytes.subarray(0, length);
}
