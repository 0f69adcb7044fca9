import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { PendingDecision } from '../../core/link-protocol/messages.ts';
import type { ChatMessageRow, Tables } from '../database/tables.ts';
import type { LinkedEvent } from '../deliveries/linked-event.ts';

// The rows of messages: one for each event in each channel. A row records its subject and not its text: the text is
// computed from the database whenever something may have changed, so chats become correct again after any outage.

/** A statement about more rows than this is split. */
export const ROWS_AT_ONCE = 200;

/** The stored subject of a message. */
export interface MessageFacts {
  workspace: string;
  event: LinkedEvent;
  /** Its state when it was last shown. */
  decision: PendingDecision | null;
}

export type MessageDatabase = Kysely<Tables> | Transaction<Tables>;

/** Creates rows and schedules them. */
export type MessageRows = Awaited<ReturnType<typeof openMessageRows>>;

/** Generates increasing ids. */
async function createIdSource(db: Kysely<Tables>): Promise<() => number> {
  const { newest } = await db
    .selectFrom('chat_messages')
    .select(({ fn }) => fn.max('id').as('newest'))
    .executeTakeFirstOrThrow();
  let last = Number(newest ?? 0);
  return () => {
    last += 1;
    return last;
  };
}

export async function openMessageRows({ db, clock }: { db: Kysely<Tables>; clock: Clock }) {
  const nextId = await createIdSource(db);
  return {
    make: (
      facts: Pick<ChatMessageRow, 'channel_id' | 'account_id' | 'event' | 'event_id' | 'facts'> &
        Partial<ChatMessageRow>,
    ): ChatMessageRow => ({
      id: nextId(),
      workspace_id: null,
      decision_id: null,
      state: 'waiting',
      posted_id: null,
      is_open: 0,
      ended: null,
      hash: null,
      version: 1,
      looks: null,
      due_at: clock.now(),
      created_at: clock.now(),
      sent_at: null,
      ...facts,
    }),

    /** Adds rows whose event the channel does not have yet. */
    async insert(change: MessageDatabase, rows: readonly ChatMessageRow[]): Promise<void> {
      for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
        await change
          .insertInto('chat_messages')
          .values(rows.slice(at, at + ROWS_AT_ONCE))
          .onConflict((same) => same.columns(['channel_id', 'event_id']).doNothing())
          .execute();
    },

    /** Schedules messages for another check. */
    touch: (change: MessageDatabase) =>
      change
        .updateTable('chat_messages')
        .set(({ eb }) => ({ version: eb('version', '+', 1), due_at: clock.now() })),
  };
}
