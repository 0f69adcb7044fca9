import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { ChangeLog } from '../change-log.ts';
import type {
  ChatCode,
  ChatCodePurpose,
  ChatKind,
  ChatUserRow,
  PersonRow,
  Tables,
} from '../database/tables.ts';
import type { DecisionFollower } from '../decision-follower.ts';
import { CODE_RULE, type FailureCounter } from '../people/failures.ts';
import { makeTypedCode, normalizeTypedCode } from '../people/first-run.ts';
import { closePrivateChats } from '../people/private-chats.ts';
import { withdrawRequests } from '../requesters.ts';
import { hashToken } from '../secrets.ts';
import { KIND_NAMES } from './bots.ts';
import type { ChatText } from './service.ts';
import { cleanText } from './spans.ts';

/** How long a code may be sent, and then confirmed on the page. */
export const CODE_MS = 10 * 60_000;
const CODE = /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/;

/** A code that was sent to the bot. */
export interface ConnectionClaim {
  kind: ChatKind;
  purpose: ChatCodePurpose;
  user: { id: string; name: string };
  place: { channel: string; channelName: string; isPrivate: boolean };
}

/** The result of sending a code. */
export type ClaimResult = 'claimed' | 'unknown' | 'too_many' | 'other_person' | 'not_connected';

/** Maps chat users to the people they speak for. Only users confirmed on a page by that person are connected. */
export interface ChatConnections {
  /** Finds the person that a chat user speaks for; null for all other users. */
  findPerson(kind: ChatKind, user: string): Promise<PersonRow | null>;
  list(person: string): Promise<ChatUserRow[]>;
  /** Creates a code for the bot, valid once within ten minutes; an earlier code becomes invalid. */
  makeCode(kind: ChatKind, purpose: ChatCodePurpose, person: string): Promise<string>;
  /** Accepts a code from a chat; the rest is confirmed on the page. */
  claim(kind: ChatKind, words: ChatText, code: string): Promise<ClaimResult>;
  /** Lists codes of a person that were sent and wait for confirmation on the page. */
  listClaims(person: string): Promise<ConnectionClaim[]>;
  /** Connects the chat user who sent the code, if it is still the same one. False otherwise, or if it has expired. */
  connect(kind: ChatKind, user: string, person: PersonRow): Promise<boolean>;
  /** Confirms a code for a channel; null if it is a different code, or has expired. */
  takeChannel(kind: ChatKind, channel: string, person: string): Promise<ConnectionClaim | null>;
  /** Deletes a code. */
  refuse(kind: ChatKind, purpose: ChatCodePurpose, person: string): Promise<void>;
  /** Also stops messages to that private chat. False if no user was connected. */
  disconnect(kind: ChatKind, person: PersonRow): Promise<boolean>;
}

/** Finds the code in a text; null if there is none. */
export function findCode(text: string): string | null {
  const code = normalizeTypedCode(text.replace(/^(?:start|connect)\b/i, ''));
  return CODE.test(code) ? code : null;
}

const cleanName = (name: string): string => cleanText(name, 200) || 'unnamed';

export function createConnections({
  db,
  clock,
  changes,
  failures,
  follower,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  failures: FailureCounter;
  follower: DecisionFollower;
}): ChatConnections {
  const findUser = (kind: ChatKind, user: string): Promise<ChatUserRow | undefined> =>
    db
      .selectFrom('chat_users')
      .selectAll()
      .where('kind', '=', kind)
      .where('user_id', '=', user)
      .executeTakeFirst();

  const recordConnection = (
    within: Transaction<Tables>,
    what: string,
    { account_id, name }: PersonRow,
    detail: string,
  ): Promise<void> => changes.record(within, { account: account_id, actor: name, what, detail });

  const deleteCode = (kind: ChatKind, purpose: ChatCodePurpose, person: string) =>
    db
      .deleteFrom('chat_codes')
      .where('kind', '=', kind)
      .where('purpose', '=', purpose)
      .where('person_id', '=', person);

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

  const toClaim = ({ kind, purpose, ...code }: ChatCode): ConnectionClaim => ({
    kind,
    purpose,
    user: { id: code.user_id ?? '', name: code.user_name ?? '' },
    place: {
      channel: code.channel ?? '',
      channelName: code.channel_name ?? '',
      isPrivate: code.is_private === 1,
    },
  });

  return {
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
    async makeCode(kind, purpose, person) {
      const code = makeTypedCode();
      const row: ChatCode = {
        code_hash: hashToken(normalizeTypedCode(code)),
        kind,
        purpose,
        person_id: person,
        expires_at: clock.now() + CODE_MS,
        user_id: null,
        user_name: null,
        channel: null,
        channel_name: null,
        is_private: null,
      };
      await db
        .insertInto('chat_codes')
        .values(row)
        .onConflict((same) => same.columns(['kind', 'purpose', 'person_id']).doUpdateSet(row))
        .execute();
      return code;
    },
    async claim(kind, { user, place }, code) {
      const counted = `chat code ${kind} ${user.id}`;
      if ((await failures.begin(counted, CODE_RULE)) > 0) return 'too_many';
      const hash = hashToken(code);
      const open = await db
        .selectFrom('chat_codes')
        .selectAll()
        .where('code_hash', '=', hash)
        .where('kind', '=', kind)
        .where('expires_at', '>', clock.now())
        .where('user_id', 'is', null)
        .executeTakeFirst();
      if (open === undefined) return 'unknown';
      const known = await findUser(kind, user.id);
      if (open.purpose === 'channel' && known?.person_id !== open.person_id) return 'not_connected';
      if (known !== undefined && known.person_id !== open.person_id) return 'other_person';
      const name = cleanName(user.name);
      const { numUpdatedRows } = await db
        .updateTable('chat_codes')
        .set({
          user_id: user.id,
          user_name: name,
          channel: place.channel,
          channel_name: place.channelName === null ? place.channel : cleanName(place.channelName),
          is_private: place.isPrivate ? 1 : 0,
        })
        .where('code_hash', '=', hash)
        .where('user_id', 'is', null)
        .executeTakeFirst();
      if (Number(numUpdatedRows) === 0) return 'unknown';
      await failures.takeBack(counted);
      return 'claimed';
    },
    async listClaims(person) {
      const rows = await db
        .selectFrom('chat_codes')
        .selectAll()
        .where('person_id', '=', person)
        .where('user_id', 'is not', null)
        .where('expires_at', '>', clock.now())
        .orderBy('kind')
        .orderBy('purpose')
        .execute();
      return rows.map(toClaim);
    },
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
    async takeChannel(kind, channel, person) {
      const taken = await deleteCode(kind, 'channel', person)
        .where('channel', '=', channel)
        .where('expires_at', '>', clock.now())
        .returningAll()
        .executeTakeFirst();
      if (taken === undefined) return null;
      // A user who was connected from a group is only known by their private chat now.
      if (taken.is_private === 1)
        await db
          .updateTable('chat_users')
          .set({ private_channel: taken.channel })
          .where('kind', '=', kind)
          .where('person_id', '=', person)
          .where('user_id', '=', taken.user_id)
          .execute();
      return toClaim(taken);
    },
    async refuse(kind, purpose, person) {
      await deleteCode(kind, purpose, person).execute();
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
