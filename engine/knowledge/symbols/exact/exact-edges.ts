import { STRATEGIES } from '../edges.ts';
import type { GraphDatabase } from '../store/graph-file.ts';
import { readFact, writeFact } from '../store/graph-file.ts';
import { REFERENCE_KINDS } from '../store/rows.ts';
import type { FileReferences, NamedPlace } from './find-references.ts';

/** The last run of the compiler. */
export interface ExactRun {
  /** Of `typescript`. */
  version: string;
  /** Since 1970, ms. */
  at: number;
  ms: number;
  peakMb: number;
  /** Number of edges that were uncertain before, and of new ones. */
  raised: number;
  added: number;
  /** Why it ran without a sandbox, as a clause; null if it ran in one. */
  unconfined: string | null;
  /** Why it did not finish, as a clause; null if it did. */
  failed: string | null;
}

export interface ExactCounts {
  /** Files in languages of the compiler. */
  files: number;
  /** Files whose current content it has not processed. */
  lacking: number;
}

interface PlacedSymbol {
  id: number;
  name: string;
  kind: string;
  start: number;
  end: number;
}

export type ExactEdges = ReturnType<typeof createExactEdges>;

/** Values of `file.exact`: not processed, edges stored, unknown to the compiler. */
const [, DONE, LEFT_OUT] = [0, 1, 2];
const TYPES = new Set(['interface', 'type', 'namespace']);
const CALLABLE = new Set(['function', 'method', 'class']);
const COMPILED = "language IN ('typescript', 'tsx', 'javascript') AND state = 'ok'";

/**
 * Creates access to the edges from the project's compiler in a graph.db: the edges of a file stay while it and all
 * its imports are unchanged.
 */
