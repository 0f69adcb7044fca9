import { formatCount, toPrintable } from '../../core/base/text.ts';
import type { AskedGraph } from './index.ts';
import type { GraphAnswer, NothingFound } from './query/answer.ts';
import type { ImpactReport, ReachedSymbol } from './query/impact.ts';
import type { TraceReport, TraceStep } from './query/trace.ts';
import type { UnsureCallers } from './query/unsure.ts';
import type { SymbolRow } from './store/rows.ts';

/** Returns a symbol as named in answers: `Class.method src/a.ts:40`. */
export const labelSymbol = ({ qualified, path, line }: SymbolRow): string =>
  qualified === path ? path : `${qualified} ${path}:${line}`;

/** Returns a symbol as one of several: functions of one name differ by their signatures. */
const describeCandidate = (symbol: SymbolRow): string => {
  const { id, kind, signature } = symbol;
  const said = kind === 'function' || kind === 'method' ? ` ${signature}` : '';
  return `#${id} ${kind} ${labelSymbol(symbol)}${said}`;
};

export interface WireSymbol {
  id: number;
  name: string;
  kind: string;
  path: string;
  line: number;
  end_line: number;
  signature: string;
  doc?: string;
  project?: string | null;
}

export function toWireSymbol(symbol: SymbolRow, project?: string | null): WireSymbol {
  const { id, qualified, kind, path, line, endLine, signature, doc } = symbol;
  return {
    id,
    name: qualified,
    kind,
    path,
    line,
    end_line: endLine,
    signature,
    ...(doc === null ? {} : { doc }),
    ...(project === undefined ? {} : { project }),
  };
}

/** Why an answer is empty, and which state of the files it reflects. */
export interface WireState {
  /** The kind of an empty answer; null otherwise. */
  empty: string | null;
  note: string | null;
  candidates: string[];
}

const formatStale = (stale: AskedGraph['stale']): string | null => {
  if (stale === null) return null;
  if ('changing' in stale) return `files change while they are being read: ${stale.changing.join(', ')}`;
  const { phase, done, total } = stale.indexing;
  const what = phase === 'read' ? 'files read' : 'files resolved';
  return `stale: the index is being built, ${done} of ${total} ${what}; ask again in a few seconds`;
};

