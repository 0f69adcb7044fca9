import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** Columns of a table by name: `text`, `integer`, and with `?` nullable. */
type Columns = Record<string, 'text' | 'integer' | 'text?' | 'integer?'>;

/** Creates a table that works in SQLite and PostgreSQL; rows that `refers` to a row are deleted with it. */
export async function createTable(
  db: Kysely<Tables>,
  name: string,
  columns: Columns,
  { key, unique = [], refers = {} }: { key: string[]; unique?: string[]; refers?: Record<string, string> },
): Promise<void> {
  let table = db.schema.createTable(name);
  for (const [column, kind] of Object.entries(columns)) {
    // PostgreSQL's integer ends in 2038.
    const type = kind.startsWith('text') ? 'text' : 'bigint';
    table = table.addColumn(column, type, (made) => {
      const bound = kind.endsWith('?') ? made : made.notNull();
      const other = refers[column];
      return other === undefined ? bound : bound.references(`${other}.id`).onDelete('cascade');
    });
  }
  table = table.addPrimaryKeyConstraint(`${name}_key`, key as never[]);
  for (const column of unique) table = table.addUniqueConstraint(`${name}_${column}`, [column] as never[]);
  await table.execute();
  // An index for deletions by owner.
  for (const column of Object.keys(refers))
    await db.schema.createIndex(`${name}_by_${column}`).on(name).column(column).execute();
}
