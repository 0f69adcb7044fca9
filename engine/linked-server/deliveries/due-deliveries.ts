import type { Kysely } from 'kysely';
import type { Tables, TargetDeliveryRow, TargetRow } from '../database/tables.ts';

/** Finds the deliveries that may be sent, and when. */
export function createDueDeliveries(db: Kysely<Tables>) {
  /** Lists active targets: enabled, and not paused. */
  const open = db.selectFrom('targets').where('is_on', '=', 1).where('paused_at', 'is', null);

  return {
    /** Lists ids of targets with due deliveries. */
    async listDueTargets(now: number): Promise<string[]> {
      const rows = await open
        .select('targets.id')
        .where(({ exists, selectFrom }) =>
          exists(
            selectFrom('deliveries')
              .select('deliveries.id')
              .whereRef('deliveries.target_id', '=', 'targets.id')
              .where('deliveries.state', '=', 'waiting')
              .where('deliveries.next_at', '<=', now),
          ),
        )
        .execute();
      return rows.map(({ id }) => id);
    },

    /** Returns when something is due next after `now`; null for nothing. */
    async findNextDue(now: number): Promise<number | null> {
      const rows = await open
        .select(({ selectFrom }) =>
          selectFrom('deliveries')
            .select(({ fn }) => fn.min('deliveries.next_at').as('at'))
            .whereRef('deliveries.target_id', '=', 'targets.id')
            .where('deliveries.state', '=', 'waiting')
            .where('deliveries.next_at', '>', now)
            .as('at'),
        )
        .execute();
      const times = rows.flatMap(({ at }) => (at === null ? [] : [Number(at)]));
      return times.length === 0 ? null : Math.min(...times);
    },

    /** Finds the next sendable delivery of a target. */
    async findDue(
      target: string,
      now: number,
    ): Promise<{ target: TargetRow; delivery: TargetDeliveryRow } | null> {
      const found = await open.selectAll().where('id', '=', target).executeTakeFirst();
      if (found === undefined) return null;
      const delivery = await db
        .selectFrom('deliveries')
        .selectAll()
        .where('target_id', '=', target)
        .where('state', '=', 'waiting')
        .where('next_at', '<=', now)
        .orderBy('next_at')
        .orderBy('id')
        .limit(1)
        .executeTakeFirst();
      return delivery === undefined ? null : { target: found, delivery };
    },
  };
}
