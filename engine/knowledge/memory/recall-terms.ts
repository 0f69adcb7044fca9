import type { Db } from '../../storage/index.ts';
import { listKeys, nearWords, quoteForMatch, readQuery } from '../search/index.ts';

/** A related term, with its weight relative to the word itself. */
export interface NearTerm {
  term: string;
  weight: number;
  /** Number of rows that contain it. */
  count: number;
}

/** A search term with its number of rows. */
export interface WantedTerm {
  word: string;
  forms: readonly string[];
  near: readonly NearTerm[];
  /** Terms with a near meaning, nearest first; looked up only if the words find little. */
  meant: readonly NearTerm[];
  weight: number;
  /** Number of rows that contain one of its forms. */
  count: number;
}

/** The least weight of a term that says what the question is about. */
export const TELLING = 0.6;
/** Weights of other words: a possible synonym, a part of a compound, a word that contains it, a similar spelling. */
const SYNONYM = 0.6;
const PART = 0.75;
const INSIDE = 0.6;
const MISTYPED = 0.7;
/** For a text used as a query, only its rarest terms apply. */
const MOST_TERMS = 24;
/** A word with more rows is not extended to longer words that contain it. */
const RARE = 20;
const MOST_INSIDE = 12;
const MOST_GUESSED = 6;
/** Words with a similar start that are compared with a mistyped word. */
const MOST_BESIDE = 4000;

type CountRows = (terms: readonly string[]) => Map<string, number>;

/** Creates the reading of a query: its terms, with known terms near them. */
export function createTermReader(db: Db) {
  const countsOf = db.prepare<unknown[], { term: string; rows: number }>(
    'SELECT term, rows FROM memory_terms WHERE term IN (SELECT value FROM json_each(?))',
  );
  const beside = db
    .prepare<unknown[], string>(
      'SELECT term FROM memory_terms WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ? LIMIT +?',
    )
    .pluck();
  const holding = db.prepare<unknown[], { term: string; rows: number }>(
    `SELECT term, rows FROM memory_terms WHERE id IN
      (SELECT rowid FROM memory_term_parts WHERE memory_term_parts MATCH ? LIMIT 500)
    ORDER BY length(term) LIMIT +?`,
  );

  const countRows = (terms: readonly string[]): Map<string, number> =>
    new Map(countsOf.all(JSON.stringify(terms)).map(({ term, rows }) => [term, rows]));

  /** Returns known terms that contain a word, or that it stands for if it is unknown itself. */
  function guessNear({ word, forms, count }: WantedTerm): NearTerm[] {
    if (word.length < 3 || count > RARE || !/^[a-z]+$/.test(word)) return [];
    if (word.length === 3 && count > 0) return [];
    const part = shortest(forms);
    const inside = holding
      .all(quoteForMatch(part), MOST_INSIDE)
      // With three letters it must be a prefix, as in search as you type.
      .filter(({ term }) => !forms.includes(term) && (word.length > 3 || term.startsWith(word)))
      .map(({ term, rows }) => ({ term, weight: INSIDE, count: rows }));
    if (count > 0 || inside.length > 0) return inside;
    const compound = splitCompound(countRows, word);
    if (compound.length > 0) return compound;
    const [first, second] = [word.slice(0, 2), `${word[0]}${String.fromCharCode(word.charCodeAt(1) + 1)}`];
    const known = beside.all(first, second, word.length - 2, word.length + 6, MOST_BESIDE);
    const meant = nearWords(word, known, MOST_GUESSED);
    const counts = countRows(meant);
    return meant.map((term) => ({ term, weight: MISTYPED, count: counts.get(term) ?? 0 }));
  }

  /** Returns the terms of the query, in order. */
  function readWanted(query: string): { wanted: WantedTerm[]; rows: number } {
    const read = readQuery(query);
    const counts = countRows(['', ...read.flatMap(({ forms }) => forms)]);
    const rows = counts.get('') ?? 0;
    if (rows === 0) return { wanted: [], rows };
    const found = read
      .map(({ near, ...term }, place) => {
        const count = Math.max(0, ...term.forms.map((form) => counts.get(form) ?? 0));
        return { ...term, place, synonyms: near, near: [], meant: [], count };
      })
      .sort((one, other) => (one.count || rows) - (other.count || rows))
      .slice(0, MOST_TERMS)
      .sort((one, other) => one.place - other.place);
    const others = countRows(found.flatMap(({ synonyms }) => synonyms));
    return {
      rows,
      wanted: found.map(({ synonyms, ...term }) => ({
        ...term,
        near: [
          ...synonyms
            .filter((each) => others.has(each) && !term.forms.includes(each))
            .map((each) => ({ term: each, weight: SYNONYM, count: others.get(each) ?? 0 })),
          ...guessNear(term),
        ],
      })),
    };
  }

  return readWanted;
}

/** Splits an unknown word into two known words, or a known one after a syllable. */
function splitCompound(countRows: CountRows, word: string): NearTerm[] {
  if (word.length < 6) return [];
  const cuts = Array.from({ length: word.length - 5 }, (_, at) => at + 3);
  const parts = cuts.map((at) => {
    const left = word.slice(0, at).replace(/-$/, '');
    // German joins words with an s or an n.
    const lefts = at > 5 ? [left, left.replace(/(?:e?s|e?n)$/, '')] : [left];
    return { left: lefts, right: listKeys(word.slice(at)) };
  });
  const counts = countRows(parts.flatMap(({ left, right }) => [...left, ...right]));
  const known = (terms: readonly string[]): string[] => terms.filter((term) => counts.has(term));
  const weighTerms = (terms: readonly string[]): NearTerm[] =>
    [...new Set(terms)].map((term) => ({ term, weight: PART, count: counts.get(term) ?? 0 }));
  const whole = parts
    .map(({ left, right }) => ({ left: known(left), right: known(right) }))
    .filter(({ left, right }) => left.length > 0 && right.length > 0);
  if (whole.length > 0)
    return weighTerms(whole.slice(0, 2).flatMap(({ left, right }) => [...left, ...right]));
  // The longest known word at either end.
  const ends = parts.flatMap(({ left, right }) => [...known(left), ...known(right)]);
  return weighTerms(
    ends
      .filter((term) => term.length >= 4)
      .sort((one, other) => other.length - one.length)
      .slice(0, 3),
  );
}

const longest = (forms: readonly string[]): string =>
  forms.reduce((best, each) => (each.length > best.length ? each : best), '');
/** Returns the shortest form of at least five letters: the common part of inflected words. */
const shortest = (forms: readonly string[]): string =>
  forms.reduce((best, each) => (each.length >= 5 && each.length < best.length ? each : best), longest(forms));
