import type { Kysely, Transaction } from 'kysely';
import { CHANNELS } from '../../base/channels.ts';
import type { Clock } from '../../base/clock.ts';
import { SvcError } from '../../base/errors.ts';
import { retryDeadlocks } from '../database/errors.ts';
import { isSightingDue } from '../database/last-seen.ts';
import type { Account, Person, Role, Tables } from '../database/tables.ts';
import { takeTurn } from '../database/take-turn.ts';
import { withdrawWishes } from '../links/askers.ts';
import type { StopWorkspaces } from '../links/stop-workspaces.ts';
import type { Plans } from '../plans/plans.ts';
import { hashToken, makeServerId, makeToken } from '../secrets.ts';
import type { ChangeLog } from './changes.ts';
import type { Passwords } from './passwords.ts';
import { countPeople, createPeopleLists, type PeopleLists } from './people-lists.ts';

/** How long an address that invites somebody, or lets them set a new password, opens. */
export const INVITATION_MS = 72 * 3600_000;
/** How long a browser stays signed in: without a request, and at most. */
const IDLE_MS = 7 * 24 * 3600_000;
const LONGEST_MS = 30 * 24 * 3600_000;

/** The channels by which somebody asks in their own name. */
const PERSONAL = CHANNELS.filter((channel) => channel !== 'automation');

const NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,47}$/u;

/** Who is signed in, in what browser. */
export interface SignedIn {
  person: Person;
  account: Account;
  /** Of the browser's session; opens nothing. */
  sessionId: string;
}

export interface NewPerson {
  name: string;
  account: string;
  role: Role;
  isOperator: boolean;
  password: string | null;
}

/** Accounts, the people in them, and who is signed in where. */
export interface People extends PeopleLists {
  countOperators(): Promise<number>;
  addAccount(name: string, actor: string): Promise<Account>;
  findAccount(name: string): Promise<Account>;
  findAccountById(id: string): Promise<Account | null>;
  removeAccount(name: string, actor: string): Promise<void>;
  /** Throws `conflict` for a name that is taken, `fields_invalid`, `quota_exceeded`. */
  add(person: NewPerson, actor: string): Promise<Person>;
  /** Throws `not_found`. */
  find(name: string, account?: string): Promise<Person>;
  /** One of that account; null for any other. */
  findById(id: string, account: string): Promise<Person | null>;
  /** The last admin of an account and the last operator stay: throws `conflict`. */
  remove(person: Person, actor: string): Promise<void>;
  setRole(person: Person, role: Role, actor: string): Promise<void>;
  /** The token of an address that lets them set their password, once. Older ones open no longer. */
  invite(person: Person, actor: string): Promise<string>;
  /** Who an invitation is for; null when it is unknown, used or too old. */
  findInvited(token: string): Promise<Person | null>;
  /** Sets the password by an invitation, once even when two try; null when it is not valid. Ends their other sessions. */
  takeInvitation(token: string, password: string): Promise<Person | null>;
  setPassword(person: Person, password: string): Promise<void>;
  signIn(person: Person, browser: { address: string; browser: string }): Promise<string>;
  /** Who a cookie stands for. */
  findSignedIn(token: string): Promise<SignedIn | null>;
  /** By its id; or all of the person's but the one to keep. Resolves with how many there were. */
  endSessions(person: string, which: { only: string } | { allBut: string | null }): Promise<number>;
}

export const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase();

function checkName(name: string, what: string): string {
  const normal = name.normalize('NFC').trim();
  if (!NAME.test(normal))
    throw new SvcError(
      'fields_invalid',
      `${what} has 1 to 48 letters, digits, spaces, dots, dashes and underscores`,
      { data: { fields: ['name'] } },
    );
  return normal;
}

const takenError = (name: string): SvcError =>
  new SvcError('conflict', `${JSON.stringify(name)} is taken`, { hint: 'choose another name' });

