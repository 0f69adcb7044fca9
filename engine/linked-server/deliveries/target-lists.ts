import type { Kysely } from 'kysely';
import type { Tables, TargetRow } from '../database/tables.ts';

/** Finds the targets of an account. */
export interface TargetLists {
  list(account: string): Promise<(TargetRow & { waiting: number })[]>;
  /** Null for an unknown target, or one of another account. */
  find(id: string, account: string): Promise<TargetRow | null>;
}

export function createTargetLists(db: Kysely<Tables>): TargetLists {
  return {
    list: (account) =>
      db
        .selectFrom('targets')
        .selectAll('targets')
        .select(({ selectFrom }) =>
          selectFrom('deliveries')
            .whereRef('deliveries.target_id', '=', 'targets.id')
            .where('deliveries.state', '=', 'waiting')
            .select(({ fn }) => fn.countAll<number>().as('count'))
            .$asScalar()
            .$notNull()
            .as('waiting'),
        )
        .where('account_id', '=', account)
        .orderBy('created_at')
        .orderBy('id')
        .execute(),
    async find(id, account) {
      const found = await db
        .selectFrom('targets')
        .selectAll()
        .where('id', '=', id)
        .where('account_id', '=', account)
        .executeTakeFirst();
      return found ?? null;
    },
  };
}
