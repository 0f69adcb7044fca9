import type { Kysely, Transaction } from 'kysely';
import { retryDeadlocks } from './errors.ts';
import { SCHEMA_KEY } from './migrations.ts';
import type { Tables } from './tables.ts';

/**
 * Waits until no other caller is between this call and the end of its transaction: counts and lookups after it stay
 * true until the transaction ends, on PostgreSQL too. For rare and short transactions.
 */
export async function takeTurn(change: Transaction<Tables>): Promise<void> {
  // The row exists in every database; writing it locks it.
  await change
    .updateTable('meta')
    .set(({ ref }) => ({ value: ref('value') }))
    .where('key', '=', SCHEMA_KEY)
    .execute();
}

/** Runs a transaction exclusively among such transactions. */
export const changeInTurn = <T>(
  db: Kysely<Tables>,
  work: (change: Transaction<Tables>) => Promise<T>,
): Promise<T> =>
  retryDeadlocks(() =>
    db.transaction().execute(async (change) => {
      await takeTurn(change);
      return work(change);
    }),
  );
