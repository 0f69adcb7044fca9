import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { ChangeLog } from '../change-log.ts';
import { retryDeadlocks } from '../database/errors.ts';
import type { Tables } from '../database/tables.ts';
import type { DecisionFollower } from '../decision-follower.ts';
import { readWorkspaces } from '../deliveries/chosen-workspaces.ts';

/** Unlinks workspaces and removes them. */
export interface WorkspaceEnds {
  /** False if the account has no such workspace, or it is revoked. */
  revoke(account: string, id: string, actor: string): Promise<boolean>;
  /** Deletes everything about it, including its token. False if the account has no such workspace. */
  remove(account: string, id: string, actor: string): Promise<boolean>;
}

export function createWorkspaceEnds({
  db,
  clock,
  changes,
  follower,
  eraseDeleted,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  follower: DecisionFollower;
  eraseDeleted(): Promise<void>;
}): WorkspaceEnds {
  return {
    async revoke(account, id, actor) {
      const wasLinked = await db.transaction().execute(async (change) => {
        const revoked = await change
          .updateTable('workspaces')
          .set({ revoked_at: clock.now() })
          .where('id', '=', id)
          .where('account_id', '=', account)
          .where('revoked_at', 'is', null)
          .returning('name')
          .executeTakeFirst();
        if (revoked === undefined) return false;
        // Its pending decisions can no longer be decided from here.
        await change.deleteFrom('pending_decisions').where('workspace_id', '=', id).execute();
        await follower.followDecisions(change, id, true);
        await changes.record(change, { account, actor, what: 'workspace unlinked', detail: revoked.name });
        return true;
      });
      if (wasLinked) follower.wake();
      return wasLinked;
    },
    async remove(account, id, actor) {
      const removeRow = async (change: Transaction<Tables>): Promise<boolean> => {
        // Its events, decisions and commands are deleted with the row.
        const removed = await change
          .deleteFrom('workspaces')
          .where('id', '=', id)
          .where('account_id', '=', account)
          .returning('name')
          .executeTakeFirst();
        if (removed === undefined) return false;
        await change.deleteFrom('deliveries').where('workspace_id', '=', id).execute();
        await forgetInTargets(change, account, id);
        await changes.record(change, { account, actor, what: 'workspace removed', detail: removed.name });
        return true;
      };
      const wasThere = await retryDeadlocks(() => db.transaction().execute(removeRow));
      if (wasThere) await eraseDeleted();
      return wasThere;
    },
  };
}

/** A target for this workspace only becomes one for none, never for all. */
async function forgetInTargets(change: Transaction<Tables>, account: string, id: string): Promise<void> {
  const targets = await change
    .selectFrom('targets')
    .select(['id', 'workspaces'])
    .where('account_id', '=', account)
    .execute();
  for (const target of targets) {
    const chosen = readWorkspaces(target);
    if (chosen?.includes(id))
      await change
        .updateTable('targets')
        .set({ workspaces: JSON.stringify(chosen.filter((each) => each !== id)) })
        .where('id', '=', target.id)
        .execute();
  }
}
