import type { SkipReason, SourceLanguage } from '../../sources/index.ts';
import { type ReferenceEdge, type ResolveStrategy, STRATEGIES } from '../edges.ts';
import type { FileFacts, ReferenceFact, ReferenceKind } from '../facts.ts';
import { hashName } from './digest.ts';
import type { GraphDatabase } from './graph-file.ts';
import { type PackedFacts, type SymbolColumns, unpackFacts, unpackReferences } from './pack.ts';

export type FileState = 'ok' | 'slow' | 'failed' | SkipReason;

export interface FileRow {
  id: number;
  path: string;
  language: SourceLanguage;
  hash: string;
  size: number;
  mtime: number;
  state: FileState;
}

/** The location of a symbol, in addition to its file's facts. */
interface SymbolPlace {
  id: number;
  file: number;
  path: string;
  language: SourceLanguage;
}

type RawSymbol = SymbolPlace & SymbolColumns;

export interface SymbolRow extends SymbolPlace, Omit<SymbolColumns, 'end_line' | 'is_exported'> {
  endLine: number;
  isExported: boolean;
}

export interface EdgeRow {
  fromSymbol: number;
  toSymbol: number;
  kind: ReferenceKind;
  line: number;
  confidence: number;
  strategy: ResolveStrategy;
  candidates: number;
}

export const REFERENCE_KINDS: readonly ReferenceKind[] = ['call', 'new', 'jsx', 'inherit', 'value', 'type'];

export const SYMBOL_COLUMNS = `symbol.id, symbol.file, file.path, file.language, place, name, qualified, kind, parent, start, end,
  line, end_line, signature, doc, is_exported`;

export const toSymbol = (row: unknown): SymbolRow => {
  const { end_line, is_exported, ...rest } = row as RawSymbol;
  return { ...rest, endLine: end_line, isExported: is_exported === 1 };
};

interface RawEdge {
  from_symbol: number;
  to_symbol: number;
  kind: number;
  line: number;
  confidence: number;
  strategy: number;
  candidates: number;
}

export const toEdge = (row: unknown): EdgeRow => {
  const { from_symbol, to_symbol, kind, line, confidence, strategy, candidates } = row as RawEdge;
  return {
    fromSymbol: from_symbol,
    toSymbol: to_symbol,
    kind: REFERENCE_KINDS[kind]!,
    line,
    confidence: confidence / 10,
    strategy: STRATEGIES[strategy]!,
    candidates,
  };
};

/** The resolved references of a file. */
interface FileReferences {
  edges: readonly ReferenceEdge[];
  unresolved: number;
  /** Number of unresolved references by the name that they mention. */
  mentions: ReadonlyMap<string, number>;
}

export type GraphRows = ReturnType<typeof createGraphRows>;

/** Creates the writing of the symbols of a file. */
function createSymbolWriter(db: GraphDatabase) {
  const insertSymbol = db.prepare(
    `INSERT INTO symbol (file, place, name, qualified, kind, parent, start, end, line, end_line, signature, doc, is_exported)
     VALUES (@file, @place, @name, @qualified, @kind, @parent, @start, @end, @line, @end_line, @signature, @doc, @is_exported)`,
  );
  const updateSymbol = db.prepare(
    `UPDATE symbol SET place = @place, parent = @parent, start = @start, end = @end, line = @line, end_line = @end_line,
       signature = @signature, doc = @doc, is_exported = @is_exported WHERE id = @id`,
  );
  const ownSymbols = db.prepare('SELECT id, qualified, kind FROM symbol WHERE file = ? ORDER BY place');
  const deleteSymbol = db.prepare('DELETE FROM symbol WHERE id = ?');
  const insertText = db.prepare('INSERT INTO symbol_text (rowid, name) VALUES (?, ?)');
  const deleteText = db.prepare('DELETE FROM symbol_text WHERE rowid = ?');
  const deleteEdgesTo = db.prepare('DELETE FROM edge WHERE to_symbol = ?');

  function removeSymbol(id: number): void {
    deleteEdgesTo.run(id);
    deleteText.run(id);
    deleteSymbol.run(id);
  }

  /** Writes symbols, which keep their ids while their name and kind stay. */
  function writeSymbols(file: number, symbols: readonly SymbolColumns[]): void {
    const old = new Map<string, number[]>();
    for (const { id, qualified, kind } of ownSymbols.all(file) as {
      id: number;
      qualified: string;
      kind: string;
    }[]) {
      const key = `${kind} ${qualified}`;
      const ids = old.get(key);
      if (ids === undefined) old.set(key, [id]);
      else ids.push(id);
    }
    for (const columns of symbols) {
      const row = { ...columns, file };
      const id = old.get(`${columns.kind} ${columns.qualified}`)?.shift();
      if (id !== undefined) updateSymbol.run({ ...row, id });
      else {
        const { lastInsertRowid } = insertSymbol.run(row);
        if (columns.name !== '{}') insertText.run(lastInsertRowid, columns.name);
      }
    }
    for (const ids of old.values()) for (const id of ids) removeSymbol(id);
  }

  function removeSymbols(file: number): void {
    for (const { id } of ownSymbols.all(file) as { id: number }[]) removeSymbol(id);
  }

  return { writeSymbols, removeSymbols };
}

