import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/**
 * The sort order of each list on pages, after its owner. Events of a workspace have no index: they are written at
 * every request, each into a different page of such an index, and ten thousand of them can be sorted in time.
 */
const ORDERS = {
  people: ['account_id', 'name', 'id'],
  machines: ['account_id', 'created_at', 'id'],
  changes: ['account_id', 'at', 'id'],
  workspaces: ['account_id', 'name', 'id'],
  pending_decisions: ['account_id', 'since', 'workspace_id', 'decision_id'],
  deliveries: ['target_id', 'id'],
} as const satisfies Partial<Record<keyof Tables, readonly string[]>>;

/** Indexes whose columns start another one of their table. */
const REPEATED = [
  'people_by_account_id',
  'machines_by_account_id',
  'changes_by_account_id',
  'workspaces_by_account_id',
  'deliveries_by_account_id',
  'deliveries_by_target_id',
  'targets_by_account_id',
];

/** Lists are read a page at a time at any length; so a pending decision has columns for its owner and its start. */
export async function indexLists(db: Kysely<Tables>): Promise<void> {
  const decisions = db.schema.alterTable('pending_decisions');
  await decisions.addColumn('account_id', 'text', (made) => made.notNull().defaultTo('')).execute();
  await decisions.addColumn('since', 'bigint', (made) => made.notNull().defaultTo(0)).execute();
  await db
    .updateTable('pending_decisions')
    .set(({ selectFrom }) => ({
      account_id: selectFrom('workspaces')
        .select('workspaces.account_id')
        .whereRef('workspaces.id', '=', 'pending_decisions.workspace_id')
        .$asScalar()
        .$notNull(),
    }))
    .execute();
  const waiting = await db
    .selectFrom('pending_decisions')
    .select(['workspace_id', 'decision_id', 'body'])
    .execute();
  for (const { workspace_id, decision_id, body } of waiting)
    await db
      .updateTable('pending_decisions')
      .set({ since: Date.parse((JSON.parse(body) as { since: string }).since) })
      .where('workspace_id', '=', workspace_id)
      .where('decision_id', '=', decision_id)
      .execute();
  for (const [table, columns] of Object.entries(ORDERS))
    await db.schema
      .createIndex(`${table}_in_order`)
      .on(table as keyof Tables)
      .columns([...columns] as never[])
      .execute();
  for (const index of REPEATED) await db.schema.dropIndex(index).execute();
}
