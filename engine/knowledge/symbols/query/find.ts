import { isAbsolute, relative } from 'node:path';
import { isTestPath } from '../../sources/index.ts';
import type { FileIndexer } from '../index-files/indexer.ts';
import { listParameters, splitList } from '../overloads.ts';
import { SYMBOL_COLUMNS, type SymbolRow, toSymbol } from '../store/rows.ts';
import { findNearNames } from './similar.ts';

/** The result of looking up a name. */
export type SymbolLookup =
  | { symbol: SymbolRow }
  | { candidates: SymbolRow[]; total: number }
  | { similar: SymbolRow[] };

const MOST_CANDIDATES = 12;
const MOST_SIMILAR = 5;
const MOST_READ = 400;

const FROM = `FROM symbol JOIN file ON file.id = symbol.file`;

export const readSymbol = ({ db }: Pick<FileIndexer, 'db'>, id: number): SymbolRow | null => {
  const row = db.prepare(`SELECT ${SYMBOL_COLUMNS} ${FROM} WHERE symbol.id = ?`).get(id);
  return row === undefined ? null : toSymbol(row);
};

/**
 * Finds the only symbol that a name means: a number, `file:name`, `Class.method` or a bare name.
 * @param isSeen limits the result by path; default: all
 */
export function findSymbol(
  indexer: FileIndexer,
  wanted: string,
  isSeen: (path: string) => boolean = () => true,
): SymbolLookup {
  const text = wanted.trim().replace(/^#(?=\d)/, '');
  if (/^\d+$/.test(text)) {
    const symbol = readSymbol(indexer, Number(text));
    return symbol === null || !isSeen(symbol.path) ? { similar: [] } : { symbol };
  }
  const [, bare = text, params] = /^([^()]+)\((.*)\)$/s.exec(text) ?? [];
  const { path, name } = splitName(indexer, bare);
  const named = listNamed(indexer, path, name).filter((each) => isSeen(each.path));
  const found = narrow(params === undefined ? named : selectOverloads(named, params));
  if (found.length === 1) return { symbol: found[0]! };
  if (found.length > 1) return { candidates: found.slice(0, MOST_CANDIDATES), total: found.length };
  return {
    similar: listSimilar(indexer, name)
      .filter((each) => isSeen(each.path))
      .slice(0, MOST_SIMILAR),
  };
}

/** Returns the symbols of a similar name: those that contain it, then those that differ by a few letters. */
function listSimilar(indexer: FileIndexer, name: string): SymbolRow[] {
  const found = searchSymbols(indexer, name, MOST_READ);
  const last = name.split('.').at(-1) ?? name;
  const near = findNearNames(indexer, last, MOST_SIMILAR).flatMap((each) => listNamed(indexer, null, each));
  const known = new Set(found.map(({ id }) => id));
  return [...found.slice(0, MOST_READ), ...near.filter(({ id }) => !known.has(id))];
}

/** Selects the functions whose signature has these parameters, `clone(double[])`; all of them if none has. */
function selectOverloads(found: readonly SymbolRow[], params: string): SymbolRow[] {
  const wanted = splitList(params);
  const fitting = found.filter(({ signature, name }) => {
    const own = listParameters(signature, name);
    return own?.length === wanted.length && own.every((each, at) => hasType(each, wanted[at]!));
  });
  return fitting.length > 0 ? fitting : [...found];
}

/** Reports whether a parameter as written has that type: `final double[] a` has `double[]`. */
const hasType = (param: string, type: string): boolean =>
  ` ${param.replace(/[:,]/g, ' ').replace(/\s+/g, ' ')} `.includes(` ${type} `) || param === type;

/** Splits `src/a.ts:name` and `src/a.ts#name`; a path alone is the file itself. */
function splitName(indexer: FileIndexer, text: string): { path: string | null; name: string } {
  const [, path, name] = /^(.*[^:#])[:#]([^:#/]+)$/.exec(text) ?? [];
  if (path !== undefined && name !== undefined && /[./]/.test(path))
    return { path: toRelative(indexer, path), name };
  const whole = toRelative(indexer, text);
  return indexer.hasFile(whole)
    ? { path: whole, name: whole }
    : { path: null, name: text.replaceAll('::', '.') };
}

export function toRelative({ root }: Pick<FileIndexer, 'root'>, path: string): string {
  const inside = isAbsolute(path) ? relative(root, path) : path;
  return inside.replace(/^\.\//, '');
}

/** Matches are filtered before counting: thousands of symbols may share a name. */
function listNamed({ db }: FileIndexer, path: string | null, name: string): SymbolRow[] {
  const last = path === name ? name : (name.split('.').at(-1) ?? name);
  const isEnd = (column: string, of: string, divider: string): string =>
    `(${column} = @${of} OR substr(${column}, -length('${divider}' || @${of})) = '${divider}' || @${of})`;
  return db
    .prepare(
      `SELECT ${SYMBOL_COLUMNS} ${FROM} WHERE symbol.name = @last
         AND (@path IS NULL OR ${isEnd('file.path', 'path', '/')})
         AND (@last = @name OR ${isEnd('qualified', 'name', '.')})
       ORDER BY symbol.id LIMIT +@most`,
    )
    .all({ last, path, name, most: MOST_READ })
    .map(toSymbol);
}

/** Narrows matches: callable and constructible symbols come before fields and types of the same name, and sources before tests. */
function narrow(found: SymbolRow[]): SymbolRow[] {
  const rules: ((symbol: SymbolRow) => boolean)[] = [
    ({ kind }) => kind !== 'field',
    ({ path }) => !isTestPath(path),
    ({ kind }) => kind !== 'interface' && kind !== 'type' && kind !== 'namespace',
    ({ path }) => !path.endsWith('.d.ts'),
  ];
  let left = found;
  for (const rule of rules) {
    const kept = left.filter(rule);
    if (kept.length > 0) left = kept;
  }
  return left;
}

/** Returns the necessary condition for a name that contains a text: all groups of three letters. */
function toTrigrams(text: string): string {
  const letters = [...text.toLowerCase()];
  const groups = letters.slice(2).map((_, at) => letters.slice(at, at + 3).join(''));
  return groups.map((group) => `"${group.replaceAll('"', '""')}"`).join(' AND ');
}

/** Returns symbols whose name contains a text: exact matches first, then prefix matches. */
export function searchSymbols({ db }: FileIndexer, query: string, limit: number): SymbolRow[] {
  const name =
    query
      .trim()
      .split(/[.:#\s]+/)
      .at(-1) ?? '';
  // A name has no NUL, which would end the query inside a string.
  if (name === '' || name.includes('\0')) return [];
  const isLong = [...name].length >= 3;
  const ids = isLong
    ? db
        .prepare('SELECT rowid FROM symbol_text WHERE symbol_text MATCH ? LIMIT +?')
        .pluck()
        .all(toTrigrams(name), MOST_READ)
    : db.prepare('SELECT id FROM symbol WHERE name = ? LIMIT +?').pluck().all(name, MOST_READ);
  const lower = name.toLowerCase();
  const rankSymbol = ({ name: own, kind, path }: SymbolRow): number =>
    (own === name ? 0 : own.toLowerCase() === lower ? 1 : own.toLowerCase().startsWith(lower) ? 2 : 3) * 8 +
    (kind === 'field' ? 4 : 0) +
    (isTestPath(path) ? 2 : 0);
  return db
    .prepare(
      `SELECT ${SYMBOL_COLUMNS} ${FROM} WHERE symbol.id IN (SELECT value FROM json_each(?)) AND kind <> 'file'`,
    )
    .all(JSON.stringify(ids))
    .map(toSymbol)
    .filter((each) => each.name.toLowerCase().includes(lower))
    .sort(
      (one, other) =>
        rankSymbol(one) - rankSymbol(other) || one.name.length - other.name.length || one.id - other.id,
    )
    .slice(0, limit);
}
