import type { Kysely } from 'kysely';
import { createTable } from './create-table.ts';
import type { Tables } from './tables.ts';

/** Bots of chat services, their connected users, and their messages. */
export async function addChats(db: Kysely<Tables>): Promise<void> {
  await createTable(
    db,
    'bots',
    { kind: 'text', settings: 'text', set_by: 'text', set_at: 'integer' },
    { key: ['kind'] },
  );
  await createTable(
    db,
    'chat_memory',
    { kind: 'text', key: 'text', value: 'text', until: 'integer?' },
    { key: ['kind', 'key'] },
  );
  await createTable(
    db,
    'chat_users',
    {
      kind: 'text',
      user_id: 'text',
      name: 'text',
      private_channel: 'text?',
      person_id: 'text',
      connected_at: 'integer',
    },
    { key: ['kind', 'user_id'], refers: { person_id: 'people' } },
  );
  await db.schema
    .createIndex('chat_users_one_of_a_kind')
    .on('chat_users')
    .columns(['kind', 'person_id'])
    .unique()
    .execute();
  await createTable(
    db,
    'chat_codes',
    {
      code_hash: 'text',
      kind: 'text',
      purpose: 'text',
      person_id: 'text',
      expires_at: 'integer',
      user_id: 'text?',
      user_name: 'text?',
      channel: 'text?',
      channel_name: 'text?',
      is_private: 'integer?',
    },
    { key: ['code_hash'], refers: { person_id: 'people' } },
  );
  await db.schema
    .createIndex('chat_codes_one_of_a_kind')
    .on('chat_codes')
    .columns(['kind', 'purpose', 'person_id'])
    .unique()
    .execute();
  await createTable(
    db,
    'chat_channels',
    {
      id: 'text',
      account_id: 'text',
      kind: 'text',
      channel: 'text',
      name: 'text',
      is_private: 'integer',
      events: 'text',
      muted_until: 'integer',
      next_at: 'integer',
      tries: 'integer',
      problem: 'text?',
      created_at: 'integer',
    },
    { key: ['id'], refers: { account_id: 'accounts' } },
  );
  await db.schema
    .createIndex('chat_channels_once')
    .on('chat_channels')
    .columns(['account_id', 'kind', 'channel'])
    .unique()
    .execute();
  await createTable(
    db,
    'chat_messages',
    {
      id: 'integer',
      channel_id: 'text',
      account_id: 'text',
      workspace_id: 'text?',
      decision_id: 'text?',
      event: 'text',
      event_id: 'text',
      facts: 'text',
      state: 'text',
      posted_id: 'text?',
      is_open: 'integer',
      ended: 'text?',
      hash: 'text?',
      version: 'integer',
      looks: 'text?',
      due_at: 'integer?',
      created_at: 'integer',
      sent_at: 'integer?',
    },
    {
      key: ['id'],
      refers: { channel_id: 'chat_channels', account_id: 'accounts', workspace_id: 'workspaces' },
    },
  );
  await db.schema
    .createIndex('chat_messages_once')
    .on('chat_messages')
    .columns(['channel_id', 'event_id'])
    .unique()
    .execute();
  await db.schema
    .createIndex('chat_messages_due')
    .on('chat_messages')
    .columns(['channel_id', 'due_at', 'id'])
    .execute();
  await db.schema
    .createIndex('chat_messages_of_decision')
    .on('chat_messages')
    .columns(['workspace_id', 'decision_id'])
    .execute();
  await db.schema
    .createIndex('chat_messages_by_time')
    .on('chat_messages')
    .columns(['channel_id', 'created_at'])
    .execute();
  await createTable(
    db,
    'chat_tickets',
    { ticket_hash: 'text', message_id: 'integer', verb: 'text', hash: 'text' },
    { key: ['ticket_hash'], refers: { message_id: 'chat_messages' } },
  );
}
