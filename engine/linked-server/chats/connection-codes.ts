import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { ChatCode, ChatCodePurpose, ChatKind, Tables } from '../database/tables.ts';
import { CODE_RULE, type FailureCounter } from '../people/failures.ts';
import { makeTypedCode, normalizeTypedCode } from '../people/first-run.ts';
import { hashToken } from '../secrets.ts';
import { createChatUsers } from './chat-users.ts';
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

/** Codes with which a person proves that a chat is theirs. */
export interface ConnectionCodes {
  /** Creates a code for the bot, valid once within ten minutes; an earlier code becomes invalid. */
  makeCode(kind: ChatKind, purpose: ChatCodePurpose, person: string): Promise<string>;
  /** Accepts a code from a chat; the rest is confirmed on the page. */
  claim(kind: ChatKind, words: ChatText, code: string): Promise<ClaimResult>;
  /** Lists codes of a person that were sent and wait for confirmation on the page. */
  listClaims(person: string): Promise<ConnectionClaim[]>;
  /** Confirms a code for a channel; null if it is a different code, or has expired. */
  takeChannel(kind: ChatKind, channel: string, person: string): Promise<ConnectionClaim | null>;
  /** Deletes a code. */
  refuse(kind: ChatKind, purpose: ChatCodePurpose, person: string): Promise<void>;
}

/** Finds the code in a text; null if there is none. */
export function findCode(text: string): string | null {
  const code = normalizeTypedCode(text.replace(/^(?:start|connect)\b/i, ''));
  return CODE.test(code) ? code : null;
}

const cleanName = (name: string): string => cleanText(name, 200) || 'unnamed';

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

const makeCodeRow = (given: {
  kind: ChatKind;
  purpose: ChatCodePurpose;
  person: string;
  code: string;
  expiresAt: number;
}): ChatCode => ({
  code_hash: hashToken(normalizeTypedCode(given.code)),
  kind: given.kind,
  purpose: given.purpose,
  person_id: given.person,
  expires_at: given.expiresAt,
  user_id: null,
  user_name: null,
  channel: null,
  channel_name: null,
  is_private: null,
});

export function createConnectionCodes({
  db,
  clock,
  failures,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  failures: FailureCounter;
}): ConnectionCodes {
  const users = createChatUsers(db);
  const deleteCode = (kind: ChatKind, purpose: ChatCodePurpose, person: string) =>
    db
      .deleteFrom('chat_codes')
      .where('kind', '=', kind)
      .where('purpose', '=', purpose)
      .where('person_id', '=', person);

  return {
    async makeCode(kind, purpose, person) {
      const code = makeTypedCode();
      const row = makeCodeRow({ kind, purpose, person, code, expiresAt: clock.now() + CODE_MS });
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
      const known = await users.findUser(kind, user.id);
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
  };
}
