import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { CHANNELS } from '../../core/link-protocol/channels.ts';
import type { ChangeLog } from '../change-log.ts';
import type { Account, PersonRole, PersonRow, Tables } from '../database/tables.ts';
import { changeInTurn } from '../database/take-turn.ts';
import type { DecisionFollower } from '../decision-follower.ts';
import type { StopWorkspaces } from '../links/stop-workspaces.ts';
import type { AccountPlans } from '../plans/plans.ts';
import { withdrawRequests } from '../requesters.ts';
import { makeServerId } from '../secrets.ts';
import { type AccountStore, createAccounts, insertAccount } from './accounts.ts';
import { createInvitations, type InvitationStore } from './invitations.ts';
import { checkName, nameKey, takenError } from './names.ts';
import type { PasswordStore } from './passwords.ts';
import { countPeople, createPeopleLists, type PeopleLists } from './people-lists.ts';
import { closePrivateChats } from './private-chats.ts';
import { createSignIns, requirePassword, type SignIns } from './sign-ins.ts';

export type { SignedIn } from './sign-ins.ts';

/** The channels that a person uses in their own name. */
const PERSONAL = CHANNELS.filter((channel) => channel !== 'automation');

export interface NewPerson {
  name: string;
  account: string;
  role: PersonRole;
  isOperator: boolean;
  password: string | null;
}

/** Accounts, the people in them, and their sign-ins. */
export interface PeopleStore extends PeopleLists, AccountStore, InvitationStore, SignIns {
  countOperators(): Promise<number>;
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
  /** Throws `not_found`. */
  find(name: string, account?: string): Promise<PersonRow>;
  /** Finds a person of that account; null for any other. */
  findById(id: string, account: string): Promise<PersonRow | null>;
  /** The last admin of an account and the last operator cannot be removed: throws `conflict`. */
  remove(person: PersonRow, actor: string): Promise<void>;
  setRole(person: PersonRow, role: PersonRole, actor: string): Promise<void>;
  /** Ends all sign-ins. Throws `conflict` if the person's password has changed since it was checked, `fields_invalid`. */
  setPassword(person: PersonRow, password: string): Promise<PersonRow>;
}

export function createPeople({
  db,
  clock,
  changes,
  passwords,
  plans,
  follower,
  stopWorkspaces,
  eraseDeleted,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  passwords: PasswordStore;
  plans: Pick<AccountPlans, 'requireRoom'>;
  follower: Pick<DecisionFollower, 'followDecisions'>;
  stopWorkspaces: StopWorkspaces;
  eraseDeleted(): Promise<void>;
}): PeopleStore {
  /** Removing or demoting is refused if no one could undo it: based on the current state, not an earlier one. */
  async function checkSomebodyStays(
    change: Transaction<Tables>,
    person: string,
    what: 'removed' | 'demoted',
  ): Promise<void> {
    const { id, account_id, role, is_operator } = await change
      .selectFrom('people')
      .selectAll()
      .where('id', '=', person)
      .executeTakeFirstOrThrow();
    const others = change.selectFrom('people').select('id').where('id', '!=', id);
    if (
      what === 'removed' &&
      is_operator === 1 &&
      !(await others.where('is_operator', '=', 1).executeTakeFirst())
    )
      throw new SvcError('conflict', 'the last operator cannot be removed', {
        hint: 'make another operator first',
      });
    const admins = others.where('account_id', '=', account_id).where('role', '=', 'admin');
    if (role === 'admin' && !(await admins.executeTakeFirst()))
      throw new SvcError('conflict', 'the last admin of an account must stay', {
        hint: 'make another admin first, or remove the account',
      });
  }

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
    ...createPeopleLists(db),
    ...createAccounts({ db, clock, changes, stopWorkspaces, eraseDeleted }),
    ...createInvitations({ db, clock, changes, passwords }),
    ...createSignIns({ db, clock, changes }),
    async countOperators() {
      const { count } = await db
        .selectFrom('people')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('is_operator', '=', 1)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
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
    async remove(person, actor) {
      const finish = await changeInTurn(db, async (change) => {
        await checkSomebodyStays(change, person.id, 'removed');
        await closePrivateChats(change, person);
        await change.deleteFrom('people').where('id', '=', person.id).execute();
        const requester = { account: person.account_id, person: person.name, channels: PERSONAL };
        await withdrawRequests(change, requester, clock.now(), follower.followDecisions);
        await changes.record(change, {
          account: person.account_id,
          actor,
          what: 'person removed',
          detail: person.name,
        });
        return stopWorkspaces(change, person.account_id, 'logged out');
      });
      finish();
      await eraseDeleted();
    },
    async setRole(person, role, actor) {
      await changeInTurn(db, async (change) => {
        if (role !== 'admin') await checkSomebodyStays(change, person.id, 'demoted');
        await change
          .updateTable('people')
          .set({ role })
          .where('id', '=', person.id)
          .returning('id')
          .executeTakeFirstOrThrow();
        await change.deleteFrom('browser_sessions').where('person_id', '=', person.id).execute();
        await changes.record(change, {
          account: person.account_id,
          actor,
          what: 'role changed',
          detail: `${person.name}: ${role}`,
        });
      });
    },
    async setPassword(person, password) {
      const stored = await passwords.store(password);
      const { account_id: account, name: actor } = person;
      await changes.make({ account, actor, what: 'password changed' }, async (change) => {
        await requirePassword(change, person);
        await change.updateTable('people').set({ password: stored }).where('id', '=', person.id).execute();
        await change.deleteFrom('browser_sessions').where('person_id', '=', person.id).execute();
        // An earlier address for a new password would undo this one.
        await change.deleteFrom('invitations').where('person_id', '=', person.id).execute();
      });
      return { ...person, password: stored };
    },
  };
}
