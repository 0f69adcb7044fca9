import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../base/clock.ts';
import { type ListOrder, type ListPage, type PageWish, readListPage } from '../database/list-page.ts';
import type { Change, Tables } from '../database/tables.ts';
import { makeServerId } from '../secrets.ts';

const NEWEST_FIRST: ListOrder = {
  columns: { 'changes.at': 'integer', 'changes.id': 'text' },
  direction: 'desc',
};

/** The log of what was changed and by whom: sign-ins, logins of machines, people, plans. */
export interface ChangeLog {
  /** Writes down a change within its transaction: one is never kept without the other. */
  record(
    within: Transaction<Tables>,
    change: { account: string | null; actor: string; what: string; detail?: string },
  ): Promise<void>;
  /** The newest first. */
  list(account: string, wish?: PageWish): Promise<ListPage<Change>>;
}

export function createChangeLog({ db, clock }: { db: Kysely<Tables>; clock: Clock }): ChangeLog {
  return {
    async record(within, { account, actor, what, detail = '' }) {
      await within
        .insertInto('changes')
        .values({ id: makeServerId('c'), account_id: account, at: clock.now(), actor, what, detail })
        .execute();
    },
    list: (account, wish = {}) =>
      readListPage(
        db.selectFrom('changes').selectAll().where('account_id', '=', account),
        NEWEST_FIRST,
        wish,
      ),
  };
}
