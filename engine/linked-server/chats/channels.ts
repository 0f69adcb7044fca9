import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { EVENT_NAMES, type OutboundEvent } from '../../notify/sending/index.ts';
import type { ChangeEntry, ChangeLog } from '../change-log.ts';
import type { ChatChannel, ChatKind, Tables } from '../database/tables.ts';
import type { AccountPlans } from '../plans/plans.ts';
import { makeServerId } from '../secrets.ts';
import { KIND_NAMES } from './kind-names.ts';
import type { ChatPlace } from './service.ts';
import { cleanText } from './spans.ts';

/** The default events of a channel. */
const FIRST_EVENTS: readonly OutboundEvent[] = ['needs_approval', 'failed', 'sealed'];
const LONGEST_NAME = 200;
const MOST_CHANNELS = 20;

/** Channels, groups and private chats that get events of an account. */
export interface ChatChannels {
  list(account: string): Promise<ChatChannel[]>;
  /** Null for an unknown channel, or one of another account. */
  find(id: string, account: string): Promise<ChatChannel | null>;
  /** Finds the account's channel in a place; null if it has none. */
  findAt(account: string, kind: ChatKind, place: Pick<ChatPlace, 'channel'>): Promise<ChatChannel | null>;
  /** Throws `capability_locked`, `conflict` for a channel that the account already has, or too many. */
  add(
    account: string,
    kind: ChatKind,
    place: { channel: string; name: string; isPrivate: boolean },
    actor: string,
  ): Promise<ChatChannel>;
  /** Throws `fields_invalid`. */
  change(channel: ChatChannel, events: readonly string[], actor: string): Promise<void>;
  /** The earliest time for sending anything new there. */
  mute(channel: ChatChannel, until: number): Promise<void>;
  /** Removes it with its messages, whose buttons become invalid. */
  remove(channel: ChatChannel, actor: string): Promise<void>;
}

export const readChannelEvents = ({ events }: Pick<ChatChannel, 'events'>): OutboundEvent[] =>
  JSON.parse(events) as OutboundEvent[];

export function createChannels({
  db,
  clock,
  changes,
  plans,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  plans: Pick<AccountPlans, 'entitlementsOf'>;
}): ChatChannels {
  const entryOf = ({ account_id, kind, name }: ChatChannel, what: string, actor: string): ChangeEntry => ({
    account: account_id,
    actor,
    what,
    detail: `${name} (${KIND_NAMES[kind]})`,
  });

  const selectChannels = (account: string) =>
    db.selectFrom('chat_channels').selectAll().where('account_id', '=', account);

  return {
    list: (account) => selectChannels(account).orderBy('created_at').orderBy('id').execute(),
    async find(id, account) {
      return (await selectChannels(account).where('id', '=', id).executeTakeFirst()) ?? null;
    },
    async findAt(account, kind, { channel }) {
      const found = await selectChannels(account)
        .where('kind', '=', kind)
        .where('channel', '=', channel)
        .executeTakeFirst();
      return found ?? null;
    },
    async add(account, kind, { channel, name, isPrivate }, actor) {
      const { capabilities, plan } = await plans.entitlementsOf(account);
      if (!capabilities.includes('assistant'))
        throw new SvcError('capability_locked', `the plan ${plan} has no assistant`, {
          hint: 'the operator of the server can assign another plan',
        });
      if ((await this.list(account)).length >= MOST_CHANNELS)
        throw new SvcError('conflict', `an account has at most ${MOST_CHANNELS} channels`);
      const row: ChatChannel = {
        id: makeServerId('h'),
        account_id: account,
        kind,
        channel,
        name: cleanText(name, LONGEST_NAME) || channel,
        is_private: isPrivate ? 1 : 0,
        events: JSON.stringify(FIRST_EVENTS),
        muted_until: 0,
        next_at: 0,
        tries: 0,
        problem: null,
        created_at: clock.now(),
      };
      await changes.make(entryOf(row, 'channel added', actor), async (change) => {
        const { numInsertedOrUpdatedRows } = await change
          .insertInto('chat_channels')
          .values(row)
          .onConflict((same) => same.columns(['account_id', 'kind', 'channel']).doNothing())
          .executeTakeFirst();
        if (Number(numInsertedOrUpdatedRows) === 0)
          throw new SvcError('conflict', 'events of the account already go there');
      });
      return row;
    },
    async change(channel, events, actor) {
      const chosen = EVENT_NAMES.filter((event) => events.includes(event));
      if (chosen.length === 0 || chosen.length !== new Set(events).size)
        throw new SvcError('fields_invalid', 'choose at least one event from the list');
      await changes.make(entryOf(channel, 'channel changed', actor), (change) =>
        change
          .updateTable('chat_channels')
          .set({ events: JSON.stringify(chosen) })
          .where('id', '=', channel.id)
          .execute(),
      );
    },
    async mute({ id }, until) {
      await db.updateTable('chat_channels').set({ muted_until: until }).where('id', '=', id).execute();
    },
    async remove(channel, actor) {
      await changes.make(entryOf(channel, 'channel removed', actor), (change) =>
        change.deleteFrom('chat_channels').where('id', '=', channel.id).execute(),
      );
    },
  };
}
