import { existsSync } from 'node:fs';
import Database from 'better-sqlite3';
import { booksPath } from './schema.ts';

/** Reads the database; returns `otherwise` without one. */
export type ReadBooks = <T>(work: (db: Database.Database) => T, otherwise: T) => T;

/** Opens the gateway's database for reading, once it exists. */
export function openBooksToRead(data: string): { readBooks: ReadBooks; close(): void } {
  const path = booksPath(data);
  let opened: Database.Database | null = null;
  let isCreated = false;
  return {
    readBooks(work, otherwise) {
      if (opened === null) {
        if (!existsSync(path)) return otherwise;
        opened = new Database(path, { readonly: true, timeout: 1000 });
        opened.pragma('trusted_schema = OFF');
      }
      // A starting gateway is just creating it.
      isCreated ||= opened.pragma('user_version', { simple: true }) !== 0;
      return isCreated ? work(opened) : otherwise;
    },
    close() {
      opened?.close();
      opened = null;
      isCreated = false;
    },
  };
}
