import type { Insertable } from 'kysely';
import type { Tables } from '../../../engine/linked-server/database/tables.ts';

/** A disabled webhook as stored in the database. */
export const makeTargetRow = ({
  id,
  account,
  createdAt,
}: {
  id: string;
  account: string;
  /** Unix ms. */
  createdAt: number;
}): Insertable<Tables['targets']> => ({
  id,
  account_id: account,
  kind: 'webhook',
  slot: id,
  name: 'a webhook',
  url: 'none',
  shown_url: 'https://hooks.example.org',
  events: '[]',
  workspaces: '[]',
  is_on: 0,
  secret: 'none',
  old_secret: null,
  old_until: null,
  paused_at: null,
  paused_why: null,
  failing_since: null,
  created_at: createdAt,
});
