import type { Kysely } from 'kysely';
import type { ChatChannel, ChatMessageRow, Tables } from '../database/tables.ts';
import { type MessageRows, ROWS_AT_ONCE } from './message-rows.ts';

/** More events than this within that time become one message. */
const MOST_AT_ONCE = 5;
const CROWD_MS = 60_000;

/** The event of a message about several of them. */
export const CROWD = 'several';

/** The contents of such a message. */
export interface CrowdFacts {
  /** The count of each event. */
  counts: Record<string, number>;
  /** Other events of that minute have separate messages. */
  isMore: boolean;
}

export function readCrowd({ facts }: Pick<ChatMessageRow, 'facts'>): CrowdFacts {
  const read = JSON.parse(facts) as Partial<CrowdFacts>;
  // Older rows contain only the counts.
  const { counts = read as CrowdFacts['counts'], isMore = false } = read;
  return { counts, isMore };
}

/** Returns how many events a message is about. */
export const countCrowd = ({ counts }: Pick<CrowdFacts, 'counts'>): number =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

export type CrowdLimits = ReturnType<typeof createCrowds>;

export function createCrowds({ db, rows }: { db: Kysely<Tables>; rows: MessageRows }) {
  return {
    /** Combines pending messages into one if there are too many for one minute. */
    async gather(channel: ChatChannel, now: number): Promise<void> {
      await db.transaction().execute(async (change) => {
        const ofChannel = change.selectFrom('chat_messages').where('channel_id', '=', channel.id);
        const waiting = await ofChannel
          .select(['id', 'event'])
          .where('state', '=', 'waiting')
          .where('event', '!=', CROWD)
          .where('due_at', '<=', now)
          .execute();
        if (waiting.length === 0) return;
        const { said } = await ofChannel
          .select(({ fn }) => fn.countAll().as('said'))
          .where('state', '=', 'sent')
          .where('event', '!=', CROWD)
          .where('sent_at', '>', now - CROWD_MS)
          // From a clock that was ahead.
          .where('sent_at', '<=', now)
          .executeTakeFirstOrThrow();
        const crowd = await ofChannel
          .select(['id', 'facts'])
          .where('event', '=', CROWD)
          .where('state', '!=', 'dead')
          .where('created_at', '>', now - CROWD_MS)
          .where('created_at', '<=', now)
          .orderBy('id', 'desc')
          .limit(1)
          .executeTakeFirst();
        const isMore = Number(said) > 0;
        const { counts, ...kept } = crowd === undefined ? { counts: {}, isMore } : readCrowd(crowd);
        if (Number(said) + countCrowd({ counts }) + waiting.length <= MOST_AT_ONCE) return;
        for (const { event } of waiting) counts[event] = (counts[event] ?? 0) + 1;
        for (let at = 0; at < waiting.length; at += ROWS_AT_ONCE)
          await change
            .deleteFrom('chat_messages')
            .where(
              'id',
              'in',
              waiting.slice(at, at + ROWS_AT_ONCE).map(({ id }) => id),
            )
            .execute();
        const facts = JSON.stringify({ ...kept, counts } satisfies CrowdFacts);
        if (crowd !== undefined) {
          await rows.touch(change).set({ facts }).where('id', '=', crowd.id).execute();
          return;
        }
        const row = rows.make({
          channel_id: channel.id,
          account_id: channel.account_id,
          event: CROWD,
          event_id: '',
          facts,
        });
        await rows.insert(change, [{ ...row, event_id: `${CROWD}-${row.id}` }]);
      });
    },
  };
}
