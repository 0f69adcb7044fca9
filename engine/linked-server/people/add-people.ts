import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { ChangeLog } from '../change-log.ts';
import type { Account, PersonRole, PersonRow, Tables } from '../database/tables.ts';
import { changeInTurn } from '../database/take-turn.ts';
import type { AccountPlans } from '../plans/plans.ts';
import { makeServerId } from '../secrets.ts';
import { giveEverything, insertAccount } from './accounts.ts';
import { checkName, nameKey, takenError } from './names.ts';
import type { PasswordStore } from './passwords.ts';
import { countPeople } from './people-lists.ts';

export interface NewPerson {
  name: string;
  account: string;
  role: PersonRole;
  isOperator: boolean;
  password: string | null;
}

/** Adds people to accounts. */
export interface PeopleAdder {
  /** Throws `conflict` for a name that is taken, `fields_invalid`, `quota_exceeded`. */
  add(person: NewPerson, actor: string): Promise<PersonRow>;
  /**
   * Adds an account with its first person, who is its admin: both or neither. Throws as `addAccount` and `add`.
   * @param claim a required action in the same transaction
   */
  addWithAccount(
    person: Omit<NewPerson, 'role'>,
    actor: string,
    claim?: (change: Transaction<Tables>) => Promise<void>,
  ): Promise<{ person: PersonRow; account: Account }>;
}

export function createPeopleAdder({
  db,
  clock,
  changes,
  passwords,
  plans,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  passwords: PasswordStore;
  plans: Pick<AccountPlans, 'requireRoom'>;
}): PeopleAdder {
  async function makeRow({ name, account, role, isOperator, password }: NewPerson): Promise<PersonRow> {
    const checked = checkName(name, 'a name');
    return {
      id: makeServerId('p'),
      account_id: account,
      name: checked,
      name_key: nameKey(checked),
      role,
      is_operator: isOperator ? 1 : 0,
      password: password === null ? null : await passwords.store(password),
      created_at: clock.now(),
    };
  }

  /** Runs in an exclusive transaction. */
  async function insertPerson(change: Transaction<Tables>, row: PersonRow, actor: string): Promise<void> {
    const { account_id: account, name, role } = row;
    const operator = await change
      .selectFrom('people')
      .select('id')
      .where('is_operator', '=', 1)
      .limit(1)
      .executeTakeFirst();
    if (row.is_operator === 1 && operator === undefined) await giveEverything(change, account);
    await plans.requireRoom(change, account, 'people', await countPeople(change, account));
    const { numInsertedOrUpdatedRows } = await change
      .insertInto('people')
      .values(row)
      .onConflict((same) => same.column('name_key').doNothing())
      .executeTakeFirst();
    if (Number(numInsertedOrUpdatedRows) === 0) throw takenError(name);
    await changes.record(change, { account, actor, what: 'person added', detail: `${name}, ${role}` });
  }

  return {
    async add(given, actor) {
      const row = await makeRow(given);
      await changeInTurn(db, (change) => insertPerson(change, row, actor));
      return row;
    },
    async addWithAccount({ account: name, ...given }, actor, claim) {
      const row = await makeRow({ ...given, account: '', role: 'admin' });
      return changeInTurn(db, async (change) => {
        await claim?.(change);
        const account = await insertAccount(change, { name, actor, clock, changes });
        const person = { ...row, account_id: account.id };
        await insertPerson(change, person, actor);
        return { person, account };
      });
    },
  };
}
