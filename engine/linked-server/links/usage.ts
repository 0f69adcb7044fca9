import type { Kysely } from 'kysely';
import { type Clock, rfc3339 } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import {
  addDayCounts,
  type DayCounts,
  KEPT_TELEMETRY_DAYS,
  makeDayCounts,
  type TelemetryDay,
} from '../../core/link-protocol/telemetry-day.ts';
import type { ChangeLog } from '../change-log.ts';
import type { LinkedWorkspace, Tables } from '../database/tables.ts';

const DAY_MS = 86_400_000;

/** Counts of a UTC day, of one or more workspaces. */
export interface UsageDay {
  /** `2026-11-22`. */
  day: string;
  counts: DayCounts;
  /** How many workspaces have reported it. */
  workspaces: number;
}

/** Daily figures of workspaces. */
export interface WorkspaceUsage {
  /** Replaces what the workspace has reported for that day. Throws `fields_invalid` for a day that is not kept. */
  put(workspace: LinkedWorkspace, day: TelemetryDay): Promise<void>;
  /** Returns the last days of an account, including today, each with its workspaces' figures; oldest first, with empty days. */
  list(account: string, days: number): Promise<UsageDay[]>;
  /** Returns the same for all accounts together. */
  listTotals(days: number): Promise<UsageDay[]>;
  /** Deletes the figures of a workspace. */
  deleteOfWorkspace(workspace: LinkedWorkspace): Promise<void>;
  /** Deletes the figures of all workspaces of an account, and returns the number of rows. */
  deleteOfAccount(account: string, actor: string): Promise<number>;
}

export function createUsage({
  db,
  clock,
  changes,
  eraseDeleted,
}: {
  db: Kysely<Tables>;
  clock: Clock;
  changes: ChangeLog;
  eraseDeleted(): Promise<void>;
}): WorkspaceUsage {
  const dayBefore = (days: number): string => rfc3339(clock.now() - days * DAY_MS).slice(0, 10);

  async function listDays(account: string | null, days: number): Promise<UsageDay[]> {
    const rows = await db
      .selectFrom('usage_days')
      .select(['day', 'body'])
      .where('day', '>=', dayBefore(days - 1))
      .$if(account !== null, (query) => query.where('account_id', '=', account!))
      .execute();
    const listed = new Map<string, UsageDay>();
    for (let back = days - 1; back >= 0; back -= 1) {
      const day = dayBefore(back);
      listed.set(day, { day, counts: makeDayCounts(), workspaces: 0 });
    }
    for (const { day, body } of rows) {
      const sum = listed.get(day);
      // A clock that is ahead may have reported tomorrow.
      if (sum === undefined) continue;
      addDayCounts(sum.counts, JSON.parse(body) as TelemetryDay);
      sum.workspaces += 1;
    }
    return [...listed.values()];
  }

  return {
    async put({ id, account_id }, told) {
      // Future days would never be shown or removed.
      if (told.day > dayBefore(-1) || told.day <= dayBefore(KEPT_TELEMETRY_DAYS))
        throw new SvcError('fields_invalid', `day: not one of the last ${KEPT_TELEMETRY_DAYS} days`);
      const facts = { body: JSON.stringify(told), received_at: clock.now() };
      await db
        .insertInto('usage_days')
        .values({ workspace_id: id, account_id, day: told.day, ...facts })
        .onConflict((same) => same.columns(['workspace_id', 'day']).doUpdateSet(facts))
        .execute();
    },
    list: listDays,
    listTotals: (days) => listDays(null, days),
    async deleteOfWorkspace({ id, account_id, name }) {
      const entry = { account: account_id, actor: name, what: 'usage deleted', detail: name };
      await changes.make(entry, (change) =>
        change.deleteFrom('usage_days').where('workspace_id', '=', id).execute(),
      );
      await eraseDeleted();
    },
    async deleteOfAccount(account, actor) {
      const count = await db.transaction().execute(async (change) => {
        const { numDeletedRows } = await change
          .deleteFrom('usage_days')
          .where('account_id', '=', account)
          .executeTakeFirstOrThrow();
        const entry = { account, actor, what: 'usage deleted', detail: 'of all workspaces' };
        if (Number(numDeletedRows) > 0) await changes.record(change, entry);
        return Number(numDeletedRows);
      });
      await eraseDeleted();
      return count;
    },
  };
}
