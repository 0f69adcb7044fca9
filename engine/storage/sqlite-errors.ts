import { SvcError } from '../base/errors.ts';

/** An error of SQLite or the file system as one of ours, saying what to do about it. */
export function storageError(error: unknown, what: string): SvcError {
  const code = (error as { code?: unknown })?.code;
  const word = typeof code === 'string' ? code : '';
  const text = error instanceof Error ? error.message : String(error);
  const make = (ours: 'storage_full' | 'storage_failed', hint: string) =>
    new SvcError(ours, `${what}: ${text}`, { cause: error, hint });
  if (word.startsWith('SQLITE_FULL') || word === 'ENOSPC' || word === 'EDQUOT') {
    return make('storage_full', 'free some disk space; nothing that was acknowledged is lost');
  }
  if (word.startsWith('SQLITE_BUSY') || word.startsWith('SQLITE_LOCKED')) {
    return make('storage_failed', 'another program holds the database open for writing; close it');
  }
  if (word.startsWith('SQLITE_READONLY') || word === 'EACCES' || word === 'EROFS' || word === 'EPERM') {
    return make('storage_failed', 'the data folder must be writable by this user');
  }
  if (word.startsWith('SQLITE_CORRUPT') || word.startsWith('SQLITE_NOTADB')) {
    return make('storage_failed', 'the file is damaged: move it aside and keep it, then start again');
  }
  return make('storage_failed', 'run svc doctor');
}
