import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { ChangeLog } from '../change-log.ts';
import { isSightingDue } from '../database/last-seen.ts';
import type { Account, PersonRow, Tables } from '../database/tables.ts';
import { hashToken, makeServerId, makeToken } from '../secrets.ts';

/** How long a browser stays signed in: without a request, and at most. */
const IDLE_MS = 7 * 24 * 3600_000;
const LONGEST_MS = 30 * 24 * 3600_000;

/** A signed-in person, with the browser. */
export interface SignedIn {
  person: PersonRow;
  account: Account;
  /** The id of the browser's session; grants no access. */
  sessionId: string;
}

/** Sessions of browsers. */
export interface SignIns {
  /** Creates the token of a browser's session. Throws `conflict` if the person's password has changed since it was checked. */
  signIn(person: PersonRow, browser: { address: string; browser: string }): Promise<string>;
  /** Finds the person of a cookie. */
  findSignedIn(token: string): Promise<SignedIn | null>;
  /** Ends one by its id, or all of the person's except one. Resolves with their number. */
  endSessions(person: string, which: { only: string } | { allBut: string | null }): Promise<number>;
}

/**
 * Locks the row of a person whose password was checked: changing it ends all sign-ins, including concurrent ones.
 * Throws `conflict`.
 */
export async function requirePassword(
  change: Transaction<Tables>,
  { id, password }: Pick<PersonRow, 'id' | 'password'>,
): Promise<void> {
  const held = await change
    .updateTable('people')
    .set(({ ref }) => ({ password: ref('password') }))
    .where('id', '=', id)
    .returning('password')
    .executeTakeFirstOrThrow();
  if (held.password !== password)
    throw new SvcError('conflict', 'the password was changed in the meantime: sign in with the new one');
}

export function createSignIns({
  db,
  clock,
  changes,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
}): SignIns {
  return {
    async signIn(person, { address, browser }) {
      const { token, hash } = makeToken();
      const now = clock.now();
      await db
        .deleteFrom('browser_sessions')
        .where((where) =>
          where.or([where('seen_at', '<', now - IDLE_MS), where('created_at', '<', now - LONGEST_MS)]),
        )
        .execute();
      const { account_id: account, name: actor } = person;
      const entry = { account, actor, what: 'signed in', detail: `from ${address}` };
      await changes.make(entry, async (change) => {
        await requirePassword(change, person);
        await change
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
        account: await db
          .selectFrom('accounts')
          .selectAll()
          .where('id', '=', person.account_id)
          .executeTakeFirstOrThrow(),
        sessionId: session.id,
      };
    },
    async endSessions(person, which) {
      let ended = db.deleteFrom('browser_sessions').where('person_id', '=', person);
      if ('only' in which) ended = ended.where('id', '=', which.only);
      else if (which.allBut !== null) ended = ended.where('id', '!=', which.allBut);
      return Number((await ended.executeTakeFirst()).numDeletedRows);
    },
  };
}
