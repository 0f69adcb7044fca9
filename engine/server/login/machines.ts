import type { Kysely } from 'kysely';
import type { Clock } from '../../base/clock.ts';
import { isSightingDue } from '../database/last-seen.ts';
import { type ListOrder, type ListPage, type PageWish, readListPage } from '../database/list-page.ts';
import type { Machine, Person, Tables } from '../database/tables.ts';
import type { StopWorkspaces } from '../links/stop-workspaces.ts';
import type { ChangeLog } from '../people/changes.ts';
import { hashToken } from '../secrets.ts';

/** A machine as pages list it. */
export type ListedMachine = Machine & { person: string };

/** Machines that people logged in from, each with a token. */
export interface Machines {
  /** Those that logged in first. */
  list(account: string, wish?: PageWish): Promise<ListPage<ListedMachine>>;
  /** Whose token it is; null for an unknown or revoked one. */
  findByToken(token: string): Promise<{ machine: Machine; person: Person; account: string } | null>;
  revokeToken(token: string): Promise<void>;
  /** False when the account has no such machine. */
  revoke(id: string, by: Person): Promise<boolean>;
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
}): Machines {
  /** Removes a machine, and stops what was linked from it; null where there is none such. */
  async function remove(
    column: 'id' | 'token_hash',
    value: string,
    account: string | null,
  ): Promise<Pick<Machine, 'account_id' | 'name'> | null> {
    let finish: (() => void) | undefined;
    const gone = await db.transaction().execute(async (change) => {
      const removed = await change
        .deleteFrom('machines')
        .where(column, '=', value)
        .$if(account !== null, (query) => query.where('account_id', '=', account!))
        .returning(['account_id', 'name'])
        .executeTakeFirst();
      if (removed !== undefined) finish = await stopWorkspaces(change, removed.account_id, 'logged out');
      return removed ?? null;
    });
    finish?.();
    return gone;
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
      const gone = await remove('token_hash', hashToken(token), null);
      if (gone !== null)
        await changes.record({
          account: gone.account_id,
          actor: gone.name,
          what: 'machine logged out',
          detail: gone.name,
        });
    },
    async revoke(id, by) {
      const gone = await remove('id', id, by.account_id);
      if (gone === null) return false;
      await changes.record({
        account: by.account_id,
        actor: by.name,
        what: 'machine revoked',
        detail: gone.name,
      });
      return true;
    },
  };
}
