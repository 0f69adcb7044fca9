import type { FileIndexer } from '../index-files/indexer.ts';
import { type EdgeRow, REFERENCE_KINDS, type SymbolRow, toEdge } from '../store/rows.ts';
import { readSymbol } from './find.ts';

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
  isCut: boolean;
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
    isCut: false,
  };
  const order = 'ORDER BY confidence DESC, from_file, line LIMIT +?';
  const callers = db.prepare(`SELECT * FROM edge WHERE to_symbol = ? AND kind IN (${CALLS}) ${order}`);
  const callees = db.prepare(`SELECT * FROM edge WHERE from_symbol = ? AND kind IN (${CALLS}) ${order}`);
  const count = {
    callers: db.prepare(`SELECT count(*) FROM edge WHERE to_symbol = ? AND kind IN (${CALLS})`).pluck(),
    callees: db.prepare(`SELECT count(*) FROM edge WHERE from_symbol = ? AND kind IN (${CALLS})`).pluck(),
  };
  const members = db.prepare('SELECT id FROM symbol WHERE file = ? AND parent = ? AND name = ?').pluck();
  const place = db.prepare('SELECT id FROM symbol WHERE file = ? AND place = ?').pluck();

  function know(id: number): SymbolRow | null {
    const known = trace.symbols.get(id) ?? readSymbol(indexer, id);
    if (known !== null) trace.symbols.set(id, known);
    return known;
  }

  /** Lists equivalent symbols: creating an object runs its constructor, so calls of the class and of the constructor are equal. */
  function listAlike(each: SymbolRow, way: 'callers' | 'callees'): number[] {
    if (way === 'callees' && each.kind === 'class')
      return [each.id, ...(members.all(each.file, each.place, 'constructor') as number[])];
    if (way === 'callers' && each.name === 'constructor' && each.parent > 0)
      return [each.id, place.get(each.file, each.parent) as number];
    return [each.id];
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
          const found = (way === 'callers' ? callers : callees).all(same, MOST_NEIGHBOURS).map(toEdge);
          if (found.length === MOST_NEIGHBOURS) {
            const total = count[way].get(same) as number;
            if (total > MOST_NEIGHBOURS) trace.hubs.push({ id: same, total });
          }
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
    followCalls('callers');
    trace.mentions = db
      .prepare(`SELECT * FROM edge WHERE to_symbol = ? AND kind IN (${OTHERS}) ${order}`)
      .all(symbol.id, MOST_MENTIONS)
      .map((row) => ({ ...toEdge(row), hop: 1, way: 'callers' as const }));
    for (const { fromSymbol } of trace.mentions) know(fromSymbol);
  }
  if (direction !== 'callers') followCalls('callees');
  return trace;
}
