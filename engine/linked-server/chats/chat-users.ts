import type { Kysely } from 'kysely';
import type { ChatKind, ChatUserRow, PersonRow, Tables } from '../database/tables.ts';

/** Finds connected chat users. */
export interface ChatUsers {
  findUser(kind: ChatKind, user: string): Promise<ChatUserRow | undefined>;
  /** Finds the person that a chat user speaks for; null for all other users. */
  findPerson(kind: ChatKind, user: string): Promise<PersonRow | null>;
  list(person: string): Promise<ChatUserRow[]>;
}

export function createChatUsers(db: Kysely<Tables>): ChatUsers {
  return {
    findUser: (kind, user) =>
      db
        .selectFrom('chat_users')
        .selectAll()
        .where('kind', '=', kind)
        .where('user_id', '=', user)
        .executeTakeFirst(),
    async findPerson(kind, user) {
      const found = await db
        .selectFrom('chat_users')
        .innerJoin('people', 'people.id', 'chat_users.person_id')
        .selectAll('people')
        .where('kind', '=', kind)
        .where('user_id', '=', user)
        .executeTakeFirst();
      return found ?? null;
    },
    list: (person) =>
      db.selectFrom('chat_users').selectAll().where('person_id', '=', person).orderBy('kind').execute(),
  };
}
