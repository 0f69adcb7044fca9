import { type Kysely, sql } from 'kysely';
import { laterBy } from '../database/later-by.ts';
import { type ListOrder, type ListPage, type PageWish, readListPage } from '../database/list-page.ts';
import type {
  PauseReason,
  Tables,
  TargetDeliveryRow,
  TargetDeliveryState,
  TargetRow,
} from '../database/tables.ts';
import { createDueDeliveries } from './due-deliveries.ts';

// The rows of deliveries, and the choice of the next one.

/** The result of an attempt. */
export interface TargetResult {
  state: TargetDeliveryState;
  nextAt: number;
  triedAt: number;
  status: number | null;
  ms: number;
  error: string | null;
  /** The effect on the target: its failures are cleared, or continue. */
  target: { failingSince: number | null; pausedAt: number | null; pausedWhy: PauseReason | null };
}

/** A delivery as pages list it. */
export type ListedDelivery = TargetDeliveryRow & {
  target_name: string;
  target: Pick<TargetRow, 'kind' | 'is_on' | 'paused_why'>;
};

const NEWEST_FIRST: ListOrder = { columns: { 'deliveries.id': 'integer' }, direction: 'desc' };

export type TargetOutbox = ReturnType<typeof createOutbox>;

export function createOutbox(db: Kysely<Tables>) {
  return {
    ...createDueDeliveries(db),
    async newestId(): Promise<number> {
      const { newest } = await db
        .selectFrom('deliveries')
        .select(({ fn }) => fn.max('id').as('newest'))
        .executeTakeFirstOrThrow();
      return Number(newest ?? 0);
    },

    /** Extends a target's deadlines by the time in which nothing was tried. */
    async postponeEnd({ id, failing_since }: TargetRow, idle: number, now: number): Promise<void> {
      await db.transaction().execute(async (change) => {
        await change
          .updateTable('deliveries')
          .set({ first_at: laterBy('first_at', idle, now) })
          .where('target_id', '=', id)
          .where('state', '=', 'waiting')
          .execute();
        if (failing_since === null) return;
        await change
          .updateTable('targets')
          .set({ failing_since: Math.min(now, failing_since + idle) })
          .where('id', '=', id)
          .execute();
      });
    },

    /**
     * Records an attempt; ignored if the delivery was settled or removed in the meantime, or for a target whose
     * address was changed: a different one has answered.
     */
    async settle({ id }: TargetDeliveryRow, target: TargetRow, settled: TargetResult): Promise<void> {
      const { failingSince, pausedAt, pausedWhy } = settled.target;
      await db.transaction().execute(async (change) => {
        const { numUpdatedRows } = await change
          .updateTable('deliveries')
          .set({
            state: settled.state,
            next_at: settled.nextAt,
            tried_at: settled.triedAt,
            last_status: settled.status,
            last_ms: settled.ms,
            last_error: settled.error,
            tries: sql<number>`tries + 1`,
          })
          .where('id', '=', id)
          .where('state', '=', 'waiting')
          .executeTakeFirst();
        if (Number(numUpdatedRows) === 0) return;
        await change
          .updateTable('targets')
          .set({ failing_since: failingSince, paused_at: pausedAt, paused_why: pausedWhy })
          .where('id', '=', target.id)
          .where('url', '=', target.url)
          .execute();
      });
    },

    /** Lists deliveries, newest first, of one target if it is named. */
    async list(
      account: string,
      { target = null, ...wish }: PageWish & { target?: string | null } = {},
    ): Promise<ListPage<ListedDelivery>> {
      let found = db
        .selectFrom('deliveries')
        .innerJoin('targets', 'targets.id', 'deliveries.target_id')
        .selectAll('deliveries')
        .select(['targets.name as target_name', 'targets.kind', 'targets.is_on', 'targets.paused_why'])
        .where('deliveries.account_id', '=', account);
      if (target !== null) found = found.where('deliveries.target_id', '=', target);
      const { rows, ...beside } = await readListPage(found, NEWEST_FIRST, wish);
      return {
        ...beside,
        rows: rows.map(({ kind, is_on, paused_why, ...row }) => ({
          ...row,
          target: { kind, is_on, paused_why },
        })),
      };
    },

    /** Sends a delivery again now, under its id; false if the account has no such delivery. */
    async sendAgain(id: number, account: string, now: number): Promise<boolean> {
      const { numUpdatedRows } = await db
        .updateTable('deliveries')
        .set({ state: 'waiting', first_at: now, next_at: now })
        .where('id', '=', id)
        .where('account_id', '=', account)
        .executeTakeFirst();
      return Number(numUpdatedRows) > 0;
    },
  };
}
