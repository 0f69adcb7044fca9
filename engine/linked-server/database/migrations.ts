import { type Kysely, sql } from 'kysely';
import { SvcError } from '../../core/base/errors.ts';
import { addChats } from './add-chats.ts';
import { addNetworks } from './add-networks.ts';
import { addSignedDecisions } from './add-signed-decisions.ts';
import { addUsage } from './add-usage.ts';
import { createTable } from './create-table.ts';
import { dropRepeatedIndexes } from './drop-repeated-indexes.ts';
import { indexLists } from './index-lists.ts';
import type { Tables } from './tables.ts';

/** One step of the schema. A released step is never changed; the next one follows it. */
type Migration = (schema: Kysely<Tables>) => Promise<void>;

const MIGRATIONS: readonly Migration[] = [
  async (db) => {
    await createTable(
      db,
      'accounts',
      { id: 'text', name: 'text', plan: 'text', created_at: 'integer' },
      { key: ['id'], unique: ['name'] },
    );
    await createTable(
      db,
      'people',
      {
        id: 'text',
        account_id: 'text',
        name: 'text',
        name_key: 'text',
        role: 'text',
        is_operator: 'integer',
        password: 'text?',
        created_at: 'integer',
      },
      { key: ['id'], unique: ['name_key'], refers: { account_id: 'accounts' } },
    );
    await createTable(
      db,
      'invitations',
      { token_hash: 'text', person_id: 'text', kind: 'text', expires_at: 'integer' },
      { key: ['token_hash'], refers: { person_id: 'people' } },
    );
    await createTable(
      db,
      'browser_sessions',
      {
        token_hash: 'text',
        id: 'text',
        person_id: 'text',
        created_at: 'integer',
        seen_at: 'integer',
        address: 'text',
        browser: 'text',
      },
      { key: ['token_hash'], unique: ['id'], refers: { person_id: 'people' } },
    );
    await createTable(
      db,
      'failures',
      { key: 'text', failures: 'integer', refused_until: 'integer', last_at: 'integer' },
      { key: ['key'] },
    );
    await createTable(
      db,
      'machines',
      {
        id: 'text',
        account_id: 'text',
        person_id: 'text',
        name: 'text',
        token_hash: 'text',
        svc_version: 'text',
        system: 'text',
        created_at: 'integer',
        seen_at: 'integer?',
      },
      {
        key: ['id'],
        unique: ['token_hash'],
        refers: { account_id: 'accounts', person_id: 'people' },
      },
    );
    await createTable(
      db,
      'device_requests',
      {
        device_hash: 'text',
        user_hash: 'text',
        state: 'text',
        machine_name: 'text',
        svc_version: 'text',
        system: 'text',
        address: 'text',
        created_at: 'integer',
        expires_at: 'integer',
        interval_ms: 'integer',
        polled_at: 'integer?',
        person_id: 'text?',
      },
      { key: ['device_hash'], unique: ['user_hash'], refers: { person_id: 'people' } },
    );
    await createTable(
      db,
      'changes',
      { id: 'text', account_id: 'text?', at: 'integer', actor: 'text', what: 'text', detail: 'text' },
      { key: ['id'], refers: { account_id: 'accounts' } },
    );
    await db.schema.createIndex('changes_by_time').on('changes').column('at').execute();
  },
  async (db) => {
    await createTable(
      db,
      'workspaces',
      {
        id: 'text',
        account_id: 'text',
        machine_id: 'text',
        key: 'text',
        name: 'text',
        svc_version: 'text',
        token_hash: 'text',
        next_token_hash: 'text?',
        created_at: 'integer',
        last_seen_at: 'integer?',
        revoked_at: 'integer?',
        command_seq: 'integer',
        channels: 'text',
        more_decisions: 'integer',
      },
      { key: ['id'], unique: ['token_hash', 'next_token_hash'], refers: { account_id: 'accounts' } },
    );
    await db.schema
      .createIndex('workspaces_by_key')
      .on('workspaces')
      .columns(['account_id', 'key'])
      .unique()
      .execute();
    await createTable(
      db,
      'workspace_events',
      { workspace_id: 'text', id: 'text', at: 'integer', body: 'text' },
      { key: ['workspace_id', 'id'], refers: { workspace_id: 'workspaces' } },
    );
    await db.schema.createIndex('workspace_events_by_time').on('workspace_events').column('at').execute();
    await createTable(
      db,
      'pending_decisions',
      {
        workspace_id: 'text',
        decision_id: 'text',
        position: 'integer',
        hash: 'text',
        approval: 'text',
        body: 'text',
      },
      { key: ['workspace_id', 'decision_id'], refers: { workspace_id: 'workspaces' } },
    );
    await createTable(
      db,
      'commands',
      {
        id: 'text',
        workspace_id: 'text',
        seq: 'integer',
        verb: 'text',
        decision_id: 'text?',
        hash: 'text?',
        person: 'text?',
        channel: 'text?',
        code: 'text?',
        about: 'text',
        created_at: 'integer',
        expires_at: 'integer',
        outcome: 'text?',
        ended_at: 'integer?',
      },
      { key: ['id'], refers: { workspace_id: 'workspaces' } },
    );
    await db.schema
      .createIndex('commands_in_order')
      .on('commands')
      .columns(['workspace_id', 'seq'])
      .unique()
      .execute();
  },
  async (db) => {
    await createTable(
      db,
      'plan_values',
      { plan: 'text', key: 'text', value: 'text' },
      { key: ['plan', 'key'] },
    );
    await createTable(
      db,
      'addons',
      { account_id: 'text', addon: 'text' },
      { key: ['account_id', 'addon'], refers: { account_id: 'accounts' } },
    );
    await createTable(
      db,
      'targets',
      {
        id: 'text',
        account_id: 'text',
        kind: 'text',
        slot: 'text',
        name: 'text',
        url: 'text',
        shown_url: 'text',
        events: 'text',
        workspaces: 'text',
        is_on: 'integer',
        secret: 'text',
        old_secret: 'text?',
        old_until: 'integer?',
        paused_at: 'integer?',
        paused_why: 'text?',
        failing_since: 'integer?',
        created_at: 'integer',
      },
      { key: ['id'], refers: { account_id: 'accounts' } },
    );
    await db.schema
      .createIndex('targets_one_of_a_kind')
      .on('targets')
      .columns(['account_id', 'slot'])
      .unique()
      .execute();
    await createTable(
      db,
      'deliveries',
      {
        id: 'integer',
        target_id: 'text',
        account_id: 'text',
        workspace_id: 'text',
        workspace: 'text',
        event: 'text',
        message_id: 'text',
        body: 'text',
        state: 'text',
        tries: 'integer',
        created_at: 'integer',
        first_at: 'integer',
        next_at: 'integer',
        tried_at: 'integer?',
        last_status: 'integer?',
        last_ms: 'integer?',
        last_error: 'text?',
      },
      { key: ['id'], refers: { target_id: 'targets', account_id: 'accounts' } },
    );
    await db.schema
      .createIndex('deliveries_once')
      .on('deliveries')
      .columns(['target_id', 'message_id'])
      .unique()
      .execute();
    await db.schema
      .createIndex('deliveries_due')
      .on('deliveries')
      .columns(['target_id', 'state', 'next_at', 'id'])
      .execute();
    await db.schema
      .createIndex('deliveries_of_account')
      .on('deliveries')
      .columns(['account_id', 'id'])
      .execute();
    await db.schema.createIndex('deliveries_by_time').on('deliveries').column('created_at').execute();
  },
  addChats,
  addSignedDecisions,
  addUsage,
  dropRepeatedIndexes,
  indexLists,
  addNetworks,
];

