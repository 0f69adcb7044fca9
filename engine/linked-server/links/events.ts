import type { CompiledQuery, Kysely, Transaction } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { LinkEvent } from '../../core/link-protocol/messages.ts';
import type { OutboundEvent } from '../../notify/sending/index.ts';
import type { DeferredSync } from '../database/deferred-sync.ts';
import { createGroupWrites } from '../database/group-writes.ts';
import { type ListOrder, type ListPage, type PageWish, readListPage } from '../database/list-page.ts';
import type { LinkedWorkspace, Tables, WorkspaceEventRow } from '../database/tables.ts';
import type { TargetDeliveries } from '../deliveries/index.ts';
import type { LinkedEvent } from '../deliveries/linked-event.ts';
import type { EventOrigin } from '../deliveries/queue-deliveries.ts';
import type { WorkspaceReporter } from './workspace-tokens.ts';

/** How long events are kept: longer than a workspace repeats one. */
const KEPT_MS = 30 * 86_400_000;
const PURGE_EVERY_MS = 3600_000;

/** The maximum number of rows in a statement. */
const ROWS_AT_ONCE = 500;

/** The events of a workspace in one request. */
interface Call {
  workspace: WorkspaceReporter;
  events: readonly LinkEvent[];
}

/** The new events of a call. */
interface Kept {
  events: number;
  /** True if there is something to send now. */
  toTargets: boolean;
  toChats: boolean;
}

/** Events of workspaces. */
export interface WorkspaceEvents {
  /** Stores new events, in one transaction with their consequences, and returns their number. */
  add(workspace: WorkspaceReporter, events: readonly LinkEvent[]): Promise<number>;
  /** Lists the latest arrivals first. */
  list(workspace: string, wish?: PageWish): Promise<ListPage<LinkEvent>>;
}

/** The part of the assistant that sends events to chats. */
interface EventChats {
  /** Begins to look up the channels of an account, which `queue` needs in the same transaction. */
  expectEvents(change: Transaction<Tables>, account: string): Promise<unknown>;
  /** Writes the messages for these events, in the caller's transaction. Call `wake` after the commit. */
  queue(change: Transaction<Tables>, origin: EventOrigin, events: readonly LinkedEvent[]): Promise<boolean>;
  wake(): void;
}

const NEWEST_FIRST: ListOrder = {
  columns: { 'workspace_events.at': 'integer', 'workspace_events.id': 'text' },
  direction: 'desc',
};

/** The address where an automation decides, signed as in docs/automate/receiver.md. */
const decisionUrl = (origin: string, workspace: string, decision: string): string =>
  `${origin}/v1/decisions/${workspace}/${decision}`;

/** Builds the envelope of docs/automate/events.md, with the origin of an event and the address of its decision. */
function toEnvelope(
  { id, event, at, ...rest }: LinkEvent,
  { id: workspaceId, name }: Pick<LinkedWorkspace, 'id' | 'name'>,
  origin: string,
): LinkedEvent {
  return {
    id,
    // Targets subscribe to events by name, so an unknown name goes nowhere.
    event: event as OutboundEvent,
    at,
    workspace: name,
    ...rest,
    workspace_id: workspaceId,
    decision_url: rest.decision_id === null ? null : decisionUrl(origin, workspaceId, rest.decision_id),
  };
}

export function createWorkspaceEvents({
  db,
  deferred: { transact, sync },
  clock,
  deliveries,
  chats,
  origin,
}: {
  db: Kysely<Tables>;
  deferred: DeferredSync;
  clock: Clock;
  /** Consequences of an event: deliveries to targets and chats of the account. */
  deliveries: Pick<TargetDeliveries, 'expectEvents' | 'queueDeliveries' | 'wake'>;
  chats: EventChats;
  /** The origin of this server, for addresses. */
  origin: string;
}): WorkspaceEvents {
  let purgedAt = 0;

  /** By number of rows: building a statement takes longer than running it. */
  const inserts = new Map<number, CompiledQuery<Pick<WorkspaceEventRow, 'workspace_id' | 'id'>>>();
  function insertNew(rows: readonly WorkspaceEventRow[]) {
    const known = inserts.get(rows.length);
    if (known !== undefined) return { ...known, parameters: rows.flatMap((row) => Object.values(row)) };
    const compiled = db
      .insertInto('workspace_events')
      .values(rows)
      // A known id was sent before, by a call whose answer was lost.
      .onConflict((same) => same.doNothing())
      .returning(['workspace_id', 'id'])
      .compile();
    inserts.set(rows.length, compiled);
    return compiled;
  }

  /** Stores the events of several workspaces in one transaction. */
  async function keepEvents(calls: readonly Call[]): Promise<Kept[]> {
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
    const kept = await transact(async (change) => {
      // Without waiting for each other's answers, which for PostgreSQL is most of the time.
      const inserted = [];
      for (let at = 0; at < told.length; at += ROWS_AT_ONCE)
        inserted.push(change.executeQuery(insertNew(told.slice(at, at + ROWS_AT_ONCE))));
      const accounts = [...new Set(calls.map(({ workspace }) => workspace.account_id))];
      const looking = accounts.flatMap((account) => [
        deliveries.expectEvents(change, account),
        chats.expectEvents(change, account),
      ]);
      const [results] = await Promise.all([Promise.all(inserted), Promise.all(looking)]);
      const fresh = new Set(
        results.flatMap(({ rows }) => rows.map(({ workspace_id, id }) => `${workspace_id} ${id}`)),
      );
      const all: Kept[] = [];
      for (const { workspace, events } of calls) {
        const added = events.filter(({ id }) => fresh.delete(`${workspace.id} ${id}`));
        if (added.length === 0) {
          all.push({ events: 0, toTargets: false, toChats: false });
          continue;
        }
        const from = {
          workspaceId: workspace.id,
          workspaceName: workspace.name,
          accountId: workspace.account_id,
        };
        const news = added.map((event) => toEnvelope(event, workspace, origin));
        all.push({
          events: added.length,
          toTargets: (await deliveries.queueDeliveries(change, from, news)) > 0,
          toChats: await chats.queue(change, from, news),
        });
      }
      if (isPurgeDue)
        await change
          .deleteFrom('workspace_events')
          .where('at', '<', now - KEPT_MS)
          .execute();
      return all;
    });
    if (isPurgeDue) purgedAt = now;
    return kept;
  }
  const addTogether = createGroupWrites({ write: keepEvents, sync });

  return {
    async add(workspace, events) {
      const kept = await addTogether({ workspace, events });
      if (kept.toTargets) deliveries.wake();
      if (kept.toChats) chats.wake();
      return kept.events;
    },
    async list(workspace, wish = {}) {
      const query = db.selectFrom('workspace_events').selectAll().where('workspace_id', '=', workspace);
      const { rows, ...beside } = await readListPage(query, NEWEST_FIRST, wish);
      const told = rows.map(({ body }) => JSON.parse(body) as LinkEvent);
      // Events of one request have the same arrival time.
      return { ...beside, rows: told.sort((one, other) => other.at.localeCompare(one.at)) };
    },
  };
}
