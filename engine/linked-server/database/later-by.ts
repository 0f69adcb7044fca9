import { type RawBuilder, sql } from 'kysely';

/** The time that a column has, later by so long, but not after now. In Unix ms. */
export function laterBy(column: string, ms: number, now: number): RawBuilder<number> {
  const time = sql.ref<number>(column);
  return sql`CASE WHEN ${time} < ${now - ms} THEN ${time} + ${ms} ELSE ${now} END`;
}
