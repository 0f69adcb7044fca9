import type { Kysely } from 'kysely';
import type { Clock } from '../../base/clock.ts';
import type { LinkEvent } from '../../http/link-protocol.ts';
import type { OutboundEvent } from '../../notify/sending/index.ts';
import { createGroupWrites } from '../database/group-writes.ts';
import type { LinkedWorkspace, Tables } from '../database/tables.ts';
import type { Deliveries, LinkedEvent } from '../deliveries/index.ts';

/** Events are kept so long: longer than a workspace sends one again. */
const KEPT_MS = 30 * 86_400_000;
const PURGE_EVERY_MS = 3600_000;

/** A statement takes so many rows at most. */
const ROWS_AT_ONCE = 500;

/** What one workspace tells in one request. */
interface Call {
  workspace: LinkedWorkspace;
  events: readonly LinkEvent[];
}

/** What workspaces have told. */
export interface WorkspaceEvents {
  /** Keeps those that are new, in one transaction with what follows from them, and says how many. */
  add(workspace: LinkedWorkspace, events: readonly LinkEvent[]): Promise<number>;
  /** The newest first. */
  list(workspace: string, limit: number): Promise<LinkEvent[]>;
}

/** The envelope of docs/events.md, which says where an event comes from. */
function toEnvelope({ id, event, at, ...rest }: LinkEvent, workspace: string): LinkedEvent {
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

  /** Keeps what several workspaces tell, in one transaction; how many were new of each. */
  async function keep(calls: readonly Call[]): Promise<number[]> {
    const now = clock.now();
    const isPurgeDue = now - purgedAt > PURGE_EVERY_MS;
    const told = calls.flatMap(({ workspace, events }) =>
      events.map((event) => ({
        workspace_id: workspace.id,
        id: event.id,
        at: now,
        body: JSON.stringify(event),
      })),
    );
    let queued = 0;
    const counts = await db.transaction().execute(async (change) => {
      const fresh = new Set<string>();
      for (let at = 0; at < told.length; at += ROWS_AT_ONCE) {
        const kept = await change
          .insertInto('workspace_events')
          .values(told.slice(at, at + ROWS_AT_ONCE))
          // A known id was told before, by a call whose answer was lost.
          .onConflict((same) => same.doNothing())
          .returning(['workspace_id', 'id'])
          .execute();
        for (const { workspace_id, id } of kept) fresh.add(`${workspace_id} ${id}`);
      }
      const counted: number[] = [];
      for (const { workspace, events } of calls) {
        const kept = events.filter(({ id }) => fresh.delete(`${workspace.id} ${id}`));
        counted.push(kept.length);
        queued += await deliveries.queueDeliveries(
          change,
          { workspaceId: workspace.id, workspaceName: workspace.name, accountId: workspace.account_id },
          kept.map((event) => toEnvelope(event, workspace.name)),
        );
      }
      if (isPurgeDue)
        await change
          .deleteFrom('workspace_events')
          .where('at', '<', now - KEPT_MS)
          .execute();
      return counted;
    });
    if (isPurgeDue) purgedAt = now;
    if (queued > 0) deliveries.wake();
    return counts;
  }
  const addTogether = createGroupWrites(keep);

  return {
    add(workspace, events) {
      return addTogether({ workspace, events });
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
