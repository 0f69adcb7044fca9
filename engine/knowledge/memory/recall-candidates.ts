import type { Db } from '../../storage/index.ts';
import { quoteForMatch } from '../search/index.ts';
import type { WantedTerm } from './recall-terms.ts';

export interface RecallFilter {
  type: string | null;
  onlyReviewed: 0 | 1;
  /** The last change is at or after this time; milliseconds. */
  since: number | null;
  /** The last change is before this time. */
  until: number | null;
}

/** Rows that are compared in full. */
const MOST_CANDIDATES = 80;
/** Rows that are read per term and in total; a term with more rows is only searched in titles and in combination. */
const MOST_ROWS = 800;
const MOST_ROWS_TOGETHER = 4000;
const MOST_COMMON_ROWS = 150;
const MOST_COMMON = 5;
/** Terms with a near meaning that are looked up for each word. */
const MOST_MEANT = 4;
/** The weight of a title word relative to a text word. */
const IN_TITLE = 1.7;

/** The condition of a `RecallFilter`. */
export const PASSES_FILTER = `(@type IS NULL OR memory.type = @type)
  AND (NOT @onlyReviewed OR memory.unreviewed IS NULL)
  AND (@since IS NULL OR memory.changed_at >= @since) AND (@until IS NULL OR memory.changed_at < @until)`;

/** Creates the search for candidate rows. Reads a bounded number of rows. */
export function createCandidateFinder(db: Db) {
  const selectRows = (filter: string) =>
    db
      .prepare<unknown[], number>(
        `SELECT found.rowid FROM memory_words AS found ${filter}
        WHERE memory_words MATCH @match ORDER BY found.rowid DESC LIMIT +@most`,
      )
      .pluck();
  const all = selectRows('');
  const filtered = selectRows(`JOIN memory ON memory.number = found.rowid AND ${PASSES_FILTER}`);

  /** Returns the best candidate rows, by the combined weight of their terms. */
  function findCandidates(wanted: readonly WantedTerm[], rows: number, filter: RecallFilter): number[] {
    const { type, onlyReviewed, since, until } = filter;
    const isFiltered = type !== null || onlyReviewed === 1 || since !== null || until !== null;
    /** The best match of each term in each row. */
    const gains = new Map<number, number[]>();
    let read = 0;
    const addMatches = (match: string, most: number, told: readonly { of: number; gain: number }[]): void => {
      const numbers = (isFiltered ? filtered : all).all({ match, most, ...(isFiltered ? filter : {}) });
      read += numbers.length;
      for (const number of numbers) {
        const its = gains.get(number) ?? new Array<number>(wanted.length).fill(0);
        gains.set(number, its);
        for (const { of, gain } of told) its[of] = Math.max(its[of] ?? 0, gain);
      }
    };
    const lists = wanted
      .flatMap(({ forms, near, meant, weight, count }, of) => [
        { of, match: anyOf(forms), count, gain: weight * rarityOf(count, rows) },
        ...[...near, ...meant.slice(0, MOST_MEANT)].map((each) => ({
          of,
          match: anyOf([each.term]),
          count: each.count,
          gain: each.weight * weight * rarityOf(Math.max(each.count, count), rows),
        })),
      ])
      .filter(({ count }) => count > 0)
      .sort((one, other) => other.gain - one.gain);
    const common: typeof lists = [];
    for (const list of lists)
      if (list.count <= MOST_ROWS && read < MOST_ROWS_TOGETHER) addMatches(list.match, MOST_ROWS, [list]);
      else common.push(list);
    // A term with many rows only counts in the title, and in combination.
    const inTitle = (list: (typeof lists)[number]) => ({ of: list.of, gain: IN_TITLE * list.gain });
    const told = common.slice(0, MOST_COMMON);
    for (const [at, one] of told.entries()) {
      addMatches(`title : ${one.match}`, MOST_COMMON_ROWS, [inTitle(one)]);
      for (const other of told.slice(at + 1)) {
        if (other.of === one.of) continue;
        addMatches(`title : ${one.match} AND title : ${other.match}`, MOST_COMMON_ROWS, [
          inTitle(one),
          inTitle(other),
        ]);
        addMatches(`${one.match} AND ${other.match}`, MOST_COMMON_ROWS, [one, other]);
      }
    }
    return [...gains]
      .map(([number, its]) => ({ number, worth: its.reduce((sum, each) => sum + each, 0) }))
      .sort((one, other) => other.worth - one.worth || other.number - one.number)
      .slice(0, MOST_CANDIDATES)
      .map(({ number }) => number);
  }

  return findCandidates;
}

export const rarityOf = (count: number, rows: number): number =>
  Math.log(1 + (rows - count + 0.5) / (count + 0.5));
const anyOf = (words: readonly string[]): string => `(${words.map(quoteForMatch).join(' OR ')})`;