export function createExactEdges(db: GraphDatabase) {
  const setState = db.prepare('UPDATE file SET exact = ? WHERE id = ?');
  const mark = db.prepare('UPDATE file SET is_dirty = 1 WHERE exact <> 0 AND is_dirty = 0 AND id = ?');
  const takeImporters = db.prepare('DELETE FROM exact_import WHERE on_file = ? RETURNING file').pluck();
  const all = db.prepare('UPDATE file SET is_dirty = 1 WHERE exact <> 0 AND is_dirty = 0');
  const listSymbols = db.prepare(
    'SELECT id, name, kind, start, end FROM symbol WHERE file = ? ORDER BY start',
  );
  const fileId = db.prepare('SELECT id FROM file WHERE path = ?').pluck();
  const fileSymbol = db.prepare('SELECT id FROM symbol WHERE file = ? AND place = 0').pluck();
  const findEdge = db
    .prepare('SELECT confidence FROM edge WHERE from_symbol = ? AND to_symbol = ? AND kind = ?')
    .pluck();
  const raise = db.prepare(
    'UPDATE edge SET confidence = 10, strategy = ?, candidates = 1 WHERE from_symbol = ? AND to_symbol = ? AND kind = ?',
  );
  const add = db.prepare(
    'INSERT INTO edge (from_symbol, to_symbol, kind, line, confidence, strategy, candidates, from_file) VALUES (?, ?, ?, ?, 10, ?, 1, ?)',
  );
  const forgetImports = db.prepare('DELETE FROM exact_import WHERE file = ?');
  const addImport = db.prepare('INSERT OR IGNORE INTO exact_import (on_file, file) VALUES (?, ?)');
  const counts = db.prepare(
    `SELECT count(*) AS files, total(exact = 0 OR is_dirty) AS lacking FROM file WHERE ${COMPILED}`,
  );
  const strategy = STRATEGIES.indexOf('exact');
  /** Files that have changed since the current run started. */
  let changed: Set<number> | null = null;
  let symbols = new Map<number, PlacedSymbol[]>();

  /** Results of an aborted run belong to an unknown state of the files. */
  if (readFact(db, 'exact_begun') !== null)
    db.transaction(() => {
      all.run();
      forgetBegin();
    })();

  function forgetBegin(): void {
    db.prepare("DELETE FROM fact WHERE name = 'exact_begun'").run();
  }

  /**
   * Marks files and all files that import them; they are read again before their edges count, so the import relations
   * are forgotten.
   */
  function markImporters(files: Iterable<number>): void {
    const waiting = [...files];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      mark.run(file);
      for (const importer of takeImporters.all(file) as number[]) waiting.push(importer);
    }
  }

  function symbolsOf(file: number): PlacedSymbol[] {
    const known = symbols.get(file) ?? (listSymbols.all(file) as PlacedSymbol[]);
    symbols.set(file, known);
    return known;
  }

  /** Returns the innermost symbol of a name around a position. */
  function locate(file: number, [end, name]: NamedPlace): PlacedSymbol | undefined {
    return symbolsOf(file).findLast((each) => each.name === name && each.start < end && each.end >= end);
  }

  /** Returns the only symbol that a reference leads to; undefined if it is external or ambiguous. */
  function pickTarget(
    to: readonly (readonly [number, NamedPlace])[],
    isBase: boolean,
  ): PlacedSymbol | undefined {
    const found = new Map<number, PlacedSymbol>();
    for (const [file, place] of to) {
      const symbol = locate(file, place);
      if (symbol !== undefined) found.set(symbol.id, symbol);
    }
    // A name may denote a value and a type.
    const values = [...found.values()].filter(({ kind }) => !TYPES.has(kind));
    const fit = values.length > 0 && !isBase ? values : [...found.values()];
    return fit.length === 1 ? fit[0] : undefined;
  }

  /** Records the compiler's result for a file. */
  function writeEdges(
    said: FileReferences,
    toPath: (absolute: string) => string,
  ): { raised: number; added: number } {
    const ids = new Map<string, number | undefined>();
    const idOf = (absolute: string): number | undefined => {
      if (!ids.has(absolute)) ids.set(absolute, fileId.get(toPath(absolute)) as number | undefined);
      return ids.get(absolute);
    };
    const file = idOf(said.path);
    const sum = { raised: 0, added: 0 };
    if (file === undefined) return sum;
    const whole = fileSymbol.get(file) as number | undefined;
    for (const [kind, line, from, to] of said.references) {
      const owner = from === null ? whole : locate(file, from)?.id;
      const places = to.flatMap(([path, end, name]) => {
        const id = idOf(path);
        return id === undefined ? [] : [[id, [end, name]] as const];
      });
      const target = pickTarget(places, kind === 'inherit');
      if (owner === undefined || target === undefined) continue;
      if (kind === 'value' && (!CALLABLE.has(target.kind) || target.id === owner)) continue;
      const key = [owner, target.id, REFERENCE_KINDS.indexOf(kind)] as const;
      const known = findEdge.get(...key) as number | undefined;
      if (known === undefined) {
        add.run(...key, line, strategy, file);
        sum.added += 1;
      } else if (known < 10) {
        raise.run(strategy, ...key);
        sum.raised += 1;
      }
    }
    forgetImports.run(file);
    for (const path of said.imports) {
      const on = idOf(path);
      if (on !== undefined) addImport.run(on, file);
    }
    setState.run(DONE, file);
    return sum;
  }

  return {
    /** Handles files that changed or were removed: results found through them are no longer certain. */
    drop(files: readonly { id: number; path: string }[]): void {
      for (const { id } of files) changed?.add(id);
      // Its declarations may be global, without an import.
      if (files.some(({ path }) => path.endsWith('.d.ts'))) all.run();
      markImporters(files.map(({ id }) => id));
    },
    begin(): void {
      changed = new Set();
      symbols = new Map();
      writeFact(db, 'exact_begun', String(Date.now()));
    },
    write: (said: readonly FileReferences[], toPath: (absolute: string) => string) =>
      db.transaction(() =>
        said
          .map((each) => writeEdges(each, toPath))
          .reduce((sum, each) => ({ raised: sum.raised + each.raised, added: sum.added + each.added }), {
            raised: 0,
            added: 0,
          }),
      )(),
    /** Ends a run. @param leftOut requested files that the compiler does not have */
    end(run: ExactRun, leftOut: readonly string[]): void {
      db.transaction(() => {
        for (const path of leftOut) setState.run(LEFT_OUT, fileId.get(path));
        markImporters(changed ?? []);
        writeFact(db, 'exact', JSON.stringify(run));
        forgetBegin();
      })();
      changed = null;
      symbols = new Map();
    },
    count: (): ExactCounts => counts.get() as ExactCounts,
    lastRun(): ExactRun | null {
      const text = readFact(db, 'exact');
      return text === null ? null : (JSON.parse(text) as ExactRun);
    },
    listLacking: (): string[] =>
      db
        .prepare(`SELECT path FROM file WHERE ${COMPILED} AND exact = 0 ORDER BY path`)
        .pluck()
        .all() as string[],
    listFiles: (): string[] =>
      db.prepare(`SELECT path FROM file WHERE ${COMPILED} ORDER BY path`).pluck().all() as string[],
  };
}
