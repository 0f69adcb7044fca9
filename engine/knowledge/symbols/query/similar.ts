import { countEdits } from '../../search/index.ts';
import type { FileIndexer } from '../index-files/indexer.ts';

const MOST_READ = 4000;
const LONGEST = 60;

/** Returns the names of symbols that a few changed letters make of a text, nearest first. */
export function findNearNames({ db }: Pick<FileIndexer, 'db'>, text: string, limit: number): string[] {
  const wanted = text.toLowerCase();
  const letters = [...wanted];
  const most = Math.min(3, Math.floor(letters.length / 3));
  if (most === 0 || letters.length > LONGEST || wanted.includes('\0')) return [];
  const groups = letters.slice(2).map((_, at) => letters.slice(at, at + 3).join(''));
  const query = groups.map((group) => `"${group.replaceAll('"', '""')}"`).join(' OR ');
  // A changed letter leaves groups of three elsewhere, or else the start of a short name.
  const rows = [
    ...db
      .prepare(
        `SELECT DISTINCT name FROM symbol WHERE kind <> 'file' AND id IN
           (SELECT rowid FROM symbol_text WHERE symbol_text MATCH ? LIMIT ${MOST_READ})`,
      )
      .pluck()
      .all(query),
    ...db
      .prepare(
        `SELECT DISTINCT name FROM symbol WHERE kind <> 'file' AND substr(name, 1, 2) = substr(?, 1, 2)
            AND length(name) BETWEEN ? AND ? LIMIT ${MOST_READ}`,
      )
      .pluck()
      .all(text, letters.length - most, letters.length + most),
  ] as string[];
  return [...new Set(rows)]
    .map((name) => ({ name, far: countEdits(letters, [...name.toLowerCase()], most) }))
    .filter(({ far }) => far <= most)
    .sort((one, other) => one.far - other.far || one.name.length - other.name.length)
    .slice(0, limit)
    .map(({ name }) => name);
}
