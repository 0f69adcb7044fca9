import { posix } from 'node:path';
import { STRATEGIES } from '../edges.ts';
import type { FileIndexer } from '../index-files/indexer.ts';
import { HAS_OVERLOADS, listParameters, readRange } from '../overloads.ts';
import { SYMBOL_COLUMNS, type SymbolRow, toSymbol } from '../store/rows.ts';

/** A symbol whose incoming references also count for another one. */
export interface AlikeSymbol {
  id: number;
  /** Counts only references that may mean any of several overloads. */
  isShared: boolean;
}

export interface AlikeSymbols {
  /** The symbol itself first. */
  all: AlikeSymbol[];
  /** Number of functions that share the references which may mean any of them; 1 for none. */
  overloads: number;
  /** Number of files that declare it for different builds; 1 if only one does. */
  builds: number;
}

export const OVERLOAD = STRATEGIES.indexOf('overload');

/** The names of constructors in the languages: creating an object refers to its class. */
const CONSTRUCTORS = ['constructor', '__init__', '__construct', 'initialize'];

/** Creates the search for symbols that calls do not distinguish from another: overloads, a class and its constructors. */
export function createAlikeFinder({ db }: Pick<FileIndexer, 'db'>) {
  const named = db.prepare(
    `SELECT ${SYMBOL_COLUMNS} FROM symbol JOIN file ON file.id = symbol.file
      WHERE symbol.file = ? AND parent = ? AND name = ? ORDER BY place`,
  );
  const inPackage = db.prepare(
    `SELECT symbol.id, file.path FROM symbol JOIN file ON file.id = symbol.file
      WHERE name = ? AND qualified = ? AND symbol.file <> ? AND file.language = 'go' AND kind <> 'field'`,
  );
  /** Lists the declarations of a Go symbol in other files of its package: each is for another build. */
  const listBuilds = (symbol: SymbolRow): number[] =>
    symbol.language !== 'go' || symbol.kind === 'file' || symbol.name === 'init'
      ? []
      : (inPackage.all(symbol.name, symbol.qualified, symbol.file) as { id: number; path: string }[])
          .filter(({ path }) => posix.dirname(path) === posix.dirname(symbol.path))
          .map(({ id }) => id);
  const place = db.prepare('SELECT id FROM symbol WHERE file = ? AND place = ?').pluck();
  const listNamed = (file: number, parent: number, name: string): SymbolRow[] =>
    named.all(file, parent, name).map(toSymbol);

  function findInFile(symbol: SymbolRow): Omit<AlikeSymbols, 'builds'> {
    const own = { id: symbol.id, isShared: false };
    if (symbol.kind === 'class' || symbol.kind === 'enum') {
      const made = CONSTRUCTORS.flatMap((name) => listNamed(symbol.file, symbol.place, name));
      return { all: [own, ...made.map(({ id }) => ({ id, isShared: false }))], overloads: 1 };
    }
    if (symbol.kind !== 'function' && symbol.kind !== 'method') return { all: [own], overloads: 1 };
    const group = listNamed(symbol.file, symbol.parent, symbol.name).filter(
      ({ kind, qualified }) => (kind === 'function' || kind === 'method') && qualified === symbol.qualified,
    );
    if (CONSTRUCTORS.includes(symbol.name) && symbol.parent > 0) {
      const id = place.get(symbol.file, symbol.parent) as number;
      return { all: [own, { id, isShared: false }], overloads: group.length };
    }
    if (group.length < 2 || !HAS_OVERLOADS.has(symbol.language)) return { all: [own], overloads: 1 };
    const others = group.filter((each) => each.id !== symbol.id && mayBeMeantBoth(symbol, each));
    return {
      all: [own, ...others.map(({ id }) => ({ id, isShared: true }))],
      overloads: others.length + 1,
    };
  }

  return (symbol: SymbolRow): AlikeSymbols => {
    const { all, overloads } = findInFile(symbol);
    const builds = listBuilds(symbol);
    return {
      all: [...all, ...builds.map((id) => ({ id, isShared: false }))],
      overloads,
      builds: builds.length + 1,
    };
  };
}

/** Reports whether one call may mean either of two overloads, by the number of their arguments. */
function mayBeMeantBoth(one: SymbolRow, other: SymbolRow): boolean {
  const [first, second] = [one, other].map(({ signature, name }) => listParameters(signature, name));
  if (first == null || second == null) return true;
  const [a, b] = [readRange(first), readRange(second)];
  return a[0] <= b[1] && b[0] <= a[1];
}
