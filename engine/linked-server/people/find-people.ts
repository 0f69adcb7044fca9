import type { Kysely } from 'kysely';
import { SvcError } from '../../core/base/errors.ts';
import type { PersonRow, Tables } from '../database/tables.ts';
import { nameKey } from './names.ts';

/** Finds people. */
export interface PeopleFinder {
  countOperators(): Promise<number>;
  /** Throws `not_found`. */
  find(name: string, account?: string): Promise<PersonRow>;
  /** Finds a person of that account; null for any other. */
  findById(id: string, account: string): Promise<PersonRow | null>;
}

export function createPeopleFinder(db: Kysely<Tables>): PeopleFinder {
  return {
    async countOperators() {
      const { count } = await db
        .selectFrom('people')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('is_operator', '=', 1)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    async find(name, account) {
      let found = db.selectFrom('people').selectAll().where('name_key', '=', nameKey(name));
      if (account !== undefined) found = found.where('account_id', '=', account);
      const person = await found.executeTakeFirst();
      if (person === undefined)
        throw new SvcError('not_found', `no person ${JSON.stringify(name)}`, {
          hint: 'svc server person list lists them',
        });
      return person;
    },
    async findById(id, account) {
      const found = await db
        .selectFrom('people')
        .selectAll()
        .where('id', '=', id)
        .where('account_id', '=', account)
        .executeTakeFirst();
      return found ?? null;
    },
  };
}
