import { createHash } from 'node:crypto';
import { fstatSync, lstatSync, readdirSync, readSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeFileAtomically } from '../../core/base/atomic-file.ts';
import { SvcError } from '../../core/base/errors.ts';
import { isInsideFolder } from '../../core/base/paths.ts';
import { makePrivateFolder, withPrivate } from '../../core/base/private-files.ts';

/** The folder of stored texts; absolute. */
export interface TextFolder {
  folder: string;
  /** The data folder, which exists. */
  data: string;
}

/** The bytes of a stored text, or why there are none: its file is missing or has different content. */
export type FoundBytes = Buffer | 'gone' | 'changed';

export const hashBytes = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const IS_TEXT_FILE = /^[0-9a-f]{64}$/;
/** Files that `writeFileAtomically` leaves if it is killed. */
const IS_DRAFT = /^\.[0-9a-f]{64}\.[0-9a-f]+\.tmp$/;

/** Creates access to the files of stored texts, named by the SHA-256 of their bytes, mode 0600. */
export function createTextFiles(place: () => TextFolder) {
  /** Returns the folder, creating it if needed. Throws `storage_unsafe` for a link in the way. */
  function openFolder(): string {
    const { folder, data } = place();
    let top = data;
    if (!isInsideFolder(data, folder)) {
      top = dirname(folder);
      while (lstatSync(top, { throwIfNoEntry: false }) === undefined) top = dirname(top);
    }
    makePrivateFolder(top, folder);
    return folder;
  }

  /** Throws `storage_unsafe` if it is replaced by a link, a pipe, a folder or a file with two names. */
  function readTextFile(hash: string, bytes: number): FoundBytes {
    try {
      return withPrivate(join(openFolder(), hash), 'read', (fd): FoundBytes => {
        if (fstatSync(fd).size !== bytes) return 'changed';
        const found = Buffer.alloc(bytes);
        let filled = 0;
        while (filled < bytes) {
          const count = readSync(fd, found, filled, bytes - filled, filled);
          if (count === 0) return 'changed';
          filled += count;
        }
        return hashBytes(found) === hash ? found : 'changed';
      });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'gone';
      throw toFileError(error, 'the stored text cannot be read');
    }
  }

  return {
    read: readTextFile,

    /** Writes a file, which is on disk when this returns. Anything else in its place is replaced. */
    write(hash: string, bytes: Buffer, text: string): void {
      try {
        const file = join(openFolder(), hash);
        const isThere = lstatSync(file, { throwIfNoEntry: false })?.size === bytes.length;
        if (isThere && hasExpectedContent(() => readTextFile(hash, bytes.length))) return;
        writeFileAtomically(file, text);
      } catch (error) {
        throw toFileError(error, 'the text was not stored');
      }
    },

    remove(hash: string): void {
      rmSync(join(openFolder(), hash), { force: true });
    },

    /** Removes files left by an engine that was killed while it stored a text. */
    removeStray(isKept: (hash: string) => boolean): void {
      const folder = openFolder();
      for (const name of readdirSync(folder))
        if (IS_DRAFT.test(name) || (IS_TEXT_FILE.test(name) && !isKept(name)))
          rmSync(join(folder, name), { force: true });
    },
  };
}

/** Reports whether a file has its expected content; otherwise it is written again. */
function hasExpectedContent(read: () => FoundBytes): boolean {
  try {
    return Buffer.isBuffer(read());
  } catch {
    return false;
  }
}

function toFileError(error: unknown, what: string): SvcError {
  if (error instanceof SvcError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const isFull = code === 'ENOSPC' || code === 'EDQUOT';
  return new SvcError(isFull ? 'storage_full' : 'storage_failed', `${what}: ${message}`, {
    cause: error,
    hint: isFull
      ? 'free some disk space; nothing that was stored before is lost'
      : 'context.dir must be a folder that this user can write to',
  });
}
