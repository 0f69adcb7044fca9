import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { laterBy } from '../database/later-by.ts';
import type { ChatChannel, ChatMessageRow, Tables } from '../database/tables.ts';
import type { MessageRows } from './message-rows.ts';

export type SentMessages = ReturnType<typeof createSentMessages>;

interface SentDeps {
  db: Kysely<Tables>;
  clock: Clock;
  rows: MessageRows;
}

/** Results of sending and updating messages. */
export function createSentMessages({ db, clock, rows }: SentDeps) {
  return {
    /** A message was posted twice, since the first answer was lost: the other one is updated as well. */
    adopt: (row: ChatMessageRow, postedId: string) => adoptPosted({ db, clock, rows }, row, postedId),

    /** Records the shown contents. Later changes are checked again. */
    async settle(
      row: ChatMessageRow,
      shown: Partial<Pick<ChatMessageRow, 'state' | 'posted_id' | 'is_open' | 'hash' | 'looks' | 'facts'>>,
    ): Promise<void> {
      await db.transaction().execute(async (change) => {
        await change
          .updateTable('chat_messages')
          .set({ ...shown, ...(row.sent_at === null ? { sent_at: clock.now() } : {}) })
          .where('id', '=', row.id)
          .execute();
        await change
          .updateTable('chat_messages')
          .set({ due_at: null })
          .where('id', '=', row.id)
          .where('version', '=', row.version)
          .execute();
        await change
          .updateTable('chat_channels')
          .set({ next_at: 0, tries: 0, problem: null })
          .where('id', '=', row.channel_id)
          .where(({ or, eb }) => or([eb('tries', '>', 0), eb('problem', 'is not', null)]))
          .execute();
      });
    },

    /** Abandons a message: it is no longer sent or updated. */
    async giveUp(row: ChatMessageRow, problem: string | null): Promise<void> {
      await db.transaction().execute(async (change) => {
        await change
          .updateTable('chat_messages')
          .set({ state: 'dead', due_at: null, is_open: 0 })
          .where('id', '=', row.id)
          .execute();
        if (problem !== null)
          await change
            .updateTable('chat_channels')
            .set({ problem })
            .where('id', '=', row.channel_id)
            .execute();
      });
    },

    /** Pauses a channel for a while. */
    async postpone(channel: ChatChannel, until: number, problem: string): Promise<void> {
      await db
        .updateTable('chat_channels')
        .set(({ eb }) => ({ next_at: until, tries: eb('tries', '+', 1), problem }))
        .where('id', '=', channel.id)
        .execute();
    },

    /** Extends deadlines there by the time in which nothing was tried. */
    async postponeEnd(channel: string, idle: number, now: number): Promise<void> {
      await db
        .updateTable('chat_messages')
        .set({ due_at: laterBy('due_at', idle, now) })
        .where('channel_id', '=', channel)
        .where('due_at', '<=', now)
        .execute();
    },

    /** Drops all pending messages there. */
    async dropWaiting(channel: string): Promise<void> {
      await db
        .updateTable('chat_messages')
        .set({ state: 'dead', due_at: null, is_open: 0 })
        .where('channel_id', '=', channel)
        .where('state', '=', 'waiting')
        .execute();
    },
  };
}

async function adoptPosted(
  { db, clock, rows }: SentDeps,
  row: ChatMessageRow,
  postedId: string,
): Promise<void> {
  const copy = createHash('sha256').update(`${row.event_id} ${postedId}`).digest('hex');
  const { channel_id, account_id, workspace_id, decision_id, event, facts, is_open, ended } = row;
  const known = await db
    .selectFrom('chat_messages')
    .select('id')
    .where('channel_id', '=', channel_id)
    .where('posted_id', '=', postedId)
    .executeTakeFirst();
  if (known !== undefined) return;
  await rows.insert(db, [
    rows.make({
      channel_id,
      account_id,
      workspace_id,
      decision_id,
      event,
      facts,
      is_open,
      ended,
      event_id: copy,
      state: 'sent',
      posted_id: postedId,
      sent_at: row.sent_at ?? clock.now(),
    }),
  ]);
}
