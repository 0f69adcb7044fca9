import { lstatSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isInsideFolder } from '../../../core/base/paths.ts';
import { type Git, listChangedFiles } from '../../../workers/runner/worktrees/index.ts';
import { SKIP_REASONS, type SkipCounts } from '../../sources/index.ts';
import type { FileIndexer } from '../index-files/indexer.ts';
import type { SymbolRow } from '../store/rows.ts';
import { type ArchitectureReport, describeArchitecture } from './architecture.ts';
import { findSymbol, searchSymbols } from './find.ts';
import { countReferences, findImpact, type ImpactReport, type TouchedLines } from './impact.ts';
import { readSnippet, type SourceSnippet } from './snippet.ts';
import { type TraceDirection, type TraceReport, traceCalls } from './trace.ts';

/** A question to an index. */
export type GraphQuestion =
  | { ask: 'status' }
  | { ask: 'architecture' }
  | { ask: 'trace'; symbol: string; depth: number; direction: TraceDirection }
  | { ask: 'impact'; paths: string[] | null; range: string | null; touched?: TouchedLines }
  | { ask: 'snippet'; symbol: string; maxLines: number }
  | { ask: 'inspect'; symbol: string; only: string[] | null }
  | { ask: 'search'; query: string; limit: number; only: string[] | null };

/** Why there is no answer. */
export interface NothingFound {
  empty: 'not_found' | 'ambiguous' | 'not_indexed' | 'unsupported_language' | 'parse_failed';
  reason: string;
  candidates: SymbolRow[];
}

export interface GraphStatus {
  files: number;
  symbols: number;
  edges: number;
  byConfidence: Record<string, number>;
  unresolved: number;
  /** Files with syntax errors. */
  withErrors: number;
  languages: Record<string, number>;
  skipped: SkipCounts;
  dirty: number;
  /** Time of the last update of the index, ms since 1970; null for never. */
  at: number | null;
}

export type GraphAnswer =
  | NothingFound
  | { status: GraphStatus }
  | { architecture: ArchitectureReport }
  | { symbol: SymbolRow; trace: TraceReport }
  | { impact: ImpactReport }
  | { symbol: SymbolRow; snippet: SourceSnippet }
  | { symbol: SymbolRow; references: Record<string, number>; errors: number }
  | { symbols: SymbolRow[] };

/** Reports whether a path equals one of the paths or is below one. */
const isBelow = (path: string, only: readonly string[] | null): boolean =>
  only === null || only.some((each) => each === '.' || path === each || path.startsWith(`${each}/`));

/** Answers a question, and lists the files in the answer. */
export async function answerQuestion(
  indexer: FileIndexer,
  question: GraphQuestion,
  git: Git,
): Promise<{ answer: GraphAnswer; names: Set<string> }> {
  switch (question.ask) {
    case 'status':
      return { answer: { status: readStatus(indexer) }, names: new Set() };
    case 'architecture':
      return { answer: { architecture: describeArchitecture(indexer) }, names: new Set() };
    case 'search': {
      const many = question.only === null ? question.limit : 400;
      const symbols = searchSymbols(indexer, question.query, many)
        .filter(({ path }) => isBelow(path, question.only))
        .slice(0, question.limit);
      return { answer: { symbols }, names: new Set(symbols.map(({ path }) => path)) };
    }
    case 'impact': {
      const paths = question.paths ?? (await listChangedFiles(indexer.root, git, question.range));
      if (paths === null)
        return nothing('not_found', `git knows no range ${JSON.stringify(question.range ?? 'HEAD')} here`);
      const impact = findImpact(indexer, paths, question.touched);
      // Git also lists removed files.
      if (question.paths === null) {
        const isFileThere = (path: string): boolean =>
          lstatSync(join(indexer.root, path), { throwIfNoEntry: false }) !== undefined;
        impact.removed = impact.unknown.filter((path) => !isFileThere(path));
        impact.unknown = impact.unknown.filter(isFileThere);
      }
      const reached = impact.reached.map(({ symbol }) => symbol.path);
      const names = new Set([...impact.files, ...impact.unknown, ...reached]);
      return { answer: { impact }, names };
    }
    default:
      break;
  }
  // A question about a project's shared paths must not reveal others.
  const only = question.ask === 'inspect' ? question.only : null;
  const found = findSymbol(indexer, question.symbol, (path) => isBelow(path, only));
  if ('candidates' in found) {
    const many = found.total > found.candidates.length ? `, ${found.total} in all` : '';
    return nothing(
      'ambiguous',
      `several symbols have this name${many}: name one by its id or as file:name`,
      found.candidates,
    );
  }
  if ('similar' in found)
    return only === null
      ? explainMissing(indexer, question.symbol, found.similar)
      : nothing('not_found', `no symbol of the shared paths is named ${question.symbol}`, found.similar);
  const { symbol } = found;
  const names = new Set([symbol.path]);
  if (question.ask === 'trace') {
    const trace = traceCalls(indexer, symbol, question.depth, question.direction);
    for (const { path } of trace.symbols.values()) names.add(path);
    return { answer: { symbol, trace }, names };
  }
  if (question.ask === 'inspect') {
    const errors = indexer.db
      .prepare('SELECT errors FROM file WHERE id = ?')
      .pluck()
      .get(symbol.file) as number;
    return { answer: { symbol, references: countReferences(indexer, symbol), errors }, names };
  }
  const snippet = readSnippet(indexer, symbol, question.maxLines);
  if (snippet === null) return nothing('not_found', `${symbol.path} no longer exists`);
  return { answer: { symbol, snippet }, names };
}