/** The location of the schema's number. */
export const SCHEMA_KEY = 'schema';

/** The number of the newest step. */
export const NEWEST_SCHEMA = MIGRATIONS.length;

/** Returns the schema of an open database; 0 for a new one. */
export async function readSchemaNumber(db: Kysely<Tables>): Promise<number> {
  await sql`CREATE TABLE IF NOT EXISTS meta (key text PRIMARY KEY, value text NOT NULL)`.execute(db);
  const row = await db.selectFrom('meta').select('value').where('key', '=', SCHEMA_KEY).executeTakeFirst();
  return Number(row?.value ?? 0);
}

/**
 * Updates the schema, one transaction for each step. Throws `storage_newer` without changing anything.
 * @param last the last step to run
 */
export async function migrateServerDatabase(db: Kysely<Tables>, last = NEWEST_SCHEMA): Promise<void> {
  const found = await readSchemaNumber(db);
  if (found > NEWEST_SCHEMA)
    throw new SvcError(
      'storage_newer',
      `the server's database has schema ${found}, but this version knows ${NEWEST_SCHEMA}`,
      { hint: 'start it with the version that wrote it, or a newer one' },
    );
  for (const [index, migration] of MIGRATIONS.slice(0, last).entries()) {
    if (index < found) continue;
    await db.transaction().execute(async (step) => {
      await migration(step);
      await step
        .insertInto('meta')
        .values({ key: SCHEMA_KEY, value: String(index + 1) })
        .onConflict((same) => same.column('key').doUpdateSet({ value: String(index + 1) }))
        .execute();
    });
  }
}
