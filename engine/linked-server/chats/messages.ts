import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { askOncePerAccount } from '../database/ask-once.ts';
import type { ChatChannel, Tables } from '../database/tables.ts';
import type { LinkedEvent } from '../deliveries/linked-event.ts';
import type { EventOrigin } from '../deliveries/queue-deliveries.ts';
import { readChannelEvents } from './channels.ts';
import type { MessageDatabase, MessageFacts, MessageRows } from './message-rows.ts';

/** How long to wait for an unknown decision; then the event is sent without buttons. */
const DECISION_PATIENCE_MS = 30_000;

export type ChatMessages = ReturnType<typeof createMessages>;

/** Returns a function that lists an account's channels that have a running bot and receive events. */
function createOpenChannelList(db: Kysely<Tables>, clock: Clock) {
  const openChannels = db
    .selectFrom('chat_channels')
    .selectAll()
    .where('account_id', '=', '')
    .where('muted_until', '<=', 0)
    .where(({ exists, selectFrom }) =>
      exists(selectFrom('bots').select('bots.kind').whereRef('bots.kind', '=', 'chat_channels.kind')),
    )
    .compile();
  return askOncePerAccount(
    async (change, account) =>
      (await change.executeQuery<ChatChannel>({ ...openChannels, parameters: [account, clock.now()] })).rows,
  );
}

/** Keeps track of messages to send, and messages that may have to change. */
export function createMessages({ db, clock, rows }: { db: Kysely<Tables>; clock: Clock; rows: MessageRows }) {
  const { touch } = rows;

  const listOpenChannels = createOpenChannelList(db, clock);

  /** Lists decisions that a workspace has reported. */
  const isTold = (change: MessageDatabase, workspace: string) =>
    change.selectFrom('pending_decisions').select('decision_id').where('workspace_id', '=', workspace);

  return {
    /** Begins to look up the channels of an account, which `queue` needs in the same transaction. */
    expectEvents: (change: Transaction<Tables>, account: string): Promise<unknown> =>
      listOpenChannels(change, account),

    /** Writes the messages for these events, in the caller's transaction, and reports whether there are any. */
    async queue(
      change: Transaction<Tables>,
      { accountId, workspaceId, workspaceName }: EventOrigin,
      events: readonly LinkedEvent[],
    ): Promise<boolean> {
      const now = clock.now();
      let touched = 0n;
      for (const { event, decision_id } of events) {
        if ((event !== 'approved' && event !== 'denied') || typeof decision_id !== 'string') continue;
        const { numUpdatedRows } = await touch(change)
          .set({ ended: event })
          .where('workspace_id', '=', workspaceId)
          .where('decision_id', '=', decision_id)
          .executeTakeFirstOrThrow();
        touched += numUpdatedRows;
      }
      const channels = await listOpenChannels(change, accountId);
      if (channels.length === 0) return touched > 0n;
      const told = new Set(
        (await isTold(change, workspaceId).execute()).map(({ decision_id }) => decision_id),
      );
      const added = events.flatMap((event) => {
        const decision = event.event === 'needs_approval' ? event.decision_id : null;
        const facts: MessageFacts = { workspace: workspaceName, event, decision: null };
        return channels
          .filter((channel) => readChannelEvents(channel).includes(event.event))
          .map(({ id }) =>
            rows.make({
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
      await rows.insert(change, added);
      return touched > 0n || added.length > 0;
    },

    /** Called in the transaction in which a workspace reports its pending decisions: shown messages may be outdated. */
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

    /** Called when a command about a decision was requested or answered. */
    async touchDecision(workspace: string, decision: string): Promise<void> {
      await touch(db)
        .where('workspace_id', '=', workspace)
        .where('decision_id', '=', decision)
        .where('state', '=', 'sent')
        .execute();
    },

    /** Schedules a check of everything that may have changed while no process was running. */
    async touchOpen(): Promise<void> {
      await touch(db).where('is_open', '=', 1).where('state', '=', 'sent').execute();
    },
  };
}
