import type { Kysely } from 'kysely';
import type { Clock } from '../../base/clock.ts';
import type { LinkEvent } from '../../http/link-protocol.ts';
import type { Envelope, OutboundEvent } from '../../notify/sending/index.ts';
import type { LinkedWorkspace, Tables } from '../database/tables.ts';
import type { Deliveries } from '../deliveries/index.ts';

/** Events are kept so long: longer than a workspace sends one again. */
const KEPT_MS = 30 * 86_400_000;
const PURGE_EVERY_MS = 3600_000;

/** What workspaces have told. */
export interface WorkspaceEvents {
  /** Keeps those that are new, in one transaction with what follows from them, and says how many. */
  add(workspace: LinkedWorkspace, events: readonly LinkEvent[]): Promise<number>;
  /** The newest first. */
  list(workspace: string, limit: number): Promise<LinkEvent[]>;
}

/** The envelope of docs/events.md, which says where an event comes from. */
function toEnvelope({ id, event, at, ...rest }: LinkEvent, workspace: string): Envelope {
  // Targets ask for events by name, so one of an unknown name goes nowhere.
  return { id, event: event as OutboundEvent, at, workspace, ...rest };
}

export function createWorkspaceEvents({
  db,
  clock,
  deliveries,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  /** What follows from an event: what targets of the account get of it. */
  deliveries: Pick<Deliveries, 'queueDeliveries' | 'wake'>;
}): WorkspaceEvents {
  let purgedAt = 0;

  return {
    async add(workspace, events) {
      const now = clock.now();
      const isPurgeDue = now - purgedAt > PURGE_EVERY_MS;
      if (isPurgeDue) purgedAt = now;
      const count = await db.transaction().execute(async (trx) => {
        const kept = await trx
          .insertInto('workspace_events')
          .values(
            events.map((event) => ({
              workspace_id: workspace.id,
              id: event.id,
              at: now,
              body: JSON.stringify(event),
            })),
          )
          // A known id was told before, by a call whose answer was lost.
          .onConflict((same) => same.doNothing())
          .returning('id')
          .execute();
        const fresh = new Set(kept.map(({ id }) => id));
        await deliveries.queueDeliveries(
          trx,
          { workspaceId: workspace.id, workspaceName: workspace.name, accountId: workspace.account_id },
          events.filter(({ id }) => fresh.has(id)).map((event) => toEnvelope(event, workspace.name)),
        );
        if (isPurgeDue)
          await trx
            .deleteFrom('workspace_events')
            .where('at', '<', now - KEPT_MS)
            .execute();
        return kept.length;
      });
      if (count > 0) deliveries.wake();
      return count;
    },
    async list(workspace, limit) {
      const rows = await db
        .selectFrom('workspace_events')
        .select('body')
        .where('workspace_id', '=', workspace)
        .orderBy('at', 'desc')
        .limit(limit)
        .execute();
      const events = rows.map(({ body }) => JSON.parse(body) as LinkEvent);
      return events.sort((one, other) => other.at.localeCompare(one.at));
    },
  };
}
