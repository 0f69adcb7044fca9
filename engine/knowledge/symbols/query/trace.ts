import type { FileIndexer } from '../index-files/indexer.ts';
import { type EdgeRow, REFERENCE_KINDS, type SymbolRow, toEdge } from '../store/rows.ts';
import { type AlikeSymbol, createAlikeFinder, OVERLOAD } from './alike.ts';
import { readSymbol } from './find.ts';
import { findUnsureCallers, type UnsureCallers } from './unsure.ts';

export type TraceDirection = 'callers' | 'callees' | 'both';

/** One step of a call graph, between two symbols. */
export interface TraceStep extends EdgeRow {
  /** Steps from the requested symbol, from 1. */
  hop: number;
  way: 'callers' | 'callees';
}

export interface TraceReport {
  symbols: Map<number, SymbolRow>;
  steps: TraceStep[];
  /** Symbols with more neighbours than shown, and their number. */
  hubs: { id: number; total: number }[];
  /** References to the symbol other than calls: as a value, a type or a base. */
  mentions: TraceStep[];
  /** Number of overloads that share callers; 1 if none are shared. */
  overloads: number;
  /** Number of files that declare the symbol for different builds, and share its callers. */
  builds: number;
  isCut: boolean;
  /** Possible callers, if none is known. */
  unsure: UnsureCallers | null;
}

/** Number of neighbours above which a symbol is a hub. */
const MOST_NEIGHBOURS = 25;
const MOST_STEPS = 200;
const MOST_MENTIONS = 15;

const CALLS = ['call', 'new', 'jsx'].map((kind) => REFERENCE_KINDS.indexOf(kind as 'call')).join();
const OTHERS = ['inherit', 'value', 'type'].map((kind) => REFERENCE_KINDS.indexOf(kind as 'type')).join();

/** Follows calls from or to a symbol, step by step. */
export function traceCalls(
  indexer: FileIndexer,
  symbol: SymbolRow,
  depth: number,
  direction: TraceDirection,
): TraceReport {
  const { db } = indexer;
  const trace: TraceReport = {
    symbols: new Map([[symbol.id, symbol]]),
    steps: [],
    hubs: [],
    mentions: [],
    overloads: 1,
    builds: 1,
    isCut: false,
    unsure: null,
  };
  const order = 'ORDER BY confidence DESC, from_file, line LIMIT +?';
  const findAlike = createAlikeFinder(indexer);
  const prepare = (column: string) => {
    const where = `FROM edge WHERE ${column} = ? AND kind IN (${CALLS}) AND (NOT ? OR strategy = ${OVERLOAD})`;
    return {
      list: db.prepare(`SELECT * ${where} ${order}`),
      count: db.prepare(`SELECT count(*) ${where}`).pluck(),
    };
  };
  const calls = { callers: prepare('to_symbol'), callees: prepare('from_symbol') };

  function know(id: number): SymbolRow | null {
    const known = trace.symbols.get(id) ?? readSymbol(indexer, id);
    if (known !== null) trace.symbols.set(id, known);
    return known;
  }

  /** Lists the symbols whose calls count: creating an object runs its constructor, and overloads may share calls. */
  function listAlike(each: SymbolRow, way: 'callers' | 'callees'): readonly AlikeSymbol[] {
    if (way === 'callees' && each.kind !== 'class') return [{ id: each.id, isShared: false }];
    return findAlike(each).all;
  }

  function followCalls(way: 'callers' | 'callees'): void {
    const seen = new Set([symbol.id]);
    let edge = [symbol.id];
    for (let hop = 1; hop <= depth && edge.length > 0; hop += 1) {
      const next: number[] = [];
      for (const id of edge) {
        const at = know(id);
        if (at === null) continue;
        for (const same of listAlike(at, way)) {
          const found = calls[way].list.all(same.id, Number(same.isShared), MOST_NEIGHBOURS).map(toEdge);
          if (found.length === MOST_NEIGHBOURS) {
            const total = calls[way].count.get(same.id, Number(same.isShared)) as number;
            if (total > MOST_NEIGHBOURS) trace.hubs.push({ id: same.id, total });
          }
          // These may mean other overloads, or another constructor of the same class.
          const isOfSeveral = ({ strategy, toSymbol }: EdgeRow): boolean =>
            strategy === 'overload' || toSymbol !== id;
          if (way === 'callers' && id === symbol.id && symbol.language !== 'go' && found.some(isOfSeveral))
            trace.overloads = findAlike(at).overloads;
          for (const step of found) {
            if (trace.steps.length >= MOST_STEPS) {
              trace.isCut = true;
              return;
            }
            trace.steps.push({ ...step, hop, way });
            know(step.fromSymbol);
            know(step.toSymbol);
            const other = way === 'callers' ? step.fromSymbol : step.toSymbol;
            if (!seen.has(other)) {
              seen.add(other);
              next.push(other);
            }
          }
        }
      }
      edge = next;
    }
  }

  if (direction !== 'callees') {
    trace.builds = findAlike(symbol).builds;
    followCalls('callers');
    trace.mentions = db
      .prepare(`SELECT * FROM edge WHERE to_symbol = ? AND kind IN (${OTHERS}) ${order}`)
      .all(symbol.id, MOST_MENTIONS)
      .map((row) => ({ ...toEdge(row), hop: 1, way: 'callers' as const }));
    for (const { fromSymbol } of trace.mentions) know(fromSymbol);
    if (trace.steps.length === 0) trace.unsure = findUnsureCallers(indexer, symbol);
  }
  if (direction !== 'callers') followCalls('callees');
  return trace;
}
