import { closeSync, constants, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

/**
 * Reads a file that a worker may have replaced by something else; null then, and for a missing file.
 * @param mostBytes reads no more than these
 */
export const readRegularFile = (file: string, mostBytes?: number): string | null =>
  readRegularBytes(file, mostBytes)?.toString('utf8') ?? null;

/** The same as bytes. */
export function readRegularBytes(file: string, mostBytes?: number): Buffer | null {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    if (!fstatSync(fd).isFile()) return null;
    if (mostBytes === undefined) return readFileSync(fd);
    const bytes = Buffer.alloc(mostBytes);
    return bytes.subarray(0, readSync(fd, bytes, 0, mostBytes, 0));
  } finally {
    closeSync(fd);
  }
}
