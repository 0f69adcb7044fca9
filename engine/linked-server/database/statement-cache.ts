import type { Database, Statement } from 'better-sqlite3';
import type { SqliteDatabase } from 'kysely';
import { mayChangeTokens, type TokenChanges } from './token-changes.ts';

/** More statements than the server has; lists of values create variants. */
const MOST_KEPT = 500;

interface Kept {
  statement: Statement<unknown[]>;
  mayChangeTokens: boolean;
}

/** The database for kysely, which would compile each statement at every call. Each statement runs as soon as it is executed. */
export function keepStatements(database: Database, tokenChanges: TokenChanges): SqliteDatabase {
  const kept = new Map<string, Kept>();
  return {
    close: () => void database.close(),
    prepare(sql) {
      const known = kept.get(sql);
      // The newest are at the end.
      if (known !== undefined) kept.delete(sql);
      const used = known ?? {
        statement: database.prepare<unknown[]>(sql),
        mayChangeTokens: mayChangeTokens(sql),
      };
      kept.set(sql, used);
      if (used.mayChangeTokens) tokenChanges.count += 1;
      if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value ?? '');
      return used.statement as ReturnType<SqliteDatabase['prepare']>;
    },
  };
}
