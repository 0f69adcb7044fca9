import { STRATEGIES } from '../resolve/references.ts';
import type { GraphDatabase } from '../store/graph-file.ts';
import { readFact, writeFact } from '../store/graph-file.ts';
import { REFERENCE_KINDS } from '../store/rows.ts';
import type { FileReferences, NamedPlace } from './find-references.ts';

/** What the last run of the compiler was. */
export interface ExactRun {
  /** Of `typescript`. */
  version: string;
  /** Since 1970, ms. */
  at: number;
  ms: number;
  peakMb: number;
  /** Edges that were less sure before, and those that nobody knew. */
  raised: number;
  added: number;
  /** Why it ran outside of a sandbox, a clause; null where it ran in one. */
  unconfined: string | null;
  /** Why it did not come to its end, a clause; null when it did. */
  failed: string | null;
}

export interface ExactCounts {
  /** Files in languages of the compiler. */
  files: number;
  /** Those whose edges it has not seen as they are now. */
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

/** Of `file.exact`: nothing is known of the compiler, its edges are there, it does not have the file. */
const [, DONE, LEFT_OUT] = [0, 1, 2];
const TYPES = new Set(['interface', 'type', 'namespace']);
const CALLABLE = new Set(['function', 'method', 'class']);
const COMPILED = "language IN ('typescript', 'tsx', 'javascript') AND state = 'ok'";

/** The edges that the project's compiler knows, in a graph.db: those of a file stay while it and all that it imports do. */
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
  /** Files that have changed since a run began, while there is one. */
  let changed: Set<number> | null = null;
  let symbols = new Map<number, PlacedSymbol[]>();

  /** What a run has left behind that was broken off is of an unknown state of the files. */
  if (readFact(db, 'exact_begun') !== null)
    db.transaction(() => {
      all.run();
      forgetBegin();
    })();

  function forgetBegin(): void {
    db.prepare("DELETE FROM fact WHERE name = 'exact_begun'").run();
  }

  /** Marks files and all that import them; these are read again before they count, so who imports whom is forgotten. */
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

  /** The innermost symbol of a name around a place. */
  function locate(file: number, [end, name]: NamedPlace): PlacedSymbol | undefined {
    return symbolsOf(file).findLast((each) => each.name === name && each.start < end && each.end >= end);
  }

  /** The one symbol that a reference leads to; undefined for none of ours, and for one of several. */
  function pickTarget(
    to: readonly (readonly [number, NamedPlace])[],
    isBase: boolean,
  ): PlacedSymbol | undefined {
    const found = new Map<number, PlacedSymbol>();
    for (const [file, place] of to) {
      const symbol = locate(file, place);
      if (symbol !== undefined) found.set(symbol.id, symbol);
    }
    // A name may stand for a value and a type.
    const values = [...found.values()].filter(({ kind }) => !TYPES.has(kind));
    const fit = values.length > 0 && !isBase ? values : [...found.values()];
    return fit.length === 1 ? fit[0] : undefined;
  }

  /** Takes down what the compiler said of a file. */
  function write(
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
    /** What some files say has changed, or they are gone: nothing that was found through them is sure any more. */
    drop(files: readonly { id: number; path: string }[]): void {
      for (const { id } of files) changed?.add(id);
      // What it declares may hold everywhere, without an import.
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
          .map((each) => write(each, toPath))
          .reduce((sum, each) => ({ raised: sum.raised + each.raised, added: sum.added + each.added }), {
            raised: 0,
            added: 0,
          }),
      )(),
    /** Ends a run. @param leftOut files that the compiler was asked for and does not have */
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
