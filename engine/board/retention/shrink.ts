import type { Storage } from '../../storage/index.ts';
import type { PacedWriter } from './pace.ts';

/** Pages that are returned to the file system in one transaction. */
const PAGES_AT_ONCE = 32;

/** Creates the shrinking of the database file. */
export function createDatabaseShrinker(storage: Storage, isClosed: () => boolean) {
  const { db } = storage;
  const readPragma = (name: string): number => Number(db.pragma(name, { simple: true }));
  const measureDatabase = (): number => readPragma('page_count') * readPragma('page_size');
  const canShrink = (): boolean => readPragma('auto_vacuum') === 2;

  /** Returns free pages, few at a time. */
  async function shrinkDatabase(writer: PacedWriter): Promise<void> {
    while (canShrink() && !isClosed() && readPragma('freelist_count') > 0) {
      const begun = performance.now();
      await storage.write(() => db.pragma(`incremental_vacuum(${PAGES_AT_ONCE})`));
      await writer.rest(performance.now() - begun);
    }
  }

  return { measureDatabase, canShrink, shrinkDatabase };
}
