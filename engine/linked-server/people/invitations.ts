import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { ChangeLog } from '../change-log.ts';
import type { PersonRow, Tables } from '../database/tables.ts';
import { hashToken, makeToken } from '../secrets.ts';
import type { PasswordStore } from './passwords.ts';

/** How long an address for an invitation or a new password is valid. */
export const INVITATION_MS = 72 * 3600_000;

/** Returns the address of an invitation, on the server of that origin. */
export const invitationUrl = (origin: string, token: string): string => `${origin}/invitation/${token}`;

/** One-time addresses for setting a person's password. */
export interface InvitationStore {
  /** Creates the token of such an address. Older ones become invalid. */
  invite(person: PersonRow, actor: string): Promise<string>;
  /** Finds the person of an invitation; null if it is unknown, used or expired. */
  findInvited(token: string): Promise<PersonRow | null>;
  /** Sets the password by an invitation, once even if two try; null if it is invalid. Ends their other sessions. */
  takeInvitation(token: string, password: string): Promise<PersonRow | null>;
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
  passwords: PasswordStore;
}): InvitationStore {
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
