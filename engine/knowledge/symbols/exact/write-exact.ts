import { STRATEGIES } from '../edges.ts';
import type { GraphDatabase } from '../store/graph-file.ts';
import { REFERENCE_KINDS } from '../store/rows.ts';
import type { FileReferences } from './find-references.ts';
import type { NamedPlace } from './node-names.ts';

interface PlacedSymbol {
  id: number;
  name: string;
  kind: string;
  start: number;
  end: number;
}

const TYPES = new Set(['interface', 'type', 'namespace']);

const CALLABLE = new Set(['function', 'method', 'class']);

/** Creates the writing of the compiler's result for a file. */
export function createExactWriter(db: GraphDatabase, finish: (file: number) => void) {
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
  const strategy = STRATEGIES.indexOf('exact');
  let symbols = new Map<number, PlacedSymbol[]>();

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
    finish(file);
    return sum;
  }

  return {
    writeEdges,
    /** Forgets the cached symbols, which change with the files. */
    forgetSymbols(): void {
      symbols = new Map();
    },
  };
}
