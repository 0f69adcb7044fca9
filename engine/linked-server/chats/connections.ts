import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { ChangeLog } from '../change-log.ts';
import type { ChatKind, PersonRow, Tables } from '../database/tables.ts';
import type { DecisionFollower } from '../decision-follower.ts';
import type { FailureCounter } from '../people/failures.ts';
import { closePrivateChats } from '../people/private-chats.ts';
import { withdrawRequests } from '../requesters.ts';
import { type ChatUsers, createChatUsers } from './chat-users.ts';
import { type ConnectionCodes, createConnectionCodes } from './connection-codes.ts';
import { KIND_NAMES } from './kind-names.ts';

/** Maps chat users to the people they speak for. Only users confirmed on a page by that person are connected. */
export interface ChatConnections extends ConnectionCodes, Pick<ChatUsers, 'findPerson' | 'list'> {
  /** Connects the chat user who sent the code, if it is still the same one. False otherwise, or if it has expired. */
  connect(kind: ChatKind, user: string, person: PersonRow): Promise<boolean>;
  /** Also stops messages to that private chat. False if no user was connected. */
  disconnect(kind: ChatKind, person: PersonRow): Promise<boolean>;
}

interface ConnectionsDeps {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  failures: FailureCounter;
  follower: DecisionFollower;
}

export function createConnections({
  db,
  clock,
  changes,
  failures,
  follower,
}: ConnectionsDeps): ChatConnections {
  const recordConnection = (
    within: Transaction<Tables>,
    what: string,
    { account_id, name }: PersonRow,
    detail: string,
  ): Promise<void> => changes.record(within, { account: account_id, actor: name, what, detail });

  /** Disconnects a chat user, who then receives nothing in private; returns the former person. */
  async function letGo(change: Transaction<Tables>, kind: ChatKind, person: PersonRow) {
    await closePrivateChats(change, person, kind);
    const removed = await change
      .deleteFrom('chat_users')
      .where('kind', '=', kind)
      .where('person_id', '=', person.id)
      .returning(['name', 'user_id'])
      .executeTakeFirst();
    const requester = { account: person.account_id, person: person.name, channels: [kind] };
    if (removed !== undefined)
      await withdrawRequests(change, requester, clock.now(), follower.followDecisions);
    return removed;
  }

  return {
    ...createConnectionCodes({ db, clock, failures }),
    ...createChatUsers(db),
    async connect(kind, user, person) {
      const isConnected = await db.transaction().execute(async (change) => {
        const taken = await change
          .deleteFrom('chat_codes')
          .where('kind', '=', kind)
          .where('purpose', '=', 'person')
          .where('person_id', '=', person.id)
          .where('user_id', '=', user)
          .where('expires_at', '>', clock.now())
          .returningAll()
          .executeTakeFirst();
        if (taken === undefined) return false;
        const before = await change
          .selectFrom('chat_users')
          .select('user_id')
          .where('kind', '=', kind)
          .where('person_id', '=', person.id)
          .executeTakeFirst();
        if (before !== undefined && before.user_id !== user) await letGo(change, kind, person);
        // A user who already speaks for another person can only be disconnected by that person.
        const made = await change
          .insertInto('chat_users')
          .values({
            kind,
            user_id: user,
            name: taken.user_name ?? 'unnamed',
            private_channel: taken.is_private === 1 ? taken.channel : null,
            person_id: person.id,
            connected_at: clock.now(),
          })
          .onConflict((same) =>
            same
              .columns(['kind', 'user_id'])
              .doUpdateSet({ name: taken.user_name ?? 'unnamed' })
              .where('chat_users.person_id', '=', person.id),
          )
          .returningAll()
          .executeTakeFirst();
        if (made === undefined) return false;
        await recordConnection(
          change,
          'chat connected',
          person,
          `${KIND_NAMES[kind]}: ${made.name} (${user})`,
        );
        return true;
      });
      follower.wake();
      return isConnected;
    },
    async disconnect(kind, person) {
      const wasConnected = await db.transaction().execute(async (change) => {
        const gone = await letGo(change, kind, person);
        if (gone === undefined) return false;
        const who = `${KIND_NAMES[kind]}: ${gone.name} (${gone.user_id})`;
        await recordConnection(change, 'chat disconnected', person, who);
        return true;
      });
      follower.wake();
      return wasConnected;
    },
  };
}
