import { type Dirent, fstatSync, readSync } from 'node:fs';
import { opendir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { SvcError } from '../../../core/base/errors.ts';
import { withPrivate } from '../../../core/base/private-files.ts';
import { formatCount } from '../../../core/base/text.ts';
import { isFileAt } from '../../../core/platform/held-folder.ts';
import { ConceptFault } from './concept.ts';

// A folder of concept files with untrusted content.

/** An entry that is not read, with the reason as a clause. */
export interface SkippedFile {
  path: string;
  reason: string;
}

/** Files between two yields to the event loop. */
export const IN_A_ROW = 50;
export const letOthersRun = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const MOST_ENTRIES = 120_000;
const MOST_DEPTH = 32;
const MOST_FILE_BYTES = 1024 * 1024;

/**
 * Lists the files of a folder by their paths with `/`, in order, and its other entries. Follows no link. Throws
 * `fields_invalid` for too many, and `storage_unsafe` if the folder itself has become a link.
 * @param top with links resolved
 */
export async function listFiles(top: string): Promise<{ files: string[]; skipped: SkippedFile[] }> {
  const files: string[] = [];
  const skipped: SkippedFile[] = [];
  const waiting = [''];
  if ((await realpath(top)) !== top) throw new SvcError('storage_unsafe', `${top} has become a link`);
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    // It may have become a link since it was listed.
    if ((await realpath(join(top, at))) !== join(top, at)) {
      skipped.push({ path: at, reason: 'it is a link' });
      continue;
    }
    for await (const entry of await opendir(join(top, at))) {
      const path = at === '' ? entry.name : `${at}/${entry.name}`;
      const reason = findReason(entry, path);
      if (reason !== null) skipped.push({ path, reason });
      else if (entry.isDirectory()) waiting.push(path);
      else files.push(path);
      if (files.length + skipped.length + waiting.length > MOST_ENTRIES)
        throw new SvcError(
          'fields_invalid',
          `${top} has more than ${formatCount(MOST_ENTRIES, 'file or folder', 'files and folders')}`,
        );
    }
  }
  const byPath = (one: string, other: string): number => (one < other ? -1 : 1);
  return {
    files: files.sort(byPath),
    skipped: skipped.sort((one, other) => byPath(one.path, other.path)),
  };
}

function findReason(entry: Dirent, path: string): string | null {
  if (entry.isSymbolicLink()) return 'it is a link';
  if (entry.name.startsWith('.')) return 'it is hidden';
  if (entry.isDirectory()) return path.split('/').length > MOST_DEPTH ? 'it is nested too deeply' : null;
  if (!entry.isFile()) return 'it is not a file';
  return entry.name.toLowerCase().endsWith('.md') ? null : 'it is not markdown';
}

/** Reads a file of a folder whose links are resolved. Throws `ConceptFault`. */
export function readBundleFile(folder: string, path: string): string {
  try {
    return withPrivate(
      join(folder, path),
      'read',
      (fd) => {
        if (!isFileAt(fd, join(folder, path))) throw new ConceptFault('it is reached through a link');
        const { size } = fstatSync(fd);
        if (size > MOST_FILE_BYTES)
          throw new ConceptFault(`it has ${size} bytes, but at most ${MOST_FILE_BYTES} are read`);
        const bytes = Buffer.alloc(size);
        const read = readSync(fd, bytes, 0, size, 0);
        return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, read));
      },
      true,
    );
  } catch (error) {
    if (error instanceof ConceptFault) throw error;
    const { code } = error as NodeJS.ErrnoException;
    throw new ConceptFault(
      code === 'ERR_ENCODING_INVALID_ENCODED_DATA'
        ? 'it is not UTF-8'
        : code === 'storage_unsafe'
          ? 'it is not a plain file'
          : `it cannot be read (${code ?? 'unknown error'})`,
    );
  }
}
