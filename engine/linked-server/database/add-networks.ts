import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** Pending codes are counted by the requesting network: a /64 of IPv6 counts as one requester. */
export async function addNetworks(db: Kysely<Tables>): Promise<void> {
  await db.schema
    .alterTable('device_requests')
    .addColumn('network', 'text', (made) => made.notNull().defaultTo(''))
    .execute();
  // They wait for a quarter of an hour, so it is enough to count each for its address.
  await db
    .updateTable('device_requests')
    .set(({ ref }) => ({ network: ref('address') }))
    .execute();
  await db.schema
    .createIndex('device_requests_by_network')
    .on('device_requests')
    .columns(['network', 'state'])
    .execute();
}
