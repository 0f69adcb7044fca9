import {
  closeSync,
  constants,
  fchmodSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** How a file is replaced. */
export interface AtomicWrite {
  /** Rights of the new file, narrowed by the umask. */
  mode?: number;
  /** The rights are exactly these, whatever the umask. */
  isModeExact?: boolean;
  /** The text outlives a power cut. False only for what is worth nothing after one. */
  isDurable?: boolean;
}

/**
 * Replaces a file in one step, whatever has its name, a link as well: who reads sees the old text or the new one, never a
 * part. Its folder has to be there. When it fails nothing has changed.
 */
export function writeFileAtomically(
  file: string,
  text: string,
  { mode = 0o600, isModeExact = false, isDurable = true }: AtomicWrite = {},
): void {
  // Hidden, and in the same folder: a rename works within one file system only.
  const draft = join(dirname(file), `.${basename(file)}.${randomName()}.tmp`);
  try {
    const fd = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    try {
      if (isModeExact) fchmodSync(fd, mode);
      writeFileSync(fd, text);
      if (isDurable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  if (isDurable) syncFolder(dirname(file));
}

/** What was made or renamed in a folder outlives a power cut; file systems that cannot say so are let be. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, O_RDONLY);
  try {
    fsyncSync(fd);
  } catch {
    // Some file systems sync no folders.
  } finally {
    closeSync(fd);
  }
}

/** Through the global `crypto`, which loads when it is used: an import of node:crypto is 4 ms of every command. */
export const randomName = (bytes = 8): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString('hex');
