import type { Database } from 'better-sqlite3';
import { SvcError } from '../core/base/errors.ts';
import { migrations } from './migrations/index.ts';

/** Migrates the database, each migration in a separate transaction. A newer file is refused unchanged. */
export function migrateDatabase(db: Database, path: string): void {
  const have = db.pragma('user_version', { simple: true }) as number;
  if (have > migrations.length) {
    throw new SvcError(
      'storage_newer',
      `${path} was written by a newer svc (schema ${have}, this one knows ${migrations.length})`,
      {
        hint: 'update svc, or point db.path at another file',
      },
    );
  }
  for (const [index, sql] of migrations.entries()) {
    if (index < have) continue;
    db.transaction(() => {
      db.exec(sql);
      db.pragma(`user_version = ${index + 1}`);
    }).immediate();
  }
}
