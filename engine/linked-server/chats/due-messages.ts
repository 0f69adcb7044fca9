import type { Kysely } from 'kysely';
import type { ChatChannel, ChatMessageRow, Tables } from '../database/tables.ts';

export type DueMessages = ReturnType<typeof createDueMessages>;

/** Finds the next message to send or change. */
export function createDueMessages(db: Kysely<Tables>) {
  return {
    async listDueChannels(now: number): Promise<string[]> {
      const rows = await db
        .selectFrom('chat_channels')
        .select('chat_channels.id')
        .where('next_at', '<=', now)
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('chat_messages')
              .select('chat_messages.id')
              .whereRef('chat_messages.channel_id', '=', 'chat_channels.id')
              .where('chat_messages.due_at', '<=', now),
          ),
        )
        .execute();
      return rows.map(({ id }) => id);
    },

    /** Returns when something is due next after `now`; null for nothing. */
    async findNextDue(now: number): Promise<number | null> {
      const rows = await db
        .selectFrom('chat_channels')
        .select(['next_at'])
        .select(({ selectFrom }) =>
          selectFrom('chat_messages')
            .select(({ fn }) => fn.min('chat_messages.due_at').as('at'))
            .whereRef('chat_messages.channel_id', '=', 'chat_channels.id')
            .as('at'),
        )
        .execute();
      const times = rows
        .flatMap(({ at, next_at }) => (at === null ? [] : [Math.max(Number(at), next_at)]))
        .filter((at) => at > now);
      return times.length === 0 ? null : Math.min(...times);
    },

    async findChannel(id: string): Promise<ChatChannel | undefined> {
      return db.selectFrom('chat_channels').selectAll().where('id', '=', id).executeTakeFirst();
    },

    async findDue(channel: string, now: number): Promise<ChatMessageRow | undefined> {
      return db
        .selectFrom('chat_messages')
        .selectAll()
        .where('channel_id', '=', channel)
        .where('due_at', '<=', now)
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
    },
  };
}
