import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** Redundant indexes whose columns start a primary key or another index of their table. */
const REPEATED = [
  'workspace_events_by_workspace_id',
  'pending_decisions_by_workspace_id',
  'commands_by_workspace_id',
  'addons_by_account_id',
  'usage_days_by_workspace_id',
];

export async function dropRepeatedIndexes(db: Kysely<Tables>): Promise<void> {
  for (const index of REPEATED) await db.schema.dropIndex(index).execute();
}
