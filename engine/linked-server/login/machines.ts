import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { ChangeLog } from '../change-log.ts';
import { isSightingDue } from '../database/last-seen.ts';
import { type ListOrder, type ListPage, type PageWish, readListPage } from '../database/list-page.ts';
import type { MachineRow, PersonRow, Tables } from '../database/tables.ts';
import type { StopWorkspaces } from '../links/stop-workspaces.ts';
import { hashToken } from '../secrets.ts';

/** A machine as pages list it. */
export type ListedMachine = MachineRow & { person: string };

/** Machines that people logged in from, each with a token. */
export interface MachineStore {
  /** Lists the earliest logins first. */
  list(account: string, wish?: PageWish): Promise<ListPage<ListedMachine>>;
  /** Finds the owner of a token; null for an unknown or revoked one. */
  findByToken(token: string): Promise<{ machine: MachineRow; person: PersonRow; account: string } | null>;
  revokeToken(token: string): Promise<void>;
  /** False if the account has no such machine. */
  revoke(id: string, by: PersonRow): Promise<boolean>;
}

const OLDEST_FIRST: ListOrder = {
  columns: { 'machines.created_at': 'integer', 'machines.id': 'text' },
  direction: 'asc',
};

export function createMachines({
  db,
  clock,
  changes,
  stopWorkspaces,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  stopWorkspaces: StopWorkspaces;
}): MachineStore {
  /** Removes a machine, and stops its workspaces; false if there is no such machine. */
  async function remove(
    column: 'id' | 'token_hash',
    value: string,
    { by, what }: { by: PersonRow | null; what: string },
  ): Promise<boolean> {
    const finish = await db.transaction().execute(async (change) => {
      const removed = await change
        .deleteFrom('machines')
        .where(column, '=', value)
        .$if(by !== null, (query) => query.where('account_id', '=', by!.account_id))
        .returning(['account_id', 'name'])
        .executeTakeFirst();
      if (removed === undefined) return null;
      const { account_id: account, name } = removed;
      await changes.record(change, { account, actor: by?.name ?? name, what, detail: name });
      return stopWorkspaces(change, account, 'logged out');
    });
    finish?.();
    return finish !== null;
  }

  return {
    list(account, wish = {}) {
      const query = db
        .selectFrom('machines')
        .innerJoin('people', 'people.id', 'machines.person_id')
        .selectAll('machines')
        .select('people.name as person')
        .where('machines.account_id', '=', account);
      return readListPage(query, OLDEST_FIRST, wish);
    },
    async findByToken(token) {
      const machine = await db
        .selectFrom('machines')
        .selectAll()
        .where('token_hash', '=', hashToken(token))
        .executeTakeFirst();
      if (machine === undefined) return null;
      const now = clock.now();
      if (isSightingDue(machine.seen_at, now))
        await db.updateTable('machines').set({ seen_at: now }).where('id', '=', machine.id).execute();
      const person = await db
        .selectFrom('people')
        .selectAll()
        .where('id', '=', machine.person_id)
        .executeTakeFirstOrThrow();
      const { name } = await db
        .selectFrom('accounts')
        .select('name')
        .where('id', '=', machine.account_id)
        .executeTakeFirstOrThrow();
      return { machine, person, account: name };
    },
    async revokeToken(token) {
      await remove('token_hash', hashToken(token), { by: null, what: 'machine logged out' });
    },
    revoke: (id, by) => remove('id', id, { by, what: 'machine revoked' }),
  };
}
