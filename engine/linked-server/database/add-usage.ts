import type { Kysely } from 'kysely';
import { createTable } from './create-table.ts';
import type { Tables } from './tables.ts';

/** Daily counts of workspaces. */
export async function addUsage(db: Kysely<Tables>): Promise<void> {
  await createTable(
    db,
    'usage_days',
    {
      workspace_id: 'text',
      account_id: 'text',
      day: 'text',
      body: 'text',
      received_at: 'integer',
    },
    { key: ['workspace_id', 'day'], refers: { workspace_id: 'workspaces', account_id: 'accounts' } },
  );
  await db.schema.createIndex('usage_days_by_day').on('usage_days').column('day').execute();
}
