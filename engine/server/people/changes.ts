import type { Kysely } from 'kysely';
import type { Clock } from '../../base/clock.ts';
import type { Change, Tables } from '../database/tables.ts';
import { makeServerId } from '../secrets.ts';

/** How many of an account's changes a page shows. */
const SHOWN = 200;

/** The log of what was changed and by whom: sign-ins, logins of machines, people, plans. */
export interface ChangeLog {
  record(change: { account: string | null; actor: string; what: string; detail?: string }): Promise<void>;
  /** The newest first. */
  list(account: string): Promise<Change[]>;
}

export function createChangeLog({ db, clock }: { db: Kysely<Tables>; clock: Clock }): ChangeLog {
  return {
    async record({ account, actor, what, detail = '' }) {
      await db
        .insertInto('changes')
        .values({ id: makeServerId('c'), account_id: account, at: clock.now(), actor, what, detail })
        .execute();
    },
    list: (account) =>
      db
        .selectFrom('changes')
        .selectAll()
        .where('account_id', '=', account)
        .orderBy('at', 'desc')
        .limit(SHOWN)
        .execute(),
  };
}
