import { createHash } from 'node:crypto';
import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../base/clock.ts';
import type { PendingDecision } from '../../http/link-protocol.ts';
import { askOncePerAccount } from '../database/ask-once.ts';
import type { ChatChannel, ChatMessageRow, Tables } from '../database/tables.ts';
import type { EventOrigin } from '../deliveries/index.ts';
import type { LinkedEvent } from '../deliveries/linked-event.ts';
import { readChannelEvents } from './channels.ts';

// The rows of messages: one for each event in each channel. A row says what it is about and not what is shown: that is worked
// out from the database whenever something may have changed, so what a chat shows becomes true again after any outage.

/** A decision that has not been told yet is waited for so long; then the event is said without buttons. */
const DECISION_PATIENCE_MS = 30_000;
/** More than so many events within that time become one message. */
const MOST_AT_ONCE = 5;
const CROWD_MS = 60_000;
const ROWS_AT_ONCE = 200;

/** What a message is about, as it is kept. */
export interface MessageFacts {
  workspace: string;
  event: LinkedEvent;
  /** As it was when it was shown last. */
  decision: PendingDecision | null;
}
/** What a message about several events is about: how many there are of each. */
export type CrowdFacts = Record<string, number>;

/** How many of what is said in one message. */
export const CROWD = 'several';

export type Messages = ReturnType<typeof createMessages>;
type Db = Kysely<Tables> | Transaction<Tables>;

/** Gives out ids that grow. */
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

export async function openMessages(options: { db: Kysely<Tables>; clock: Clock }) {
  return createMessages({ ...options, nextId: await createIdSource(options.db) });
}

