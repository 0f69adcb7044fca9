import { type Kysely, sql } from 'kysely';
import { type ListOrder, type ListPage, type PageWish, readListPage } from '../database/list-page.ts';
import type { Account, BrowserSession, PersonRole, Tables } from '../database/tables.ts';

/** A person as lists show them. */
export interface ListedPerson {
  id: string;
  name: string;
  account: string;
  role: PersonRole;
  is_operator: boolean;
  /** False until an invitation was accepted. */
  has_password: boolean;
}

/** An account as operators see it: its number of people, and their first names in the list. */
export type ListedAccount = Account & { people: { count: number; names: string[] } };

/** Number of names next to an account. */
const NAMES_SHOWN = 3;

const PEOPLE: ListOrder = { columns: { 'people.name': 'text', 'people.id': 'text' }, direction: 'asc' };
const ACCOUNTS: ListOrder = { columns: { 'accounts.name': 'text' }, direction: 'asc' };
const SESSIONS: ListOrder = {
  columns: { 'browser_sessions.seen_at': 'integer', 'browser_sessions.id': 'text' },
  direction: 'desc',
};

/** Lists of accounts, people and their sign-ins. */
export interface PeopleLists {
  listAccounts(): Promise<Account[]>;
  /** Returns a page of them, by name. */
  listAccountPage(wish: PageWish): Promise<ListPage<ListedAccount>>;
  /** Counts those of all accounts, or of one. */
  list(account?: string): Promise<ListedPerson[]>;
  /** Returns a page of an account's people, by name. */
  listPage(account: string, wish: PageWish): Promise<ListPage<ListedPerson>>;
  count(account: string): Promise<number>;
  /** Lists a person's sign-ins: the most recently used first. */
  listSessions(person: string, wish?: PageWish): Promise<ListPage<BrowserSession>>;
}

export function createPeopleLists(db: Kysely<Tables>): PeopleLists {
  const people = db
    .selectFrom('people')
    .innerJoin('accounts', 'accounts.id', 'people.account_id')
    .select([
      'people.id',
      'people.name',
      'accounts.name as account',
      'people.role',
      sql<boolean>`people.is_operator = 1`.as('is_operator'),
      sql<boolean>`people.password IS NOT NULL`.as('has_password'),
    ]);
  // SQLite uses numbers for booleans.
  const readPerson = (row: ListedPerson): ListedPerson => ({
    ...row,
    is_operator: Boolean(row.is_operator),
    has_password: Boolean(row.has_password),
  });

  /** Counts the people of each of these accounts, with the first of their names. */
  async function describePeople(accounts: readonly string[]): Promise<Map<string, ListedAccount['people']>> {
    const found = new Map<string, ListedAccount['people']>();
    if (accounts.length === 0) return found;
    const ranked = db
      .selectFrom('people')
      .select(['account_id', 'name'])
      .select(sql<number>`row_number() OVER (PARTITION BY account_id ORDER BY name)`.as('place'))
      .select(sql<number>`count(*) OVER (PARTITION BY account_id)`.as('count'))
      .where('account_id', 'in', accounts);
    const rows = await db
      .selectFrom(ranked.as('ranked'))
      .selectAll()
      .where('place', '<=', NAMES_SHOWN)
      .orderBy('place')
      .execute();
    for (const { account_id, name, count } of rows) {
      const known = found.get(account_id) ?? { count: Number(count), names: [] };
      known.names.push(name);
      found.set(account_id, known);
    }
    return found;
  }

  return {
    listAccounts: () => db.selectFrom('accounts').selectAll().orderBy('name').execute(),
    async listAccountPage(wish) {
      const page = await readListPage(db.selectFrom('accounts').selectAll(), ACCOUNTS, wish);
      const described = await describePeople(page.rows.map(({ id }) => id));
      const rows = page.rows.map((account) => ({
        ...account,
        people: described.get(account.id) ?? { count: 0, names: [] },
      }));
      return { ...page, rows };
    },
    async list(account) {
      const wanted = account === undefined ? people : people.where('people.account_id', '=', account);
      const rows = await wanted.orderBy('accounts.name').orderBy('people.name').execute();
      return rows.map(readPerson);
    },
    async listPage(account, wish) {
      const page = await readListPage(people.where('people.account_id', '=', account), PEOPLE, wish);
      return { ...page, rows: page.rows.map(readPerson) };
    },
    count: (account) => countPeople(db, account),
    listSessions: (person, wish = {}) =>
      readListPage(
        db.selectFrom('browser_sessions').selectAll().where('person_id', '=', person),
        SESSIONS,
        wish,
      ),
  };
}

/** Counts the people of an account. */
export async function countPeople(db: Kysely<Tables>, account: string): Promise<number> {
  const { count } = await db
    .selectFrom('people')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('account_id', '=', account)
    .executeTakeFirstOrThrow();
  return Number(count);
}