/** Describes the references that may be callers though none is known, as a clause; null if there are none. */
export function describeUnsure({
  mentions,
  files,
  overridden = [],
}: Pick<UnsureCallers, 'mentions' | 'files'> & { overridden?: readonly SymbolRow[] }): string | null {
  const named = overridden.slice(0, 3).map(labelSymbol).join(', ');
  const parts = [
    ...(mentions === 0
      ? []
      : [
          `${formatCount(mentions, 'mention')} of the name in ${formatCount(files, 'file')} could not be resolved and may be callers`,
        ]),
    ...(named === '' ? [] : [`it may be called through ${named}`]),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

/** Notes missing edges of the project's compiler. */
export const sayLack = (exact: string | null): string[] => (exact === null ? [] : [`exact edges: ${exact}`]);

const isNothing = (answer: GraphAnswer): answer is NothingFound => 'empty' in answer;

/** Returns notes of an answer about itself, preceded by other notes. */
export function describeGraphState(
  { answer, stale }: AskedGraph,
  empty: string | null = null,
  why: string | null = null,
): WireState {
  const late = formatStale(stale);
  if (!isNothing(answer))
    return { empty, note: [why, late].filter(Boolean).join('; ') || null, candidates: [] };
  const isEarly = stale !== null && answer.empty === 'not_found';
  return {
    empty: isEarly ? 'not_indexed' : answer.empty,
    note: [answer.reason, late].filter(Boolean).join('; '),
    candidates: answer.candidates.map(describeCandidate),
  };
}

/** Returns the part of an answer of its kind; null for another one, such as an empty one. */
export function pickAnswer<K extends string>(
  { answer }: AskedGraph,
  key: K,
): Extract<GraphAnswer, Record<K, unknown>> | null {
  return key in answer ? (answer as Extract<GraphAnswer, Record<K, unknown>>) : null;
}

/** Maximum listed characters: with its symbols an answer stays below 2,000 tokens. */
const MOST_CHARACTERS = 6000;

export interface WireEdge {
  from: number;
  to: number;
  kind: string;
  line: number;
  confidence: number;
  strategy: string;
  hop: number;
  candidates?: number;
}

export interface WireTrace {
  /** The legend of the edge numbers. */
  symbols: Record<string, string>;
  edges: WireEdge[];
  mentions: WireEdge[];
  hubs: { symbol: number; total: number }[];
  /** Number of omitted edges. */
  more: number;
}

const toWireEdge = (step: TraceStep): WireEdge => ({
  from: step.fromSymbol,
  to: step.toSymbol,
  kind: step.kind,
  line: step.line,
  confidence: step.confidence,
  strategy: step.strategy,
  hop: step.hop,
  ...(step.candidates > 1 ? { candidates: step.candidates } : {}),
});

/** Returns the wire form of a call graph, cut if it becomes too long to read. */
export function toWireTrace(trace: TraceReport, limit: number | undefined): WireTrace {
  const symbols: Record<string, string> = {};
  let size = 0;
  const fits = (step: TraceStep): boolean => {
    const labels = [step.fromSymbol, step.toSymbol].filter((id) => symbols[id] === undefined);
    const names = labels.map((id) => [id, labelSymbol(trace.symbols.get(id)!)] as const);
    const more = 90 + names.reduce((sum, [, label]) => sum + label.length + 10, 0);
    if (limit === undefined && size + more > MOST_CHARACTERS) return false;
    size += more;
    for (const [id, label] of names) symbols[id] = label;
    return true;
  };
  // Nearest first, in either direction.
  const steps = [...trace.steps].sort((one, other) => one.hop - other.hop);
  const edges = takeWhile(steps.slice(0, limit), fits);
  const mentions = takeWhile(trace.mentions, fits);
  return {
    symbols,
    edges: edges.map(toWireEdge),
    mentions: mentions.map(toWireEdge),
    hubs: trace.hubs.map(({ id, total }) => ({ symbol: id, total })),
    more: trace.steps.length - edges.length + (trace.isCut ? 1 : 0),
  };
}

function takeWhile<T>(items: readonly T[], fits: (item: T) => boolean): T[] {
  const end = items.findIndex((each) => !fits(each));
  return end < 0 ? [...items] : items.slice(0, end);
}

export interface WireImpact {
  files: number;
  symbols: string[];
  reached: {
    symbol: string;
    id: number;
    hop: number;
    confidence: number;
    line: number;
    through: string;
    test: boolean;
  }[];
  tests: string[];
  not_indexed: string[];
  more: number;
  /** The total in one line, regardless of the listed part. */
  summary: string;
}

/** Returns the wire form of an impact. */
export function toWireImpact(
  { files, unknown, declared, told, reached }: ImpactReport,
  limit: number | undefined,
): WireImpact {
  const names = new Map([...declared, ...reached.map(({ symbol }) => symbol)].map((each) => [each.id, each]));
  let size = 0;
  const fits = (text: string): boolean => {
    size += text.length;
    return limit !== undefined || size <= MOST_CHARACTERS;
  };
  const symbols = takeWhile(
    told.slice(0, limit).map(labelSymbol),
    (text) => fits(text) && (limit !== undefined || size < MOST_CHARACTERS / 3),
  );
  const sorted = [...reached].sort(
    (one, other) =>
      one.hop - other.hop || other.confidence - one.confidence || Number(one.isTest) - Number(other.isTest),
  );
  const rows = sorted.map((each) => ({
    symbol: labelSymbol(each.symbol),
    id: each.symbol.id,
    hop: each.hop,
    confidence: each.confidence,
    line: each.line,
    through: names.get(each.through)?.qualified ?? '',
    test: each.isTest,
  }));
  const shown = takeWhile(rows.slice(0, limit), (row) =>
    fits(`${row.symbol}${row.through}${' '.repeat(90)}`),
  );
  const tests = [...new Set(reached.filter(({ isTest }) => isTest).map(({ symbol }) => symbol.path))];
  const callers = reached.filter(({ isTest }) => !isTest);
  return {
    files: files.length,
    symbols,
    reached: shown,
    tests: tests.sort().slice(0, 40),
    not_indexed: unknown.slice(0, 20),
    more: reached.length - shown.length + told.length - symbols.length,
    summary: summarizeImpact(told.length, callers, tests.length),
  };
}

/** Below this confidence, an edge was found by name alone. */
const WEAK = 0.5;

/** Writes `changes 3 symbols, reached from 5 callers over two steps (1 by name only), 2 test files`. */
function summarizeImpact(symbols: number, callers: readonly ReachedSymbol[], tests: number): string {
  const weak = callers.filter(({ confidence }) => confidence < WEAK).length;
  const unsure = weak === 0 ? '' : ` (${weak} by name only)`;
  return `changes ${formatCount(symbols, 'symbol')}, reached from ${formatCount(callers.length, 'caller')} over two steps${unsure}, ${formatCount(tests, 'test file')}`;
}

const formatEdge = ({ kind, line, confidence, candidates, strategy }: WireEdge): string =>
  `${kind} line ${line}, ${confidence.toFixed(1)}${candidates === undefined ? '' : `, one of ${candidates}${strategy === 'overload' ? ' overloads' : ''}`}`;

/** Describes the state of an answer as text: why it is empty, and its age. */
export const sayState = ({ empty, note, candidates }: WireState): string[] => [
  ...(empty === null && note === null
    ? []
    : [`${empty === null ? '' : `${empty}: `}${note ?? ''}`.replace(/: $/, '')]),
  ...candidates.map((each) => `  ${each}`),
];

export function sayTrace(trace: WireTrace, root: number | null): string[] {
  const name = (id: number): string => toPrintable(trace.symbols[id] ?? `#${id}`);
  const lines = trace.edges.map((edge) => {
    const indent = '  '.repeat(edge.hop - 1);
    return `${indent}${name(edge.from)} → ${edge.to === root ? 'it' : name(edge.to)} (${formatEdge(edge)})`;
  });
  return [
    ...lines,
    ...trace.mentions.map((edge) => `${name(edge.from)} names it as ${edge.kind} (line ${edge.line})`),
    ...trace.hubs.map(({ symbol, total }) => `${name(symbol)} has ${total} in all; the surest 25 are shown`),
    ...(trace.more > 0 ? [`and ${formatCount(trace.more, 'more edge')}`] : []),
  ];
}
