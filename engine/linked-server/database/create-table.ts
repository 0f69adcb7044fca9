import type { Kysely } from 'kysely';
import type { Tables } from './tables.ts';

/** A table that works in SQLite and PostgreSQL. */
export interface TableDefinition {
  name: string;
  /** By name; `?` is nullable. */
  columns: Record<string, 'text' | 'integer' | 'text?' | 'integer?'>;
  /** The primary key. */
  key: string[];
  /** Columns whose values are unique. */
  unique?: string[];
  /** Columns with the id of a row in another table; a row is deleted with the one that it refers to. */
  refers?: Record<string, string>;
  uniqueIndexes?: Record<string, string[]>;
  indexes?: Record<string, string[]>;
}

export async function createTable(db: Kysely<Tables>, definition: TableDefinition): Promise<void> {
  const { name, columns, key, unique = [], refers = {}, uniqueIndexes = {}, indexes = {} } = definition;
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
  for (const [index, on] of Object.entries(uniqueIndexes))
    await db.schema.createIndex(index).on(name).columns(on).unique().execute();
  // Deletions by owner need an index that starts with its column.
  const found = [key, ...Object.values(uniqueIndexes), ...Object.values(indexes)].map(([first]) => first);
  const byOwner = Object.keys(refers).filter((column) => !found.includes(column));
  const all = { ...indexes, ...Object.fromEntries(byOwner.map((each) => [`${name}_by_${each}`, [each]])) };
  for (const [index, on] of Object.entries(all))
    await db.schema.createIndex(index).on(name).columns(on).execute();
}
