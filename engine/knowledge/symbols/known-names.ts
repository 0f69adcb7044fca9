import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readGraphFile } from './store/graph-file.ts';

/**
 * Returns the names that no existing index of the workspace's projects knows; null if no index is readable. Never
 * creates or updates an index.
 */
export function listUnknownNames(folder: string, names: readonly string[]): string[] | null {
  const files = existsSync(folder)
    ? readdirSync(folder).filter((name) => /^(?:workspace|project-.*)\.db$/.test(name))
    : [];
  let unknown: string[] | null = null;
  for (const file of files) {
    const found = readNames(join(folder, file), names);
    if (found !== null) unknown = (unknown ?? [...names]).filter((name) => !found.has(name));
  }
  return unknown;
}

const readNames = (path: string, names: readonly string[]): Set<string> | null =>
  readGraphFile(path, (db) => {
    // Before the first file is read an index knows nothing.
    if (db.prepare('SELECT 1 FROM symbol LIMIT 1').get() === undefined) return null;
    const found = db
      .prepare<unknown[], string>(
        'SELECT DISTINCT name FROM symbol WHERE name IN (SELECT value FROM json_each(?))',
      )
      .pluck()
      .all(JSON.stringify(names));
    return new Set(found);
  });