const nothing = (empty: NothingFound['empty'], reason: string, candidates: SymbolRow[] = []) => ({
  answer: { empty, reason, candidates },
  names: new Set(candidates.map(({ path }) => path)),
});

/** Reports whether a path is a file of the project. */
function isFileOf({ root }: FileIndexer, path: string): boolean {
  const whole = resolve(root, path);
  return isInsideFolder(root, whole) && lstatSync(whole, { throwIfNoEntry: false })?.isFile() === true;
}

/** Returns why no symbol has that name: its file is skipped, unsupported or has syntax errors, or the name does not exist. */
function explainMissing(indexer: FileIndexer, wanted: string, similar: SymbolRow[]) {
  const path = /^(.*\.\w+)(?:[:#].*)?$/.exec(wanted)?.[1];
  if (path !== undefined && indexer.languageOf(path) === null && isFileOf(indexer, path))
    return nothing('unsupported_language', `${path} is not in a supported language`);
  if (path !== undefined && wanted.includes('/')) {
    const row = indexer.db
      .prepare('SELECT state, errors FROM file WHERE path = ? OR path LIKE ?')
      .get(path, `%/${path.replace(/[%_]/g, '')}`) as { state: string; errors: number } | undefined;
    if (row !== undefined && row.state !== 'ok') {
      const skipped = (SKIP_REASONS as Record<string, string | undefined>)[row.state];
      const why =
        skipped ?? (row.state === 'slow' ? 'it takes too long to parse' : 'it could not be read as code');
      return nothing(skipped === undefined ? 'parse_failed' : 'not_indexed', `${path} is omitted: ${why}`);
    }
    if (row !== undefined && row.errors > 0)
      return nothing(
        'parse_failed',
        `${path} has sections that could not be parsed, and no such symbol elsewhere`,
        similar,
      );
    if (row === undefined && indexer.languageOf(path) === null)
      return nothing('unsupported_language', `${path} is not in a supported language`);
    if (row === undefined)
      return nothing(
        'not_indexed',
        `${path} is not a source of the project: ignored, vendored, generated or missing`,
        similar,
      );
  }
  return nothing('not_found', `no symbol is named ${JSON.stringify(wanted.slice(0, 200))}`, similar);
}

function readStatus(indexer: FileIndexer): GraphStatus {
  const { db } = indexer;
  const one = (sql: string): number => (db.prepare(sql).pluck().get() as number | null) ?? 0;
  const group = (sql: string): Record<string, number> =>
    Object.fromEntries(
      (db.prepare(sql).raw().all() as [string | number, number][]).map(([name, n]) => [String(name), n]),
    );
  const at = one("SELECT value FROM fact WHERE name = 'at'");
  const confidences = group('SELECT confidence, count(*) FROM edge GROUP BY 1');
  return {
    files: one("SELECT count(*) FROM file WHERE state = 'ok'"),
    symbols: one("SELECT count(*) FROM symbol WHERE kind NOT IN ('file', 'field')"),
    edges: one('SELECT count(*) FROM edge'),
    byConfidence: Object.fromEntries(
      Object.entries(confidences).map(([tenths, n]) => [(Number(tenths) / 10).toFixed(1), n]),
    ),
    unresolved: one('SELECT sum(unresolved) FROM file'),
    withErrors: one('SELECT count(*) FROM file WHERE errors > 0'),
    languages: group("SELECT language, count(*) FROM file WHERE state = 'ok' GROUP BY 1 ORDER BY 2 DESC"),
    skipped: indexer.skipped(),
    dirty: indexer.countDirty(),
    at: at === 0 ? null : Number(at),
  };
}
