import type { Kysely } from 'kysely';
import { createTable } from './create-table.ts';
import type { Tables } from './tables.ts';

/** Room for the signatures that decided, and targets that name workspaces by their ids, which no rename changes. */
export async function addSignedDecisions(db: Kysely<Tables>): Promise<void> {
  await createTable(
    db,
    'used_signatures',
    { signature: 'text', signed_at: 'integer' },
    { key: ['signature'] },
  );
  await db.schema.createIndex('used_signatures_by_time').on('used_signatures').column('signed_at').execute();
  const workspaces = await db.selectFrom('workspaces').select(['id', 'account_id', 'name']).execute();
  for (const target of await db.selectFrom('targets').select(['id', 'account_id', 'workspaces']).execute()) {
    const names = JSON.parse(target.workspaces) as string[];
    // A name that no workspace has is dropped: what was meant for some never becomes what is meant for all.
    const ids = workspaces
      .filter(({ account_id, name }) => account_id === target.account_id && names.includes(name))
      .map(({ id }) => id);
    await db
      .updateTable('targets')
      .set({ workspaces: JSON.stringify(names.length === 0 ? null : ids) })
      .where('id', '=', target.id)
      .execute();
  }
}
