import { NoResultError } from 'kysely';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { toStorageError } from '../../storage/index.ts';

/**
 * Errors of PostgreSQL, or of its connection, that mean that nothing can be stored now: unavailable, starting,
 * shutting down, out of connections.
 */
const AWAY = /^(?:ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|08...|57P0.|53[023]00|55006|40P01)$/;
const FULL = '53100';
/** A row refers to a missing row. */
const ORPHANED = /^(?:SQLITE_CONSTRAINT_FOREIGNKEY|23503)$/;
/** Two transactions waited for each other, and PostgreSQL ended one of them. */
const DEADLOCK = '40P01';
const MOST_TRIES = 5;

/**
 * Converts a route's error for clients: a database failure allows sending the same again; a concurrent removal is
 * reported as such.
 */
export function toServerError(thrown: unknown): SvcError {
  if (thrown instanceof SvcError || !(thrown instanceof Error)) return asSvcError(thrown);
  const { code } = thrown as { code?: unknown };
  const word = typeof code === 'string' ? code : '';
  if (thrown instanceof NoResultError || ORPHANED.test(word))
    return new SvcError('not_found', 'this was removed in the meantime', { cause: thrown });
  if (word.startsWith('SQLITE_') && !word.startsWith('SQLITE_CONSTRAINT'))
    return toStorageError(thrown, 'nothing was saved');
  if (word === FULL)
    return new SvcError('storage_full', `nothing was saved: ${thrown.message}`, { cause: thrown });
  // pg has no code for a connection that ends during a query.
  if (
    AWAY.test(word) ||
    /^(?:Connection terminated|timeout exceeded when trying to connect)/.test(thrown.message)
  )
    return new SvcError('storage_failed', `nothing was saved: ${thrown.message}`, { cause: thrown });
  return asSvcError(thrown);
}

/** A deletion of many rows may conflict with concurrent writers: if PostgreSQL ends it for that, it is repeated. */
export async function retryDeadlocks<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (thrown) {
      if ((thrown as { code?: unknown }).code !== DEADLOCK || tries === MOST_TRIES) throw thrown;
    }
  }
}
