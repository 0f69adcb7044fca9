import type { Database } from 'better-sqlite3';
import { SvcError } from '../core/base/errors.ts';
import { dataFolderRefusedError } from '../core/workspace/data-folder.ts';

/** The number of a schema after its first step; development versions before 0.1.0 used smaller numbers. */
export const FIRST_SCHEMA_NUMBER = 100;

/**
 * Returns how many steps of a schema a database has; 0 for an empty one. Throws `storage_newer`, and
 * `data_folder_unknown` for a database of a development version.
 */
export function countSchemaSteps(db: Database, path: string, steps: readonly string[]): number {
  const version = db.pragma('user_version', { simple: true }) as number;
  if (version === 0) return 0;
  if (version < FIRST_SCHEMA_NUMBER)
    throw dataFolderRefusedError(path, 'development', 'was written by a development version of svc');
  const count = version - FIRST_SCHEMA_NUMBER + 1;
  if (count > steps.length)
    throw new SvcError(
      'storage_newer',
      `${path} was written by a newer svc (schema ${version}, this one knows ${FIRST_SCHEMA_NUMBER + steps.length - 1})`,
      { hint: 'update svc' },
    );
  return count;
}

/** Applies the missing steps of a schema, each in a separate transaction. Throws as `countSchemaSteps`. */
export function applySchema(db: Database, path: string, steps: readonly string[]): void {
  const present = countSchemaSteps(db, path, steps);
  for (const [index, sql] of steps.entries()) {
    if (index < present) continue;
    db.transaction(() => {
      db.exec(sql);
      db.pragma(`user_version = ${FIRST_SCHEMA_NUMBER + index}`);
    }).immediate();
  }
}
