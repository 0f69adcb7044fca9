import { NoResultError } from 'kysely';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { toStorageError } from '../../storage/index.ts';

/** What PostgreSQL, or the way to it, says when nothing can be kept now: away, starting, shutting down, out of connections. */
const AWAY = /^(?:ECONNREFUSED|ECONNRESET|ENOENT|EPIPE|ETIMEDOUT|08...|57P0.|53[023]00|55006|40P01)$/;
const FULL = '53100';
/** A row refers to one that is not there. */
const ORPHANED = /^(?:SQLITE_CONSTRAINT_FOREIGNKEY|23503)$/;
/** Two transactions waited for each other, and PostgreSQL has ended one of them. */
const DEADLOCK = '40P01';
const MOST_TRIES = 5;

/**
 * An error of a route as clients are told it: where the database failed, that the same may be sent again; where somebody has
 * removed in the meantime what it was about, so.
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
  // pg has no code for a connection that ends under a query.
  if (
    AWAY.test(word) ||
    /^(?:Connection terminated|timeout exceeded when trying to connect)/.test(thrown.message)
  )
    return new SvcError('storage_failed', `nothing was saved: ${thrown.message}`, { cause: thrown });
  return asSvcError(thrown);
}

/** What takes many rows along may meet others who write them: a deletion that PostgreSQL has ended for that begins anew. */
export async function retryDeadlocks<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (thrown) {
      if ((thrown as { code?: unknown }).code !== DEADLOCK || tries === MOST_TRIES) throw thrown;
    }
  }
}
