import type { Kysely } from 'kysely';
import { createTable } from './create-table.ts';
import type { Tables } from './tables.ts';

/** Adds the signatures of decisions, and targets that refer to workspaces by id, which renaming does not change. */
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
    // An unknown name is dropped: a target for some must never become one for all.
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
