import type { Kysely, Transaction } from 'kysely';
import { retryDeadlocks } from './errors.ts';
import { SCHEMA_KEY } from './migrations.ts';
import type { Tables } from './tables.ts';

/**
 * Waits until nobody else is between a call of this and the end of their transaction: what is counted or looked for after it
 * stays true until the own one ends, on PostgreSQL too. For what is rare and short.
 */
export async function takeTurn(change: Transaction<Tables>): Promise<void> {
  // The row is there in every database; who writes it holds it.
  await change
    .updateTable('meta')
    .set(({ ref }) => ({ value: ref('value') }))
    .where('key', '=', SCHEMA_KEY)
    .execute();
}

/** Does something in one transaction while nobody else is in such a one. */
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
