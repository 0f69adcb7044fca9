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

/** Options for replacing a file. */
export interface AtomicWrite {
  /** Mode of the new file, narrowed by the umask. */
  mode?: number;
  /** Mode of the new file, regardless of the umask. */
  isModeExact?: boolean;
  /** True if the text must survive a power cut. False only for data that is worthless after one. */
  isDurable?: boolean;
}

/**
 * Replaces a file, or a link of that name, in one step: readers see the old text or the new one, never a part. The
 * folder must exist. On failure nothing has changed.
 */
export function writeFileAtomically(
  file: string,
  text: string,
  { mode = 0o600, isModeExact = false, isDurable = true }: AtomicWrite = {},
): void {
  // Hidden, and in the same folder: a rename only works within one file system.
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

/** Makes new and renamed entries of a folder survive a power cut, if the file system supports it. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, O_RDONLY);
  try {
    fsyncSync(fd);
  } catch {
    // Some file systems cannot sync folders.
  } finally {
    closeSync(fd);
  }
}

/** Not imported: node:crypto takes 4 ms of every command, and few need it. */
export const randomName = (bytes = 8): string =>
  process.getBuiltinModule('node:crypto').randomBytes(bytes).toString('hex');
