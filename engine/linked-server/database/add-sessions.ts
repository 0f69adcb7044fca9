import type { Kysely } from 'kysely';
import { createTable } from './create-table.ts';
import type { Tables } from './tables.ts';

/** Adds the sessions of each workspace that have not ended. */
export const addSessions = (db: Kysely<Tables>): Promise<void> =>
  createTable(db, {
    name: 'workspace_sessions',
    columns: { workspace_id: 'text', account_id: 'text', body: 'text' },
    key: ['workspace_id'],
    refers: { workspace_id: 'workspaces', account_id: 'accounts' },
  });