function createMessages({ db, clock, nextId }: { db: Kysely<Tables>; clock: Clock; nextId: () => number }) {
  const newRow = (
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
  });

  async function insert(change: Db, rows: readonly ChatMessageRow[]): Promise<void> {
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
      await change
        .insertInto('chat_messages')
        .values(rows.slice(at, at + ROWS_AT_ONCE))
        .onConflict((same) => same.columns(['channel_id', 'event_id']).doNothing())
        .execute();
  }

  /** Those that have a bot and hear now. */
  const listOpenChannels = askOncePerAccount((change, account) =>
    change
      .selectFrom('chat_channels')
      .selectAll()
      .where('account_id', '=', account)
      .where('muted_until', '<=', clock.now())
      .where(({ exists, selectFrom }) =>
        exists(selectFrom('bots').select('bots.kind').whereRef('bots.kind', '=', 'chat_channels.kind')),
      )
      .execute(),
  );

  /** Has messages looked at again. */
  const touch = (change: Db) =>
    change
      .updateTable('chat_messages')
      .set(({ eb }) => ({ version: eb('version', '+', 1), due_at: clock.now() }));

  /** Decisions that a workspace has told of. */
  const isTold = (change: Db, workspace: string) =>
    change.selectFrom('pending_decisions').select('decision_id').where('workspace_id', '=', workspace);

  return {
    /** Writes what the account's channels get of these events, in the caller's transaction. */
    async queue(
      change: Transaction<Tables>,
      { accountId, workspaceId, workspaceName }: EventOrigin,
      events: readonly LinkedEvent[],
    ): Promise<void> {
      const now = clock.now();
      for (const { event, decision_id } of events)
        if ((event === 'approved' || event === 'denied') && typeof decision_id === 'string')
          await touch(change)
            .set({ ended: event })
            .where('workspace_id', '=', workspaceId)
            .where('decision_id', '=', decision_id)
            .execute();
      const channels = await listOpenChannels(change, accountId);
      if (channels.length === 0) return;
      const told = new Set(
        (await isTold(change, workspaceId).execute()).map(({ decision_id }) => decision_id),
      );
      const rows = events.flatMap((event) => {
        const decision = event.event === 'needs_approval' ? event.decision_id : null;
        const facts: MessageFacts = { workspace: workspaceName, event, decision: null };
        return channels
          .filter((channel) => readChannelEvents(channel).includes(event.event))
          .map(({ id }) =>
            newRow({
              channel_id: id,
              account_id: accountId,
              workspace_id: workspaceId,
              decision_id: decision,
              event: event.event,
              event_id: event.id,
              facts: JSON.stringify(facts),
              is_open: decision === null ? 0 : 1,
              due_at: decision === null || told.has(decision) ? now : now + DECISION_PATIENCE_MS,
            }),
          );
      });
      await insert(change, rows);
    },

    /** In the transaction in which a workspace has told what waits: what is shown of it may be true no longer. */
    async followDecisions(change: Transaction<Tables>, workspace: string, isAllChanged: boolean) {
      const ofWorkspace = touch(change).where('workspace_id', '=', workspace).where('is_open', '=', 1);
      await ofWorkspace
        .where('state', '=', 'waiting')
        .where('decision_id', 'in', isTold(change, workspace))
        .execute();
      const shown = ofWorkspace.where('state', '=', 'sent');
      if (isAllChanged) await shown.execute();
      else
        await shown
          .where(({ not, exists, selectFrom }) =>
            not(
              exists(
                selectFrom('pending_decisions')
                  .select('pending_decisions.decision_id')
                  .where('pending_decisions.workspace_id', '=', workspace)
                  .whereRef('pending_decisions.decision_id', '=', 'chat_messages.decision_id')
                  .whereRef('pending_decisions.hash', '=', 'chat_messages.hash'),
              ),
            ),
          )
          .execute();
    },

    /** Somebody has asked for something about a decision, or it was answered. */
    async touchDecision(workspace: string, decision: string): Promise<void> {
      await touch(db)
        .where('workspace_id', '=', workspace)
        .where('decision_id', '=', decision)
        .where('state', '=', 'sent')
        .execute();
    },

    /** Has everything looked at that may have changed while nobody looked. */
    async touchOpen(): Promise<void> {
      await touch(db).where('is_open', '=', 1).where('state', '=', 'sent').execute();
    },

    /** Puts what waits into one message where it is too much for one minute. */
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
          .executeTakeFirstOrThrow();
        if (Number(said) + waiting.length <= MOST_AT_ONCE) return;
        const crowd = await ofChannel
          .select(['id', 'facts'])
          .where('event', '=', CROWD)
          .where('state', '!=', 'dead')
          .where('created_at', '>', now - CROWD_MS)
          .orderBy('id', 'desc')
          .limit(1)
          .executeTakeFirst();
        const counts = JSON.parse(crowd?.facts ?? '{}') as CrowdFacts;
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
        const facts = JSON.stringify(counts);
        if (crowd !== undefined) {
          await touch(change).set({ facts }).where('id', '=', crowd.id).execute();
          return;
        }
        const row = newRow({
          channel_id: channel.id,
          account_id: channel.account_id,
          event: CROWD,
          event_id: '',
          facts,
        });
        await insert(change, [{ ...row, event_id: `${CROWD}-${row.id}` }]);
      });
    },

    /** A message was posted twice, since the first answer was lost: the other one is kept true as well. */
    async adopt(row: ChatMessageRow, postedId: string): Promise<void> {
      const copy = createHash('sha256').update(`${row.event_id} ${postedId}`).digest('hex');
      const { channel_id, account_id, workspace_id, decision_id, event, facts, is_open, ended } = row;
      const known = await db
        .selectFrom('chat_messages')
        .select('id')
        .where('channel_id', '=', channel_id)
        .where('posted_id', '=', postedId)
        .executeTakeFirst();
      if (known !== undefined) return;
      await insert(db, [
        newRow({
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
    },

    /** Notes what is shown now. What has changed since it was read is looked at again. */
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

    /** Gives a message up: it is not sent, or not changed any more. */
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

    /** Leaves a channel alone for a while. */
    async postpone(channel: ChatChannel, until: number, problem: string): Promise<void> {
      await db
        .updateTable('chat_channels')
        .set(({ eb }) => ({ next_at: until, tries: eb('tries', '+', 1), problem }))
        .where('id', '=', channel.id)
        .execute();
    },

    /** Nothing that waits is sent there. */
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
