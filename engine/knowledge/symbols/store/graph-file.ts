import { rmSync } from 'node:fs';
import Database from 'better-sqlite3';

/** The required version of a graph.db; any other is rebuilt. Increase it with the tables, the facts or the resolution. */
export const GRAPH_VERSION = 11;

export type GraphDatabase = Database.Database;

const TABLES = `
  CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE,
    language TEXT NOT NULL,
    hash TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime REAL NOT NULL,
    -- ok, or why there is nothing of it: a reason of SKIP_REASONS, slow or failed.
    state TEXT NOT NULL,
    errors INTEGER NOT NULL,
    unresolved INTEGER NOT NULL DEFAULT 0,
    -- Its references are to be resolved.
    is_dirty INTEGER NOT NULL DEFAULT 1,
    -- Whether the project's compiler has seen it as it is now: 0 no, 1 yes, 2 it does not have it.
    exact INTEGER NOT NULL DEFAULT 0,
    -- What it declares, and what it refers to; compressed JSON.
    facts BLOB,
    refs BLOB
  );
  CREATE INDEX file_dirty ON file (is_dirty) WHERE is_dirty = 1;
  CREATE TABLE symbol (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    file INTEGER NOT NULL,
    place INTEGER NOT NULL,
    name TEXT NOT NULL,
    qualified TEXT NOT NULL,
    kind TEXT NOT NULL,
    parent INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    signature TEXT NOT NULL,
    doc TEXT,
    is_exported INTEGER NOT NULL
  );
  CREATE INDEX symbol_file ON symbol (file, place);
  CREATE INDEX symbol_name ON symbol (name);
  CREATE VIRTUAL TABLE symbol_text USING fts5 (name, content='', contentless_delete=1, tokenize='trigram', detail='none');
  CREATE TABLE edge (
    from_symbol INTEGER NOT NULL,
    to_symbol INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    line INTEGER NOT NULL,
    confidence INTEGER NOT NULL,
    strategy INTEGER NOT NULL,
    candidates INTEGER NOT NULL,
    from_file INTEGER NOT NULL,
    PRIMARY KEY (from_symbol, to_symbol, kind)
  ) WITHOUT ROWID;
  CREATE INDEX edge_to ON edge (to_symbol);
  CREATE INDEX edge_file ON edge (from_file);
  -- What a file's edges depend on: a name of another file, a name anywhere (0), a module's path (-1).
  CREATE TABLE dependency (
    on_file INTEGER NOT NULL,
    name INTEGER NOT NULL,
    file INTEGER NOT NULL,
    PRIMARY KEY (on_file, name, file)
  ) WITHOUT ROWID;
  CREATE INDEX dependency_file ON dependency (file);
  -- Unresolved references of files by the name that they mention, which may mean any symbol of that name.
  CREATE TABLE mention (name INTEGER NOT NULL, file INTEGER NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (name, file)) WITHOUT ROWID;
  CREATE INDEX mention_file ON mention (file);
  -- What files import, as the compiler has it.
  CREATE TABLE exact_import (on_file INTEGER NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (on_file, file)) WITHOUT ROWID;
  CREATE INDEX exact_import_file ON exact_import (file);
  -- The packages and namespaces that files say they belong to.
  CREATE TABLE package (name TEXT NOT NULL, file INTEGER NOT NULL, PRIMARY KEY (name, file)) WITHOUT ROWID;
  CREATE INDEX package_file ON package (file);
  CREATE TABLE fact (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
`;

/** Opens a graph.db. A damaged, older or newer one is rebuilt: everything in it comes from the sources. */
export function openGraphFile(path: string, config: string): GraphDatabase {
  try {
    return openCurrent(path, config);
  } catch {
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    return openCurrent(path, config);
  }
}

function openCurrent(path: string, config: string): GraphDatabase {
  const db = new Database(path);
  try {
    db.pragma('journal_mode = WAL');
    // Data lost in a crash is indexed again.
    db.pragma('synchronous = NORMAL');
    db.pragma('cache_size = -16000');
    // A checkpoint waits for the disk: a large change causes one in about a second.
    db.pragma('wal_autocheckpoint = 4000');
    const version = db.pragma('user_version', { simple: true });
    const isOurs = version === GRAPH_VERSION && readFact(db, 'config') === config;
    if (version !== 0 && !isOurs) throw new Error('another version');
    if (version === 0)
      db.transaction(() => {
        db.exec(TABLES);
        writeFact(db, 'config', config);
        db.pragma(`user_version = ${GRAPH_VERSION}`);
      })();
    if (db.pragma('quick_check(1)', { simple: true }) !== 'ok') throw new Error('damaged');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Reads a graph.db without changing or waiting for it; null if it is missing, damaged, in use or of another version. */
export function readGraphFile<T>(path: string, read: (db: GraphDatabase) => T): T | null {
  let db: GraphDatabase | undefined;
  try {
    db = new Database(path, { readonly: true, fileMustExist: true, timeout: 0 });
    return db.pragma('user_version', { simple: true }) === GRAPH_VERSION ? read(db) : null;
  } catch {
    return null;
  } finally {
    db?.close();
  }
}

export function readFact(db: GraphDatabase, name: string): string | null {
  const row = db.prepare('SELECT value FROM fact WHERE name = ?').get(name) as { value: string } | undefined;
  return row?.value ?? null;
}

export function writeFact(db: GraphDatabase, name: string, value: string): void {
  db.prepare('INSERT OR REPLACE INTO fact (name, value) VALUES (?, ?)').run(name, value);
}
