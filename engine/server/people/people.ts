import type { Kysely } from 'kysely';
import type { Clock } from '../../base/clock.ts';
import { SvcError } from '../../base/errors.ts';
import { retryDeadlocks } from '../database/errors.ts';
import type { Person, Role, Tables } from '../database/tables.ts';
import type { Plans } from '../plans/plans.ts';
import { makeServerId } from '../secrets.ts';
import { type Accounts, createAccounts } from './accounts.ts';
import type { ChangeLog } from './changes.ts';
import { createInvitations, type Invitations } from './invitations.ts';
import { checkName, nameKey, takenError } from './names.ts';
import type { Passwords } from './passwords.ts';
import { createPeopleLists, type PeopleLists } from './people-lists.ts';
import { createSignIns, type SignIns } from './sign-ins.ts';

export type { SignedIn } from './sign-ins.ts';

export interface NewPerson {
  name: string;
  account: string;
  role: Role;
  isOperator: boolean;
  password: string | null;
}

/** Accounts, the people in them, and who is signed in where. */
export interface People extends PeopleLists, Accounts, Invitations, SignIns {
  countOperators(): Promise<number>;
  /** Throws `conflict` for a name that is taken, `fields_invalid`, `quota_exceeded`. */
  add(person: NewPerson, actor: string): Promise<Person>;
  /** Throws `not_found`. */
  find(name: string, account?: string): Promise<Person>;
  /** One of that account; null for any other. */
  findById(id: string, account: string): Promise<Person | null>;
  /** The last admin of an account and the last operator stay: throws `conflict`. */
  remove(person: Person, actor: string): Promise<void>;
  setRole(person: Person, role: Role, actor: string): Promise<void>;
  setPassword(person: Person, password: string): Promise<void>;
}

export function createPeople({
  db,
  clock,
  changes,
  passwords,
  plans,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  passwords: Passwords;
  plans: Pick<Plans, 'requireRoom'>;
}): People {
  const lists = createPeopleLists(db);
  const signIns = createSignIns({ db, clock, changes });

  /** Removing or demoting is refused where nobody would be left who can undo it. */
  async function checkSomebodyStays({ id, account_id, role, is_operator }: Person): Promise<void> {
    const others = db.selectFrom('people').select('id').where('id', '!=', id);
    if (is_operator === 1 && !(await others.where('is_operator', '=', 1).executeTakeFirst()))
      throw new SvcError('conflict', 'the last operator stays', { hint: 'make another operator first' });
    const admins = others.where('account_id', '=', account_id).where('role', '=', 'admin');
    if (role === 'admin' && !(await admins.executeTakeFirst()))
      throw new SvcError('conflict', 'the last admin of an account stays', {
        hint: 'make another admin first, or remove the account',
      });
  }

  return {
    ...lists,
    ...createAccounts({ db, clock, changes }),
    ...createInvitations({ db, clock, changes, passwords }),
    ...signIns,
    async countOperators() {
      const { count } = await db
        .selectFrom('people')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('is_operator', '=', 1)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    async add({ name, account, role, isOperator, password }, actor) {
      await plans.requireRoom(account, 'people', await lists.count(account));
      const row: Person = {
        id: makeServerId('p'),
        account_id: account,
        name: checkName(name, 'a name'),
        name_key: nameKey(checkName(name, 'a name')),
        role,
        is_operator: isOperator ? 1 : 0,
        password: password === null ? null : await passwords.store(password),
        created_at: clock.now(),
      };
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('people')
        .values(row)
        .onConflict((same) => same.column('name_key').doNothing())
        .executeTakeFirst();
      if (Number(numInsertedOrUpdatedRows) === 0) throw takenError(row.name);
      await changes.record({ account, actor, what: 'person added', detail: `${row.name}, ${role}` });
      return row;
    },
    async find(name, account) {
      let found = db.selectFrom('people').selectAll().where('name_key', '=', nameKey(name.trim()));
      if (account !== undefined) found = found.where('account_id', '=', account);
      const person = await found.executeTakeFirst();
      if (person === undefined)
        throw new SvcError('not_found', `no person ${JSON.stringify(name)}`, {
          hint: 'svc server person list shows them',
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
    async remove(person, actor) {
      await checkSomebodyStays(person);
      await retryDeadlocks(() => db.deleteFrom('people').where('id', '=', person.id).execute());
      await changes.record({
        account: person.account_id,
        actor,
        what: 'person removed',
        detail: person.name,
      });
    },
    async setRole(person, role, actor) {
      if (role !== 'admin') await checkSomebodyStays({ ...person, is_operator: 0 });
      await db.updateTable('people').set({ role }).where('id', '=', person.id).execute();
      await signIns.endSessions(person.id, { allBut: null });
      await changes.record({
        account: person.account_id,
        actor,
        what: 'role changed',
        detail: `${person.name}: ${role}`,
      });
    },
    async setPassword(person, password) {
      const stored = await passwords.store(password);
      await db.updateTable('people').set({ password: stored }).where('id', '=', person.id).execute();
      await signIns.endSessions(person.id, { allBut: null });
    },
  };
}