export function createPeople({
  db,
  clock,
  changes,
  passwords,
  plans,
  stopWorkspaces,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  passwords: Passwords;
  plans: Pick<Plans, 'requireRoom'>;
  stopWorkspaces: StopWorkspaces;
}): People {
  const lists = createPeopleLists(db);
  const accountById = (id: string) => db.selectFrom('accounts').selectAll().where('id', '=', id);

  /** Removing or demoting is refused where nobody would be left who can undo it: as they are now, not as they were read. */
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
      throw new SvcError('conflict', 'the last operator stays', { hint: 'make another operator first' });
    const admins = others.where('account_id', '=', account_id).where('role', '=', 'admin');
    if (role === 'admin' && !(await admins.executeTakeFirst()))
      throw new SvcError('conflict', 'the last admin of an account stays', {
        hint: 'make another admin first, or remove the account',
      });
  }

  const endSessions: People['endSessions'] = async (person, which) => {
    let ended = db.deleteFrom('browser_sessions').where('person_id', '=', person);
    if ('only' in which) ended = ended.where('id', '=', which.only);
    else if (which.allBut !== null) ended = ended.where('id', '!=', which.allBut);
    return Number((await ended.executeTakeFirst()).numDeletedRows);
  };

  /** Changes who is there, one after the other. */
  const changeInTurn = <T>(work: (change: Transaction<Tables>) => Promise<T>): Promise<T> =>
    retryDeadlocks(() =>
      db.transaction().execute(async (change) => {
        await takeTurn(change);
        return work(change);
      }),
    );

  return {
    ...lists,
    async countOperators() {
      const { count } = await db
        .selectFrom('people')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('is_operator', '=', 1)
        .executeTakeFirstOrThrow();
      return Number(count);
    },
    async addAccount(name, actor) {
      const account = {
        id: makeServerId('a'),
        name: checkName(name, "an account's name"),
        plan: 'free',
        created_at: clock.now(),
      };
      const { numInsertedOrUpdatedRows } = await db
        .insertInto('accounts')
        .values(account)
        .onConflict((same) => same.column('name').doNothing())
        .executeTakeFirst();
      if (Number(numInsertedOrUpdatedRows) === 0) throw takenError(account.name);
      await changes.record({ account: account.id, actor, what: 'account added', detail: account.name });
      return account;
    },
    async findAccountById(id) {
      return (await accountById(id).executeTakeFirst()) ?? null;
    },
    async findAccount(name) {
      const account = await db
        .selectFrom('accounts')
        .selectAll()
        .where('name', '=', name.normalize('NFC').trim())
        .executeTakeFirst();
      if (account === undefined)
        throw new SvcError('not_found', `no account ${JSON.stringify(name)}`, {
          hint: 'svc server account list shows them',
        });
      return account;
    },
    async removeAccount(name, actor) {
      const account = await this.findAccount(name);
      const finish = await changeInTurn(async (change) => {
        const operator = await change
          .selectFrom('people')
          .select('id')
          .where('account_id', '!=', account.id)
          .where('is_operator', '=', 1)
          .executeTakeFirst();
        if (operator === undefined)
          throw new SvcError('conflict', 'the account of the last operator stays', {
            hint: 'make an operator in another account first',
          });
        const ending = await stopWorkspaces(change, account.id, 'all');
        await change.deleteFrom('accounts').where('id', '=', account.id).execute();
        return ending;
      });
      finish();
      await changes.record({ account: null, actor, what: 'account removed', detail: account.name });
    },
    async add({ name, account, role, isOperator, password }, actor) {
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
      await changeInTurn(async (change) => {
        await plans.requireRoom(change, account, 'people', await countPeople(change, account));
        const { numInsertedOrUpdatedRows } = await change
          .insertInto('people')
          .values(row)
          .onConflict((same) => same.column('name_key').doNothing())
          .executeTakeFirst();
        if (Number(numInsertedOrUpdatedRows) === 0) throw takenError(row.name);
      });
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
      const finish = await changeInTurn(async (change) => {
        await checkSomebodyStays(change, person.id, 'removed');
        await change.deleteFrom('people').where('id', '=', person.id).execute();
        const asker = { account: person.account_id, person: person.name, channels: PERSONAL };
        await withdrawWishes(change, asker, clock.now());
        return stopWorkspaces(change, person.account_id, 'logged out');
      });
      finish();
      await changes.record({
        account: person.account_id,
        actor,
        what: 'person removed',
        detail: person.name,
      });
    },
    async setRole(person, role, actor) {
      await changeInTurn(async (change) => {
        if (role !== 'admin') await checkSomebodyStays(change, person.id, 'demoted');
        await change
          .updateTable('people')
          .set({ role })
          .where('id', '=', person.id)
          .returning('id')
          .executeTakeFirstOrThrow();
        await change.deleteFrom('browser_sessions').where('person_id', '=', person.id).execute();
      });
      await changes.record({
        account: person.account_id,
        actor,
        what: 'role changed',
        detail: `${person.name}: ${role}`,
      });
    },
    async invite(person, actor) {
      const { token, hash } = makeToken();
      const kind = person.password === null ? 'invite' : 'reset';
      await db.transaction().execute(async (change) => {
        await change.deleteFrom('invitations').where('person_id', '=', person.id).execute();
        await change
          .insertInto('invitations')
          .values({
            token_hash: hash,
            person_id: person.id,
            kind,
            expires_at: clock.now() + INVITATION_MS,
          })
          .execute();
      });
      await changes.record({
        account: person.account_id,
        actor,
        what: kind === 'invite' ? 'person invited' : 'password reset offered',
        detail: person.name,
      });
      return token;
    },
    async findInvited(token) {
      const found = await db
        .selectFrom('invitations')
        .innerJoin('people', 'people.id', 'invitations.person_id')
        .selectAll('people')
        .where('token_hash', '=', hashToken(token))
        .where('expires_at', '>', clock.now())
        .executeTakeFirst();
      return found ?? null;
    },
    async takeInvitation(token, password) {
      const stored = await passwords.store(password);
      const person = await db.transaction().execute(async (change) => {
        const taken = await change
          .deleteFrom('invitations')
          .where('token_hash', '=', hashToken(token))
          .where('expires_at', '>', clock.now())
          .returning('person_id')
          .executeTakeFirst();
        if (taken === undefined) return null;
        await change.deleteFrom('browser_sessions').where('person_id', '=', taken.person_id).execute();
        return change
          .updateTable('people')
          .set({ password: stored })
          .where('id', '=', taken.person_id)
          .returningAll()
          .executeTakeFirstOrThrow();
      });
      if (person !== null)
        await changes.record({ account: person.account_id, actor: person.name, what: 'password set' });
      return person;
    },
    async setPassword(person, password) {
      const stored = await passwords.store(password);
      await db.transaction().execute(async (change) => {
        await change
          .updateTable('people')
          .set({ password: stored })
          .where('id', '=', person.id)
          .returning('id')
          .executeTakeFirstOrThrow();
        await change.deleteFrom('browser_sessions').where('person_id', '=', person.id).execute();
        // An address for a new password that was made before would undo this one.
        await change.deleteFrom('invitations').where('person_id', '=', person.id).execute();
      });
      await changes.record({ account: person.account_id, actor: person.name, what: 'password changed' });
    },
    async signIn(person, { address, browser }) {
      const { token, hash } = makeToken();
      const now = clock.now();
      await db
        .deleteFrom('browser_sessions')
        .where((where) =>
          where.or([where('seen_at', '<', now - IDLE_MS), where('created_at', '<', now - LONGEST_MS)]),
        )
        .execute();
      await db
        .insertInto('browser_sessions')
        .values({
          token_hash: hash,
          id: makeServerId('b'),
          person_id: person.id,
          created_at: now,
          seen_at: now,
          address,
          browser: browser.slice(0, 200),
        })
        .execute();
      await changes.record({
        account: person.account_id,
        actor: person.name,
        what: 'signed in',
        detail: `from ${address}`,
      });
      return token;
    },
    async findSignedIn(token) {
      const now = clock.now();
      const session = await db
        .selectFrom('browser_sessions')
        .selectAll()
        .where('token_hash', '=', hashToken(token))
        .where('seen_at', '>=', now - IDLE_MS)
        .where('created_at', '>=', now - LONGEST_MS)
        .executeTakeFirst();
      if (session === undefined) return null;
      if (isSightingDue(session.seen_at, now))
        await db
          .updateTable('browser_sessions')
          .set({ seen_at: now })
          .where('token_hash', '=', session.token_hash)
          .execute();
      const person = await db
        .selectFrom('people')
        .selectAll()
        .where('id', '=', session.person_id)
        .executeTakeFirst();
      if (person === undefined) return null;
      return {
        person,
        account: await accountById(person.account_id).executeTakeFirstOrThrow(),
        sessionId: session.id,
      };
    },
    endSessions,
  };
}
