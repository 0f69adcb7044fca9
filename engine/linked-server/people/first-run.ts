import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Kysely } from 'kysely';
import { SvcError } from '../../core/base/errors.ts';
import { replacePrivate } from '../../core/base/private-files.ts';
import type { PersonRow, Tables } from '../database/tables.ts';
import { hashToken } from '../secrets.ts';
import type { PeopleStore } from './people.ts';

const KEY = 'setup_code';
const WRONG_KEY = 'setup_code_wrong';
/** Number of wrong codes after which a new one is created. */
const MOST_WRONG = 10;
/** No vowels, so that no word appears; no characters that look alike. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';

/** Eight letters in two groups, such as `BCDF-GHJK`: 34 bits. */
export const makeTypedCode = (groups = 2): string =>
  Array.from({ length: groups }, () =>
    Array.from({ length: 4 }, () => LETTERS[randomInt(LETTERS.length)]).join(''),
  ).join('-');

/** Normalizes a code for comparison: any case, spacing and dashes. */
export const normalizeTypedCode = (text: string): string =>
  text
    .toUpperCase()
    .replace(/[^A-Z0-9]/g, '')
    .slice(0, 64);

/** The address and code with which a person sets up a new server. */
export interface SetupOffer {
  code: string;
  /** The file that has the code too. */
  file: string;
  /** The address of the page that takes it. */
  page: string;
}

/** The one time that a database has no operator: a person who can read the code on the server becomes one. */
export interface FirstRun {
  /** Reports whether the server has not been set up yet. */
  isOpen(): Promise<boolean>;
  /** Creates a code, prints it through `tell` and writes it to `setup-code`, unless the server is set up. */
  offer(): Promise<void>;
  /**
   * Accepts the code, once even if two try, and creates the first account and its operator; null for a wrong one.
   * Throws as `addWithAccount`, and the code stays valid then; `conflict` if another person was sooner.
   */
  take(code: string, wish: { name: string; password: string; account: string }): Promise<PersonRow | null>;
}

export function createFirstRun({
  db,
  people,
  folder,
  origin,
  tell,
}: {
  db: Kysely<Tables>;
  people: PeopleStore;
  folder: string;
  origin: string;
  tell(offer: SetupOffer): void;
}): FirstRun {
  const file = join(folder, 'setup-code');
  const isOpen = async (): Promise<boolean> => (await people.countOperators()) === 0;

  async function makeCode(): Promise<void> {
    const code = makeTypedCode(4);
    const value = hashToken(normalizeTypedCode(code));
    await db
      .insertInto('meta')
      .values([
        { key: KEY, value },
        { key: WRONG_KEY, value: '0' },
      ])
      .onConflict((same) => same.column('key').doUpdateSet((set) => ({ value: set.ref('excluded.value') })))
      .execute();
    replacePrivate(file, `${code}\n`);
    tell({ code, file, page: `${origin}/setup` });
  }

  async function countWrong(): Promise<void> {
    const row = await db
      .updateTable('meta')
      .set(({ eb }) => ({ value: eb.cast(eb(eb.cast<number>('value', 'integer'), '+', 1), 'text') }))
      .where('key', '=', WRONG_KEY)
      .returning('value')
      .executeTakeFirst();
    if (row !== undefined && Number(row.value) >= MOST_WRONG && (await isOpen())) await makeCode();
  }

  return {
    isOpen,
    async offer() {
      if (await isOpen()) await makeCode();
      else rmSync(file, { force: true });
    },
    async take(code, { name, password, account }) {
      const hash = hashToken(normalizeTypedCode(code));
      const isRight = await db
        .selectFrom('meta')
        .select('key')
        .where('key', '=', KEY)
        .where('value', '=', hash)
        .executeTakeFirst();
      if (isRight === undefined) {
        await countWrong();
        return null;
      }
      const wish = { name, account, isOperator: true, password };
      const { person } = await people.addWithAccount(wish, name, async (change) => {
        // Only the caller that deletes it continues.
        const taken = await change
          .deleteFrom('meta')
          .where('key', '=', KEY)
          .where('value', '=', hash)
          .returning('key')
          .executeTakeFirst();
        if (taken === undefined)
          throw new SvcError('conflict', 'the setup code was used in the meantime, or there is a new one');
      });
      rmSync(file, { force: true });
      return person;
    },
  };
}
