import type { Indexer } from '../index-files/indexer.ts';
import { REFERENCE_KINDS, SYMBOL_COLUMNS, type SymbolRow, toEdge, toSymbol } from '../store/rows.ts';
import { isTestPath, readSymbol, toRelative } from './find.ts';

/** A symbol that a change of some files may reach. */
export interface Reached {
  symbol: SymbolRow;
  /** 1 for who refers to a changed symbol, 2 for who refers to those. */
  hop: number;
  /** The surest reference that leads here: its confidence, the surer end of a way of two. */
  confidence: number;
  line: number;
  /** The symbol that is referred to. */
  through: number;
  isTest: boolean;
}

export interface Impact {
  /** The files that the index has, and what there is no index of. */
  files: string[];
  unknown: string[];
  declared: SymbolRow[];
  reached: Reached[];
}

const MOST_DECLARED = 2000;
const MOST_REACHED = 1000;

/** Finds what is declared in some files, and who refers to that, over two steps. A folder stands for what is below it. */
export function findImpact(indexer: Indexer, paths: readonly string[]): Impact {
  const { db } = indexer;
  const files = new Set<string>();
  const unknown: string[] = [];
  for (const each of paths) {
    const path = toRelative(indexer, each).replace(/\/+$/, '');
    if (indexer.hasFile(path)) files.add(path);
    else {
      const below = indexer.listPaths().filter((known) => path === '.' || known.startsWith(`${path}/`));
      if (below.length === 0) unknown.push(path);
      for (const known of below) files.add(known);
    }
  }
  const declared = db
    .prepare(
      `SELECT ${SYMBOL_COLUMNS} FROM symbol JOIN file ON file.id = symbol.file
        WHERE file.path IN (SELECT value FROM json_each(?)) AND kind NOT IN ('file', 'field') AND name <> '{}'
        ORDER BY file.path, symbol.line LIMIT +?`,
    )
    .all(JSON.stringify([...files]), MOST_DECLARED)
    .map(toSymbol);
  const reached = new Map<number, Reached>();
  const inside = new Set(declared.map(({ id }) => id));
  const callers = db.prepare('SELECT * FROM edge WHERE to_symbol = ? ORDER BY confidence DESC LIMIT +?');
  const fields = db
    .prepare(
      `SELECT symbol.id FROM symbol JOIN file ON file.id = symbol.file
        WHERE file.path IN (SELECT value FROM json_each(?)) AND kind = 'field' LIMIT +?`,
    )
    .pluck()
    .all(JSON.stringify([...files]), MOST_DECLARED) as number[];
  let edge: { id: number; confidence: number }[] = [...inside, ...fields].map((id) => ({
    id,
    confidence: 1,
  }));
  for (let hop = 1; hop <= 2; hop += 1) {
    const next: typeof edge = [];
    for (const { id, confidence } of edge) {
      for (const row of callers.all(id, 200)) {
        const step = toEdge(row);
        // Who names a type is reached by its change, and nobody who only calls that one.
        if (hop === 2 && (step.kind === 'type' || step.kind === 'value')) continue;
        if (inside.has(step.fromSymbol) || reached.has(step.fromSymbol)) continue;
        if (reached.size >= MOST_REACHED) break;
        const symbol = readSymbol(indexer, step.fromSymbol);
        if (symbol === null || files.has(symbol.path)) continue;
        const sure = Math.min(confidence, step.confidence);
        reached.set(symbol.id, {
          symbol,
          hop,
          confidence: sure,
          line: step.line,
          through: id,
          isTest: isTestPath(symbol.path),
        });
        next.push({ id: symbol.id, confidence: sure });
      }
    }
    edge = next;
  }
  return { files: [...files].sort(), unknown, declared, reached: [...reached.values()] };
}

/** How many references of each kind lead to a symbol. */
export function countReferences({ db }: Indexer, id: number): Record<string, number> {
  const rows = db
    .prepare('SELECT kind, count(*) AS n FROM edge WHERE to_symbol = ? GROUP BY kind')
    .all(id) as {
    kind: number;
    n: number;
  }[];
  return Object.fromEntries(rows.map(({ kind, n }) => [REFERENCE_KINDS[kind]!, n]));
}
