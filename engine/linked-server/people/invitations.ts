import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { Person, Tables } from '../database/tables.ts';
import { hashToken, makeToken } from '../secrets.ts';
import type { ChangeLog } from './changes.ts';
import type { Passwords } from './passwords.ts';

/** How long an address that invites somebody, or lets them set a new password, opens. */
export const INVITATION_MS = 72 * 3600_000;

/** Where the token of an invitation is taken, on the server of that origin. */
export const invitationUrl = (origin: string, token: string): string => `${origin}/invitation/${token}`;

/** Addresses that let a person set their password, once. */
export interface Invitations {
  /** The token of such an address. Older ones open no longer. */
  invite(person: Person, actor: string): Promise<string>;
  /** Who an invitation is for; null when it is unknown, used or too old. */
  findInvited(token: string): Promise<Person | null>;
  /** Sets the password by an invitation, once even when two try; null when it is not valid. Ends their other sessions. */
  takeInvitation(token: string, password: string): Promise<Person | null>;
}

export function createInvitations({
  db,
  clock,
  changes,
  passwords,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  passwords: Passwords;
}): Invitations {
  return {
    async invite(person, actor) {
      const { token, hash } = makeToken();
      const kind = person.password === null ? 'invite' : 'reset';
      const what = kind === 'invite' ? 'person invited' : 'password reset offered';
      const entry = { account: person.account_id, actor, what, detail: person.name };
      await changes.make(entry, async (change) => {
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
      return db.transaction().execute(async (change) => {
        const taken = await change
          .deleteFrom('invitations')
          .where('token_hash', '=', hashToken(token))
          .where('expires_at', '>', clock.now())
          .returning('person_id')
          .executeTakeFirst();
        if (taken === undefined) return null;
        await change.deleteFrom('browser_sessions').where('person_id', '=', taken.person_id).execute();
        const person = await change
          .updateTable('people')
          .set({ password: stored })
          .where('id', '=', taken.person_id)
          .returningAll()
          .executeTakeFirstOrThrow();
        const { account_id: account, name: actor } = person;
        await changes.record(change, { account, actor, what: 'password set' });
        return person;
      });
    },
  };
}
