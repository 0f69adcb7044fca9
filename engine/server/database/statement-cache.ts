import type { Database, Statement } from 'better-sqlite3';
import type { SqliteDatabase } from 'kysely';

/** More texts than the server has; lists of values make some of their own. */
const MOST_KEPT = 500;

/** The database as kysely uses it, which would compile each statement anew at every call. */
export function keepStatements(database: Database): SqliteDatabase {
  const kept = new Map<string, Statement<unknown[]>>();
  return {
    close: () => void database.close(),
    prepare(sql) {
      const known = kept.get(sql);
      // The newest are at the end.
      if (known !== undefined) kept.delete(sql);
      const statement = known ?? database.prepare<unknown[]>(sql);
      kept.set(sql, statement);
      if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value ?? '');
      return statement as ReturnType<SqliteDatabase['prepare']>;
    },
  };
}
