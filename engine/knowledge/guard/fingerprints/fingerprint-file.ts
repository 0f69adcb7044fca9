import { closeSync, rmSync } from 'node:fs';
import Database from 'better-sqlite3';
import { openPrivate } from '../../../core/base/private-files.ts';
import type { SourceLanguage } from '../../sources/index.ts';

/** The state of a file when it was last read. */
export interface KnownFile {
  path: string;
  size: number;
  mtimeMs: number;
  /** The number of its content; null for one that is not compared, such as a generated one. */
  content: number | null;
}

export interface ContentPrints {
  language: SourceLanguage;
  whole: Uint32Array;
  edited: Uint32Array;
}

/**
 * Fingerprints on disk. They belong to contents, so that the worktrees of a project share them and a restored file is
 * not read again. Losing the file is harmless: it is rebuilt from the sources.
 */
export interface FingerprintFile {
  listFiles(root: string): KnownFile[];
  /** Returns the number of a content that was read before, in any folder; null for a new one. */
  findContent(hash: string, language: SourceLanguage): number | null;
  addContent(hash: string, prints: ContentPrints): number;
  readContent(content: number): Pick<ContentPrints, 'whole' | 'edited'> | null;
  setFile(root: string, file: KnownFile): void;
  removeFile(root: string, path: string): void;
  /** Forgets all other folders, and contents without files. */
  keepRoots(isKept: (root: string) => boolean): void;
  /** Runs `work` as one transaction. */
  change(work: () => void): void;
  close(): void;
}

/** Increased when stored data changes its meaning: an older file is rebuilt. */
const VERSION = 2;

const SCHEMA = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE content (id INTEGER PRIMARY KEY, hash TEXT NOT NULL, language TEXT NOT NULL,
    whole BLOB NOT NULL, edited BLOB NOT NULL, UNIQUE (hash, language)) STRICT;
  CREATE TABLE root (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE) STRICT;
  CREATE TABLE file (root INTEGER NOT NULL REFERENCES root ON DELETE CASCADE, path TEXT NOT NULL,
    size INTEGER NOT NULL, mtime REAL NOT NULL, content INTEGER REFERENCES content,
    PRIMARY KEY (root, path)) STRICT, WITHOUT ROWID;
  CREATE INDEX file_content ON file (content);
`;

/**
 * Opens the file, or creates it. A damaged or older file, or one with another sampling, is removed and rebuilt.
 * @param sampling the parameters that determine the fingerprints
 */
export function openFingerprintFile(path: string, sampling: string): FingerprintFile {
  try {
    return openExisting(path, sampling);
  } catch {
    for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
    return openExisting(path, sampling);
  }
}

function openExisting(path: string, sampling: string): FingerprintFile {
  // Created here, so that it belongs to this user and follows no link.
  closeSync(openPrivate(path, 'add'));
  const db = new Database(path);
  try {
    db.pragma('trusted_schema = OFF');
    db.pragma('journal_mode = WAL');
    // Data lost in a power cut is rebuilt.
    db.pragma('synchronous = OFF');
    db.pragma('foreign_keys = ON');
    const key = `${VERSION} ${sampling}`;
    const isMade = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'meta'").get() !== undefined;
    if (!isMade) {
      db.transaction(() => {
        db.exec(SCHEMA);
        db.prepare("INSERT INTO meta VALUES ('sampling', ?)").run(key);
      })();
    } else {
      const found = db.prepare("SELECT value FROM meta WHERE key = 'sampling'").pluck().get();
      if (found !== key) throw new Error('made with another sampling');
      if (db.pragma('quick_check(1)', { simple: true }) !== 'ok') throw new Error('damaged');
    }
    return bindStatements(db);
  } catch (error) {
    db.close();
    throw error;
  }
}

const toBytes = (hashes: Uint32Array): Buffer =>
  Buffer.from(hashes.buffer, hashes.byteOffset, hashes.byteLength);

/** Copies a row to numbers, because its bytes may be unaligned. */
const toHashes = (bytes: Buffer): Uint32Array =>
  new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.byteLength & ~3)));

function bindStatements(db: Database.Database): FingerprintFile {
  const findRoot = db.prepare<unknown[], number>('SELECT id FROM root WHERE path = ?').pluck();
  const addRoot = db.prepare('INSERT INTO root (path) VALUES (?)');
  const roots = new Map<string, number>();
  function rootOf(path: string): number {
    let id = roots.get(path) ?? findRoot.get(path);
    id ??= Number(addRoot.run(path).lastInsertRowid);
    roots.set(path, id);
    return id;
  }
  const listFiles = db.prepare<unknown[], KnownFile>(
    'SELECT path, size, mtime AS mtimeMs, content FROM file WHERE root = ?',
  );
  const findContent = db
    .prepare<unknown[], number>('SELECT id FROM content WHERE hash = ? AND language = ?')
    .pluck();
  const addContent = db.prepare('INSERT INTO content (hash, language, whole, edited) VALUES (?, ?, ?, ?)');
  const readContent = db.prepare<unknown[], { whole: Buffer; edited: Buffer }>(
    'SELECT whole, edited FROM content WHERE id = ?',
  );
  const setFile = db.prepare(`INSERT INTO file (root, path, size, mtime, content) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET size = excluded.size, mtime = excluded.mtime, content = excluded.content`);
  const removeFile = db.prepare('DELETE FROM file WHERE root = ? AND path = ?');
  return {
    listFiles: (root) => listFiles.all(rootOf(root)),
    findContent: (hash, language) => findContent.get(hash, language) ?? null,
    addContent: (hash, { language, whole, edited }) =>
      Number(addContent.run(hash, language, toBytes(whole), toBytes(edited)).lastInsertRowid),
    readContent(content) {
      const row = readContent.get(content);
      return row === undefined ? null : { whole: toHashes(row.whole), edited: toHashes(row.edited) };
    },
    setFile: (root, { path, size, mtimeMs, content }) =>
      void setFile.run(rootOf(root), path, size, mtimeMs, content),
    removeFile: (root, path) => void removeFile.run(rootOf(root), path),
    keepRoots(isKept) {
      db.transaction(() => {
        for (const path of db.prepare<unknown[], string>('SELECT path FROM root').pluck().all())
          if (!isKept(path)) {
            db.prepare('DELETE FROM root WHERE path = ?').run(path);
            roots.delete(path);
          }
        db.exec('DELETE FROM content WHERE id NOT IN (SELECT content FROM file WHERE content IS NOT NULL)');
      })();
    },
    change: (work) => db.transaction(work)(),
    close: () => db.close(),
  };
}
