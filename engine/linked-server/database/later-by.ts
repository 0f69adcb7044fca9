import { type RawBuilder, sql } from 'kysely';

/** Returns a column's time plus an offset, but not after now. In Unix ms. */
export function laterBy(column: string, ms: number, now: number): RawBuilder<number> {
  const time = sql.ref<number>(column);
  return sql`CASE WHEN ${time} < ${now - ms} THEN ${time} + ${ms} ELSE ${now} END`;
}
