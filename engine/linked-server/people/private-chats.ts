import type { Transaction } from 'kysely';
import type { ChatKind, Tables } from '../database/tables.ts';

/**
 * Stops messages of an account to the private chats of a person, while they are known: call it in the transaction
 * that disconnects or removes them, before that.
 * @param kind of one service only
 */
export async function closePrivateChats(
  change: Transaction<Tables>,
  person: { id: string; account_id: string },
  kind?: ChatKind,
): Promise<void> {
  let users = change
    .selectFrom('chat_users')
    .select(['kind', 'private_channel'])
    .where('person_id', '=', person.id);
  if (kind !== undefined) users = users.where('kind', '=', kind);
  for (const user of await users.execute()) {
    if (user.private_channel === null) continue;
    await change
      .deleteFrom('chat_channels')
      .where('account_id', '=', person.account_id)
      .where('kind', '=', user.kind)
      .where('channel', '=', user.private_channel)
      .execute();
  }
}
