import { SvcError } from '../core/base/errors.ts';

/** Converts an error of SQLite or the file system, with a remedy. */
export function toStorageError(error: unknown, what: string): SvcError {
  const code = (error as { code?: unknown })?.code;
  const word = typeof code === 'string' ? code : '';
  const text = error instanceof Error ? error.message : String(error);
  const makeError = (ours: 'storage_full' | 'storage_failed', hint: string) =>
    new SvcError(ours, `${what}: ${text}`, { cause: error, hint });
  // The last one concerns the shared memory of the log, which could not be extended.
  if (/^(?:SQLITE_FULL.*|ENOSPC|EDQUOT|SQLITE_IOERR_SHMSIZE)$/.test(word)) {
    return makeError('storage_full', 'free some disk space; nothing that was acknowledged is lost');
  }
  if (word.startsWith('SQLITE_BUSY') || word.startsWith('SQLITE_LOCKED')) {
    return makeError('storage_failed', 'another program holds the database open for writing; close it');
  }
  if (word.startsWith('SQLITE_READONLY') || word === 'EACCES' || word === 'EROFS' || word === 'EPERM') {
    return makeError('storage_failed', 'the data folder must be writable by this user');
  }
  if (word.startsWith('SQLITE_CORRUPT') || word.startsWith('SQLITE_NOTADB')) {
    return makeError('storage_failed', 'the file is damaged: move it aside and keep it, then start again');
  }
  return makeError('storage_failed', 'run svc doctor');
}
