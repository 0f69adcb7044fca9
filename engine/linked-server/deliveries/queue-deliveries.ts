import type { Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import { askOncePerAccount } from '../database/ask-once.ts';
import type { Tables, TargetDeliveryRow, TargetRow } from '../database/tables.ts';
import { readWorkspaces } from './chosen-workspaces.ts';
import type { LinkedEvent } from './linked-event.ts';
import { readEvents } from './targets.ts';

/** The maximum number of values in a statement. */
const ROWS_AT_ONCE = 500;

export interface EventOrigin {
  workspaceId: string;
  workspaceName: string;
  accountId: string;
}

/**
 * Writes the deliveries for these events, in the caller's transaction. Skips events that a target already has.
 * Returns their number: call `wake` after the commit if there are any.
 */
export type QueueDeliveries = (
  change: Transaction<Tables>,
  origin: EventOrigin,
  events: readonly LinkedEvent[],
) => Promise<number>;

export interface DeliveryQueue {
  /** Begins to look up the targets of an account, which `queueDeliveries` needs in the same transaction. */
  expectEvents(change: Transaction<Tables>, account: string): Promise<unknown>;
  queueDeliveries: QueueDeliveries;
}

export function createDeliveryQueue({
  db,
  clock,
  newestId,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  newestId: number;
}): DeliveryQueue {
  let lastId = newestId;
  const openTargets = db
    .selectFrom('targets')
    .selectAll()
    .where('is_on', '=', 1)
    .where('account_id', '=', '')
    .compile();
  const listOpenTargets = askOncePerAccount(
    async (change, account) =>
      (await change.executeQuery<TargetRow>({ ...openTargets, parameters: [1, account] })).rows,
  );

  const queueDeliveries: QueueDeliveries = async (change, origin, events) => {
    if (events.length === 0) return 0;
    const { accountId, workspaceId, workspaceName } = origin;
    const targets = await listOpenTargets(change, accountId);
    if (targets.length === 0) return 0;
    const now = clock.now();
    const rows = events.flatMap((event) =>
      targets
        .filter((target) => {
          const chosen = readWorkspaces(target);
          return (
            readEvents(target).includes(event.event) && (chosen === null || chosen.includes(workspaceId))
          );
        })
        .map(({ id }): TargetDeliveryRow => {
          lastId += 1;
          return {
            id: lastId,
            target_id: id,
            account_id: accountId,
            workspace_id: workspaceId,
            workspace: workspaceName,
            event: event.event,
            message_id: event.id,
            body: JSON.stringify(event),
            state: 'waiting',
            tries: 0,
            created_at: now,
            first_at: now,
            next_at: now,
            tried_at: null,
            last_status: null,
            last_ms: null,
            last_error: null,
          };
        }),
    );
    for (let at = 0; at < rows.length; at += ROWS_AT_ONCE)
      await change
        .insertInto('deliveries')
        .values(rows.slice(at, at + ROWS_AT_ONCE))
        .onConflict((same) => same.columns(['target_id', 'message_id']).doNothing())
        .execute();
    return rows.length;
  };
  return { expectEvents: listOpenTargets, queueDeliveries };
}
