import { posix } from 'node:path';
import { isTestPath } from '../../sources/index.ts';
import type { FileIndexer } from '../index-files/indexer.ts';
import {
  type EdgeRow,
  REFERENCE_KINDS,
  SYMBOL_COLUMNS,
  type SymbolRow,
  toEdge,
  toSymbol,
} from '../store/rows.ts';
import { createAlikeFinder, OVERLOAD } from './alike.ts';
import { readSymbol, toRelative } from './find.ts';
import { findUnsureCallers, type UnsureCallers } from './unsure.ts';

/** A symbol that a change of some files may affect. */
export interface ReachedSymbol {
  symbol: SymbolRow;
  /** 1 for references to a changed symbol, 2 for references to those. */
  hop: number;
  /** The most certain reference that leads here: its confidence; for two steps that of the more certain path. */
  confidence: number;
  line: number;
  /** The referenced symbol. */
  through: number;
  isTest: boolean;
}

export interface ImpactReport {
  /** The indexed files, and those without an index. */
  files: string[];
  unknown: string[];
  /** Requested files that no longer exist. */
  removed: string[];
  /** The changes there, or all declarations if the lines are unknown. */
  declared: SymbolRow[];
  /** For whole files only the outermost, for changed lines the innermost. */
  told: SymbolRow[];
  reached: ReachedSymbol[];
  /** Mentions that may refer to one of the changed symbols, if none is reached. */
  unsure: Pick<UnsureCallers, 'mentions' | 'files'>;
}

/** The changed lines of files; a file without an entry counts in full. */
export type TouchedLines = Readonly<
  Record<string, readonly { from: number; to: number; isGap: boolean }[] | undefined>
>;

const MOST_DECLARED = 2000;
const MOST_REACHED = 1000;
/** Maximum changed symbols whose unresolved mentions are counted. */
const MOST_DOUBTED = 100;
/** Maximum references to one symbol that are followed. */
const MOST_CALLERS = 200;

/**
 * Finds the declarations in some files or lines, and the code that refers to them, over two steps. A folder stands
 * for everything below it.
 */
export function findImpact(
  indexer: FileIndexer,
  paths: readonly string[],
  touched: TouchedLines = {},
): ImpactReport {
  const { db } = indexer;
  const files = new Set<string>();
  const unknown: string[] = [];
  let folders: Map<string, string[]> | null = null;
  for (const each of paths) {
    const path = toRelative(indexer, each).replace(/\/+$/, '');
    if (indexer.hasFile(path)) files.add(path);
    else {
      folders ??= groupByFolder(indexer.listPaths());
      const below = folders.get(path);
      if (below === undefined) unknown.push(path);
      for (const known of below ?? []) files.add(known);
    }
  }
  const all = db
    .prepare(
      `SELECT ${SYMBOL_COLUMNS} FROM symbol JOIN file ON file.id = symbol.file
        WHERE file.path IN (SELECT value FROM json_each(?)) AND kind <> 'file'
        ORDER BY file.path, symbol.line LIMIT +?`,
    )
    .all(JSON.stringify([...files]), 2 * MOST_DECLARED)
    .map(toSymbol);
  const changed = selectTouched(all, touched);
  const declared = changed
    .filter(({ kind, name }) => kind !== 'field' && name !== '{}')
    .slice(0, MOST_DECLARED);
  const reached = new Map<number, ReachedSymbol>();
  const inside = new Set(declared.map(({ id }) => id));
  const listCallers = createCallerList(indexer);
  const fields = changed.filter(({ kind }) => kind === 'field');
  let edge = [...declared, ...fields].map((symbol) => ({ symbol, confidence: 1 }));
  for (let hop = 1; hop <= 2; hop += 1) {
    const next: typeof edge = [];
    for (const { symbol: through, confidence } of edge) {
      for (const step of listCallers(through)) {
        // A change of a type affects code that names the type, but not callers of that code.
        if (hop === 2 && (step.kind === 'type' || step.kind === 'value')) continue;
        if (inside.has(step.fromSymbol) || reached.has(step.fromSymbol)) continue;
        if (reached.size >= MOST_REACHED) break;
        const symbol = readSymbol(indexer, step.fromSymbol);
        if (symbol === null) continue;
        // In a file that counts in full, everything is changed already.
        if (files.has(symbol.path) && touched[symbol.path] === undefined) continue;
        const sure = Math.min(confidence, step.confidence);
        reached.set(symbol.id, {
          symbol,
          hop,
          confidence: sure,
          line: step.line,
          through: through.id,
          isTest: isTestPath(symbol.path),
        });
        next.push({ symbol, confidence: sure });
      }
    }
    edge = next;
  }
  const told = declared.filter(({ path, parent }) => parent <= 0 || touched[path] !== undefined);
  const unsure = { mentions: 0, files: 0 };
  if (reached.size === 0)
    for (const symbol of declared.slice(0, MOST_DOUBTED)) {
      const { mentions, files: some } = findUnsureCallers(indexer, symbol);
      unsure.mentions += mentions;
      unsure.files = Math.max(unsure.files, some);
    }
  return {
    files: [...files].sort(),
    unknown,
    removed: [],
    declared,
    told,
    reached: [...reached.values()],
    unsure,
  };
}

