import type { FileIndexer } from '../index-files/indexer.ts';
import { hashName } from '../store/digest.ts';
import { SYMBOL_COLUMNS, type SymbolRow, toSymbol } from '../store/rows.ts';

/** The references that may be calls of a symbol without known callers. */
export interface UnsureCallers {
  /** Mentions of its name in files that use its file, on values of unknown type. */
  mentions: number;
  files: number;
  /** Methods of base types that it overrides, and that are called. */
  overridden: SymbolRow[];
}

const MOST_LEVELS = 4;

/** Finds the references that may be calls of a symbol, though none is known. */
export function findUnsureCallers({ db }: Pick<FileIndexer, 'db'>, symbol: SymbolRow): UnsureCallers {
  const { mentions, files } = db
    .prepare(
      `SELECT coalesce(sum(n), 0) AS mentions, count(*) AS files FROM mention
        WHERE name = ? AND (file = @file OR file IN (SELECT file FROM dependency WHERE on_file = @file))`,
    )
    .get(hashName(symbol.name), { file: symbol.file }) as { mentions: number; files: number };
  return { mentions, files, overridden: symbol.kind === 'method' ? listOverridden(db, symbol) : [] };
}

function listOverridden(db: FileIndexer['db'], symbol: SymbolRow): SymbolRow[] {
  const bases = db.prepare(
    `SELECT symbol.file, symbol.place FROM edge JOIN symbol ON symbol.id = to_symbol
      WHERE edge.kind = 3 AND from_symbol = (SELECT id FROM symbol WHERE file = ? AND place = ?)`,
  );
  const called = db.prepare(
    `SELECT ${SYMBOL_COLUMNS} FROM symbol JOIN file ON file.id = symbol.file
      WHERE symbol.file = ? AND parent = ? AND name = ? AND EXISTS (SELECT 1 FROM edge WHERE to_symbol = symbol.id AND edge.kind = 0)`,
  );
  const found: SymbolRow[] = [];
  let level = [{ file: symbol.file, place: symbol.parent }];
  for (let depth = 0; depth < MOST_LEVELS && level.length > 0; depth += 1) {
    level = level.flatMap(({ file, place }) => bases.all(file, place) as typeof level);
    for (const { file, place } of level) found.push(...called.all(file, place, symbol.name).map(toSymbol));
  }
  return found;
}
