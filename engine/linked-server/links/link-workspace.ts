import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { toPrintable } from '../../core/base/text.ts';
import type { ChangeLog } from '../change-log.ts';
import type { LinkedWorkspace, MachineRow, PersonRow, Tables } from '../database/tables.ts';
import { takeTurn } from '../database/take-turn.ts';
import type { AccountPlans } from '../plans/plans.ts';
import { makeServerId, makeToken } from '../secrets.ts';
import { cleanToldWords } from '../told-words.ts';

/** Links workspaces to accounts. */
export interface WorkspaceLinker {
  /**
   * Links a workspace, or relinks it under its former id: older tokens become invalid. Throws `quota_exceeded` if the
   * plan has no room for another one.
   */
  link(
    given: { key: string; name: string; version: string },
    by: { machine: MachineRow; person: PersonRow },
  ): Promise<{ workspace: LinkedWorkspace; token: string }>;
}

export const cleanWorkspaceName = (name: string): string => cleanToldWords(name, 200, 'unnamed');

export function createWorkspaceLinker({
  db,
  clock,
  changes,
  plans,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  plans: Pick<AccountPlans, 'requireRoom'>;
}): WorkspaceLinker {
  return {
    async link({ key, name, version }, { machine, person }) {
      const { token, hash } = makeToken('svcw_');
      const now = clock.now();
      const facts = {
        machine_id: machine.id,
        name: cleanWorkspaceName(name),
        svc_version: toPrintable(version),
        token_hash: hash,
        next_token_hash: null,
        last_seen_at: now,
        revoked_at: null,
      };
      const row = {
        id: makeServerId('w'),
        account_id: machine.account_id,
        key,
        created_at: now,
        command_seq: 0,
        channels: '',
        more_decisions: 0,
        ...facts,
      };
      const workspace = await db.transaction().execute(async (change) => {
        await takeTurn(change);
        const others = await change
          .selectFrom('workspaces')
          .select(({ fn }) => fn.countAll().as('count'))
          .where('account_id', '=', row.account_id)
          .where('revoked_at', 'is', null)
          .where('key', '!=', key)
          .executeTakeFirstOrThrow();
        await plans.requireRoom(change, row.account_id, 'workspaces', Number(others.count));
        await changes.record(change, {
          account: row.account_id,
          actor: person.name,
          what: 'workspace linked',
          detail: `${row.name} on ${machine.name}`,
        });
        return change
          .insertInto('workspaces')
          .values(row)
          .onConflict((same) => same.columns(['account_id', 'key']).doUpdateSet(facts))
          .returningAll()
          .executeTakeFirstOrThrow();
      });
      return { workspace, token };
    },
  };
}
