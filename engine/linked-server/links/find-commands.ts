import type { Kysely } from 'kysely';
import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import type { LinkCommand } from '../../core/link-protocol/messages.ts';
import type { CommandRow, Tables } from '../database/tables.ts';

/** Maximum number given out at once: workspaces read no answer over 64 KB, and a command may have a thousand bytes. */
const MOST_GIVEN = 60;

/** Finds commands to workspaces. */
export interface CommandFinder {
  /** Lists commands without an outcome after a given one, in order. */
  listWaiting(workspace: string, after: number): Promise<LinkCommand[]>;
  /** Returns the newest command about a decision; null for none. */
  findNewest(workspace: string, decision: string): Promise<CommandRow | null>;
}

const toLinkCommand = (row: CommandRow): LinkCommand => ({
  id: row.id,
  seq: row.seq,
  at: rfc3339(row.created_at),
  verb: row.verb,
  decision_id: row.decision_id,
  hash: row.hash,
  person: row.person,
  channel: row.channel,
  code: row.code,
});

export function createCommandFinder(db: Kysely<Tables>, clock: Clock): CommandFinder {
  /** Built once, since every poll runs it. */
  const waiting = db
    .selectFrom('commands')
    .selectAll()
    .where('workspace_id', '=', '')
    .where('seq', '>', 0)
    .where('outcome', 'is', null)
    .where('expires_at', '>', 0)
    .orderBy('seq')
    .limit(MOST_GIVEN)
    .compile();
  return {
    async listWaiting(workspace, after) {
      const parameters = [workspace, after, clock.now(), MOST_GIVEN];
      const { rows } = await db.executeQuery<CommandRow>({ ...waiting, parameters });
      return rows.map(toLinkCommand);
    },
    async findNewest(workspace, decision) {
      const row = await db
        .selectFrom('commands')
        .selectAll()
        .where('workspace_id', '=', workspace)
        .where('decision_id', '=', decision)
        .orderBy('seq', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ?? null;
    },
  };
}
