import { type Kysely, sql } from 'kysely';
import type { Clock } from '../../core/base/clock.ts';
import type { Tables } from '../database/tables.ts';
import { hashToken } from '../secrets.ts';

// PostgreSQL needs the type of a standalone value.
const bigint = (value: number) => sql<number>`CAST(${value} AS bigint)`;

/** The number of free failures, and the pauses after them. */
export interface FailureRule {
  free: number;
  /** The pause after the first penalized failure; it doubles up to `longestMs`. */
  firstMs: number;
  longestMs: number;
  /** How long without a failure until they are forgotten. */
  forgetMs: number;
}

/** Five wrong passwords of a name from one address, then a pause that doubles to a quarter of an hour. */
export const SIGN_IN_RULE: FailureRule = {
  free: 5,
  firstMs: 15_000,
  longestMs: 15 * 60_000,
  forgetMs: 60 * 60_000,
};

/** Ten wrong codes of a person or address within a quarter of an hour. */
export const CODE_RULE: FailureRule = {
  free: 10,
  firstMs: 15 * 60_000,
  longestMs: 15 * 60_000,
  forgetMs: 15 * 60_000,
};

/** Counts failed attempts, by key. Stored in the database, so that a restart resets nothing. */
export interface FailureCounter {
  /**
   * Counts an attempt before it is made, so that concurrent ones are all counted; returns the waiting time if it is
   * not allowed, ms, otherwise 0.
   */
  begin(key: string, rule: FailureRule): Promise<number>;
  /** The attempt was right: all earlier ones are forgotten. */
  forgive(key: string): Promise<void>;
  /** The attempt was right: it does not count, but earlier ones do. */
  takeBack(key: string): Promise<void>;
  /** Removes expired counts of those who have not come back. */
  clean(): Promise<void>;
}

/** Longer than any rule remembers, and than any pause. */
const KEPT_MS = 24 * 3600_000;

export function createFailureCounter({ db, clock }: { db: Kysely<Tables>; clock: Clock }): FailureCounter {
  return {
    async begin(key, { free, firstMs, longestMs, forgetMs }) {
      const now = clock.now();
      const hash = hashToken(key);
      await db
        .deleteFrom('failures')
        .where('key', '=', hash)
        .where((where) =>
          where.or([
            where.and([where('last_at', '<', now - forgetMs), where('refused_until', '<=', now)]),
            // The clock was set back: no one waits longer than the rule allows.
            where('refused_until', '>', now + longestMs),
          ]),
        )
        .execute();
      const steps = Math.ceil(Math.log2(longestMs / firstMs));
      const after = sql<number>`CAST(failures.failures + 1 - ${bigint(free)} AS integer)`;
      // One statement, so that concurrent attempts are counted one by one.
      const counted = await db
        .insertInto('failures')
        .values({ key: hash, failures: 1, refused_until: free > 1 ? 0 : now + firstMs, last_at: now })
        .onConflict((same) =>
          same
            .column('key')
            .doUpdateSet({
              failures: sql<number>`failures.failures + 1`,
              last_at: now,
              refused_until: sql<number>`CASE WHEN ${after} < 0 THEN 0
                WHEN ${after} >= ${sql.lit(steps)} THEN ${bigint(now + longestMs)}
                ELSE ${bigint(now)} + (${bigint(firstMs)} << ${after}) END`,
            })
            .where('failures.refused_until', '<=', now),
        )
        .returning('failures')
        .executeTakeFirst();
      if (counted !== undefined) return 0;
      const kept = await db
        .selectFrom('failures')
        .select('refused_until')
        .where('key', '=', hash)
        .executeTakeFirst();
      return Math.max(1, (kept?.refused_until ?? now) - now);
    },
    async takeBack(key) {
      await db
        .updateTable('failures')
        .set(({ eb }) => ({ failures: eb('failures', '-', 1), refused_until: 0 }))
        .where('key', '=', hashToken(key))
        .where('failures', '>', 0)
        .execute();
    },
    async clean() {
      const now = clock.now();
      await db
        .deleteFrom('failures')
        .where('last_at', '<', now - KEPT_MS)
        .execute();
    },
    async forgive(key) {
      await db.deleteFrom('failures').where('key', '=', hashToken(key)).execute();
    },
  };
}