/** Creates the statements that change a graph.db. */
export function createGraphRows(db: GraphDatabase) {
  const insertFile = db.prepare(
    `INSERT INTO file (path, language, hash, size, mtime, state, errors, facts, refs)
     VALUES (@path, @language, @hash, @size, @mtime, @state, @errors, @facts, @refs)
     ON CONFLICT (path) DO UPDATE SET language = @language, hash = @hash, size = @size, mtime = @mtime, state = @state,
       errors = @errors, facts = @facts, refs = @refs, is_dirty = 1
     RETURNING id`,
  );
  const { writeSymbols, removeSymbols } = createSymbolWriter(db);
  const deleteEdgesFrom = db.prepare('DELETE FROM edge WHERE from_file = ?');
  const insertEdge = db.prepare(
    'INSERT OR REPLACE INTO edge (from_symbol, to_symbol, kind, line, confidence, strategy, candidates, from_file) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const deleteDependencies = db.prepare('DELETE FROM dependency WHERE file = ?');
  const insertDependency = db.prepare(
    'INSERT OR IGNORE INTO dependency (on_file, name, file) VALUES (?, ?, ?)',
  );
  const deleteMentions = db.prepare('DELETE FROM mention WHERE file = ?');
  // Two names may have one hash.
  const insertMention = db.prepare(
    'INSERT INTO mention (name, file, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
  );
  const dependents = db.prepare(
    'UPDATE file SET is_dirty = 1 WHERE is_dirty = 0 AND id IN (SELECT file FROM dependency WHERE on_file = ? AND name = ?)',
  );
  const resolved = db.prepare('UPDATE file SET is_dirty = 0, exact = 0, unresolved = ? WHERE id = ?');
  const idsByPlace = db.prepare('SELECT id FROM symbol WHERE file = ? ORDER BY place').pluck();
  const readFacts = db.prepare('SELECT facts FROM file WHERE id = ?').pluck();
  const readRefs = db.prepare('SELECT refs FROM file WHERE id = ?').pluck();
  const insertPackage = db.prepare('INSERT OR IGNORE INTO package (name, file) VALUES (?, ?)');
  const deletePackage = db.prepare('DELETE FROM package WHERE file = ?');
  const forgetImports = db.prepare('DELETE FROM exact_import WHERE file = ?');
  const deleteFile = db.prepare('DELETE FROM file WHERE id = ?');
  const touch = db.prepare('UPDATE file SET size = ?, mtime = ? WHERE id = ?');

  return {
    listFiles: (): FileRow[] =>
      db.prepare('SELECT id, path, language, hash, size, mtime, state FROM file').all() as FileRow[],
    /** Writes a file with its facts; null for a skipped one. Its references are resolved later. */
    writeFile(row: Omit<FileRow, 'id'>, packed: PackedFacts | null): number {
      const { facts = null, refs = null, errors = 0 } = packed ?? {};
      const { id } = insertFile.get({ ...row, facts, refs, errors }) as { id: number };
      writeSymbols(id, packed?.symbols ?? []);
      deletePackage.run(id);
      if (packed?.packageName != null) insertPackage.run(packed.packageName, id);
      return id;
    },
    touchFile: (id: number, size: number, mtime: number) => void touch.run(size, mtime, id),
    removeFile(id: number): void {
      removeSymbols(id);
      deleteEdgesFrom.run(id);
      deleteDependencies.run(id);
      deleteMentions.run(id);
      deletePackage.run(id);
      forgetImports.run(id);
      deleteFile.run(id);
    },
    readFacts(id: number): FileFacts | null {
      const bytes = readFacts.get(id) as Buffer | null | undefined;
      return bytes == null ? null : unpackFacts(bytes);
    },
    readReferences(id: number): ReferenceFact[] {
      const bytes = readRefs.get(id) as Buffer | null | undefined;
      return bytes == null ? [] : unpackReferences(bytes);
    },
    symbolIds: (file: number): number[] => idsByPlace.all(file) as number[],
    writeEdges(
      file: number,
      { edges, unresolved, mentions }: FileReferences,
      uses: ReadonlyMap<number, ReadonlySet<number>>,
      idsOf: (file: number) => readonly number[],
    ): void {
      deleteEdgesFrom.run(file);
      deleteDependencies.run(file);
      const own = idsOf(file);
      for (const { from, to, kind, line, confidence, strategy, candidates } of edges) {
        const target = idsOf(to.file)[to.index];
        if (target === undefined) continue;
        insertEdge.run(
          own[from],
          target,
          REFERENCE_KINDS.indexOf(kind),
          line,
          Math.round(confidence * 10),
          STRATEGIES.indexOf(strategy),
          candidates,
          file,
        );
      }
      deleteMentions.run(file);
      for (const [name, n] of mentions) insertMention.run(hashName(name), file, n);
      for (const [on, names] of uses) for (const name of names) insertDependency.run(on, name, file);
      resolved.run(unresolved, file);
    },
    /** Marks files with edges that depend on a name of a file as unresolved. */
    markDependents: (on: number, name: number) => void dependents.run(on, name),
    markAll: () => void db.prepare('UPDATE file SET is_dirty = 1 WHERE is_dirty = 0').run(),
    listDirty: (): number[] =>
      db.prepare('SELECT id FROM file WHERE is_dirty = 1 ORDER BY +id').pluck().all() as number[],
  };
}