/** Creates the list of references to a symbol, with those to its class if it is a constructor. */
function createCallerList(indexer: FileIndexer): (symbol: SymbolRow) => EdgeRow[] {
  const findAlike = createAlikeFinder(indexer);
  const callers = indexer.db.prepare(
    `SELECT * FROM edge WHERE to_symbol = ? AND (NOT ? OR strategy = ${OVERLOAD}) ORDER BY confidence DESC LIMIT +?`,
  );
  return (symbol) =>
    findAlike(symbol).all.flatMap(({ id, isShared }) =>
      callers.all(id, Number(isShared), MOST_CALLERS).map(toEdge),
    );
}

/** Returns paths by each of their folders; `.` has all of them. */
function groupByFolder(paths: readonly string[]): Map<string, string[]> {
  const folders = new Map<string, string[]>([['.', [...paths]]]);
  for (const path of paths)
    for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder)) {
      const known = folders.get(folder);
      if (known === undefined) folders.set(folder, [path]);
      else known.push(path);
    }
  return folders;
}

/** Returns the symbols whose own lines have changed: the innermost around each line. */
function selectTouched(symbols: readonly SymbolRow[], touched: TouchedLines): SymbolRow[] {
  const found = new Set<SymbolRow>();
  const byPath = Map.groupBy(symbols, ({ path }) => path);
  for (const [path, own] of byPath) {
    const ranges = touched[path];
    if (ranges === undefined) for (const each of own) found.add(each);
    for (const { from, to, isGap } of ranges ?? []) {
      const around = own.filter(({ line, endLine }) => line <= to && endLine >= from);
      for (let at = from; at <= (isGap ? from : to); at += 1) {
        const innermost = findInnermost(around, at, isGap ? to : at);
        if (innermost !== null) found.add(innermost);
      }
    }
  }
  return symbols.filter((each) => found.has(each));
}

/** Returns the last-starting symbol that contains all of the lines. */
function findInnermost(symbols: readonly SymbolRow[], from: number, to: number): SymbolRow | null {
  let found: SymbolRow | null = null;
  for (const each of symbols) {
    if (each.line > from || each.endLine < to) continue;
    if (
      found === null ||
      each.line > found.line ||
      (each.line === found.line && each.endLine <= found.endLine)
    )
      found = each;
  }
  return found;
}

/** Returns the number of references of each kind to a symbol; those that may mean other overloads count too. */
export function countReferences(indexer: FileIndexer, symbol: SymbolRow): Record<string, number> {
  const count = indexer.db.prepare(
    `SELECT kind, count(*) AS n FROM edge WHERE to_symbol = ? AND (NOT ? OR strategy = ${OVERLOAD}) GROUP BY kind`,
  );
  const counts: Record<string, number> = {};
  for (const { id, isShared } of createAlikeFinder(indexer)(symbol).all)
    for (const { kind, n } of count.all(id, Number(isShared)) as { kind: number; n: number }[]) {
      const name = REFERENCE_KINDS[kind]!;
      counts[name] = (counts[name] ?? 0) + n;
    }
  return counts;
}
