import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../core/base/clock.ts';
import { type ListOrder, type ListPage, type PageWish, readListPage } from './database/list-page.ts';
import type { ChangeRow, Tables } from './database/tables.ts';
import { makeServerId } from './secrets.ts';

const NEWEST_FIRST: ListOrder = {
  columns: { 'changes.at': 'integer', 'changes.id': 'text' },
  direction: 'desc',
};

/** The record of a change. */
export interface ChangeEntry {
  /** Null for a change of the whole server. */
  account: string | null;
  actor: string;
  what: string;
  detail?: string;
}

/** The log of changes with their authors: sign-ins, logins of machines, people, plans. */
export interface ChangeLog {
  /** Records a change within its transaction: one is never stored without the other. */
  record(within: Transaction<Tables>, entry: ChangeEntry): Promise<void>;
  /** Makes and records a change in a separate transaction. Rethrows the change's errors, and then stores nothing. */
  make<T>(entry: ChangeEntry, change: (within: Transaction<Tables>) => Promise<T>): Promise<T>;
  /** Lists the newest first. */
  list(account: string, wish?: PageWish): Promise<ListPage<ChangeRow>>;
}

export function createChangeLog({ db, clock }: { db: Kysely<Tables>; clock: Clock }): ChangeLog {
  const recordChange: ChangeLog['record'] = async (within, { account, actor, what, detail = '' }) => {
    await within
      .insertInto('changes')
      .values({ id: makeServerId('c'), account_id: account, at: clock.now(), actor, what, detail })
      .execute();
  };

  return {
    record: recordChange,
    make: (entry, change) =>
      db.transaction().execute(async (within) => {
        const made = await change(within);
        await recordChange(within, entry);
        return made;
      }),
    list: (account, wish = {}) =>
      readListPage(
        db.selectFrom('changes').selectAll().where('account_id', '=', account),
        NEWEST_FIRST,
        wish,
      ),
  };
}
