import type { Clock } from '../../base/clock.ts';
import type { Storage } from '../../storage/index.ts';
import { nearWords, quoteForMatch, readQuery } from '../search/index.ts';
import { type Memory, type MemoryRow, toMemory } from './rows.ts';

/** What is looked for: a term with the share of its rows. */
interface Wanted {
  forms: readonly string[];
  near: readonly string[];
  weight: number;
  /** Rows that hold one of its forms. */
  count: number;
}

interface Filter {
  type: string | null;
  onlyReviewed: 0 | 1;
}

interface Candidate extends MemoryRow {
  title_words: string;
  tag_words: string;
  text_words: string;
}

/** How much a field says: a title more than tags, tags more than the text. */
const FIELDS = [
  { name: 'title_words', weight: 4, usual: 8 },
  { name: 'tag_words', weight: 2.5, usual: 4 },
  { name: 'text_words', weight: 1, usual: 60 },
] as const;
/** Saturation by repetition and by length, as in BM25. */
const K = 1.2;
const B = 0.5;
/** What another word that may mean the same counts for, and what stands inside of a longer word. */
const NEAR = 0.55;
const INSIDE = 0.6;
/** A row that holds all that is asked for goes before one that says a part of it often. */
const COVERAGE = 0.6;
/** Decisions and traps are what one looks for. */
const TYPE_BOOST: Readonly<Record<string, number>> = { decision: 1.04, gotcha: 1.04 };
const RECENCY = 0.04;
const RECENCY_MS = 30 * 86_400_000;
/** Rows that are compared in full, and rows that may be ranked by the index to find them. */
const MOST_CANDIDATES = 60;
const MOST_RANKED = 2500;
/** Of a text given as a query, the rarest terms count. */
const MOST_TERMS = 24;
/** Rows that hold a part of a longer word. */
const MOST_INSIDE = 20;
/** Counts of terms that are kept; they are read anew when the memory has grown or shrunk by a fiftieth. */
const MOST_COUNTS = 5000;

/** Finds what is remembered about something, best first. */
export function createRecall({ storage, clock }: { storage: Storage; clock: Clock }) {
  const { db } = storage;
  const countOf = db.prepare<unknown[], { doc: number }>('SELECT doc FROM memory_vocabulary WHERE term = ?');
  const vocabulary = db
    .prepare<unknown[], string>(
      'SELECT term FROM memory_vocabulary WHERE term >= ? AND term < ? AND length(term) BETWEEN ? AND ?',
    )
    .pluck();
  const total = db.prepare<unknown[], number>("SELECT count(*) FROM memory WHERE state = 'active'").pluck();
  const selectRows = (table: string, order: string, most: number, filter: string) =>
    db
      .prepare<unknown[], number>(
        `SELECT found.rowid FROM ${table} AS found ${filter} WHERE ${table} MATCH @match ORDER BY ${order} LIMIT ${most}`,
      )
      .pluck();
  const statementsWith = (filter: string) => ({
    ranked: selectRows('memory_words', 'bm25(memory_words, 4, 2.5, 1)', MOST_CANDIDATES, filter),
    inside: selectRows('memory_grams', 'found.rowid DESC', MOST_INSIDE, filter),
  });
  const all = statementsWith('');
  // A join reads each row that is ranked.
  const filtered =
    statementsWith(`JOIN memory ON memory.number = found.rowid AND (@type IS NULL OR memory.type = @type)
    AND (NOT @onlyReviewed OR memory.unreviewed IS NULL)`);
  const load = db.prepare<unknown[], Candidate>(`SELECT memory.*, memory_words.title AS title_words,
    memory_words.tags AS tag_words, memory_words.text AS text_words
    FROM json_each(?) AS wanted JOIN memory ON memory.number = wanted.value
    JOIN memory_words ON memory_words.rowid = wanted.value WHERE memory.state = 'active'`);

  const counts = new Map<string, number>();
  let countedAt = 0;

  /** The index counts by reading all places of a term. A term that is nowhere is looked up each time. */
  function countRows(term: string): number {
    const known = counts.get(term);
    if (known !== undefined) return known;
    const count = countOf.get(term)?.doc ?? 0;
    if (count > 0 && counts.size < MOST_COUNTS) counts.set(term, count);
    return count;
  }

  function countAll(): number {
    const rows = total.get() ?? 0;
    if (Math.abs(rows - countedAt) * 50 > rows) {
      counts.clear();
      countedAt = rows;
    }
    return rows;
  }

  const countForms = (forms: readonly string[]): number => Math.max(0, ...forms.map(countRows));

  /** Known words of about its length with the same first letter: the index is read for each of them. */
  function listBeside(word: string): Iterable<string> {
    const first = word.charCodeAt(0);
    const range = [String.fromCharCode(first), String.fromCharCode(first + 1)];
    return vocabulary.iterate(...range, word.length - 2, word.length + 6);
  }

  /** What the query asks for; a word that occurs nowhere is taken for the ones that it may have been meant to be. */
  function readWanted(query: string): Wanted[] {
    const rows = countAll();
    const found = readQuery(query).map((term) => ({ ...term, count: countForms(term.forms) }));
    return found
      .map((term) => {
        if (term.count > 0 || term.word.length < 4 || rows === 0 || !/^[a-z]+$/.test(term.word)) return term;
        const guessed = nearWords(term.word, listBeside(term.word));
        return { ...term, near: [...term.near, ...guessed] };
      })
      .sort((one, other) => (one.count || rows) - (other.count || rows))
      .slice(0, MOST_TERMS);
  }

  const anyOf = (words: readonly string[]): string => words.map(quoteForMatch).join(' OR ');

  /** Rows that may be meant: by the rarest words, by all words, by words that mean the same, and by parts of words. */
  function findCandidates(wanted: readonly Wanted[], filter: Filter): Set<number> {
    const found = new Set<number>();
    const isFiltered = filter.type !== null || filter.onlyReviewed === 1;
    const { ranked, inside } = isFiltered ? filtered : all;
    const add = (statement: typeof ranked, match: string): void => {
      if (match === '') return;
      for (const row of statement.all(isFiltered ? { match, ...filter } : { match })) found.add(row);
    };
    const known = wanted.filter(({ count }) => count > 0);
    let ranking = 0;
    const rare = known.filter(({ count }, at) => {
      ranking += count;
      return at === 0 || ranking <= MOST_RANKED;
    });
    const isRanked = (rare[0]?.count ?? 0) <= 4 * MOST_RANKED || filter.type !== null;
    if (isRanked) add(ranked, anyOf(rare.flatMap(({ forms }) => forms)));
    if (rare.length < known.length || !isRanked) {
      // What all rows hold tells only together.
      const groups = known.map(({ forms }) => `(${anyOf(forms)})`);
      for (const size of new Set([groups.length, Math.min(4, groups.length), Math.min(2, groups.length)])) {
        const before = found.size;
        if (size < 2 && rare.length > 0) break;
        add(ranked, groups.slice(0, size).join(' AND '));
        if (found.size > before + 8) break;
      }
    }
    let reading = 0;
    const near = [...new Set(wanted.flatMap((term) => term.near))]
      .map((word) => ({ word, count: countRows(word) }))
      .filter(({ count }) => count > 0)
      .sort((one, other) => one.count - other.count)
      .filter(({ count }) => {
        reading += count;
        return reading <= MOST_RANKED;
      });
    add(ranked, anyOf(near.map(({ word }) => word)));
    const grams = wanted.filter(({ count, forms }) => count <= 20 && longest(forms).length >= 4).slice(0, 6);
    for (const { forms } of grams) add(inside, quoteForMatch(shortest(forms)));
    return found;
  }

  function score(row: Candidate, wanted: readonly Wanted[], rows: number): number {
    const words = FIELDS.map(({ name }) => countWords(row[name]));
    let sum = 0;
    let covered = 0;
    let asked = 0;
    for (const { forms, near, weight, count } of wanted) {
      const rarity = Math.log(1 + (rows - count + 0.5) / (count + 0.5)) * weight;
      asked += rarity;
      const own = fieldScore(words, forms);
      const other = own > 0 || near.length === 0 ? 0 : NEAR * fieldScore(words, near);
      const part = own > 0 || other > 0 ? 0 : INSIDE * insideScore(row, forms);
      const value = Math.max(own, other, part);
      if (value === 0) continue;
      sum += (rarity * value * (K + 1)) / (value + K);
      covered += rarity * (own > 0 ? 1 : NEAR);
    }
    if (sum === 0) return 0;
    const age = Math.max(0, clock.now() - row.changed_at);
    return (
      sum *
      (1 - COVERAGE + (COVERAGE * covered) / asked) *
      (TYPE_BOOST[row.type] ?? 1) *
      (1 + RECENCY * 2 ** (-age / RECENCY_MS))
    );
  }

  return {
    /** At most `limit` active memories about `query`, best first. `onlyReviewed` leaves out what waits for a person. */
    recall(
      query: string,
      {
        limit,
        type,
        onlyReviewed = false,
      }: { limit: number; type?: string | undefined; onlyReviewed?: boolean },
    ): { memory: Memory; score: number }[] {
      const wanted = readWanted(query);
      if (wanted.length === 0) return [];
      const rows = countAll();
      const found = findCandidates(wanted, { type: type ?? null, onlyReviewed: onlyReviewed ? 1 : 0 });
      return load
        .all(JSON.stringify([...found]))
        .map((row) => ({ row, score: score(row, wanted, rows) }))
        .filter((each) => each.score > 0)
        .sort((one, other) => other.score - one.score || other.row.number - one.row.number)
        .slice(0, limit)
        .map((each) => ({ memory: toMemory(each.row), score: each.score }));
    },
  };
}

const longest = (forms: readonly string[]): string =>
  forms.reduce((best, each) => (each.length > best.length ? each : best), '');
/** The shortest form of at least four letters: what bent words have in common. */
const shortest = (forms: readonly string[]): string =>
  forms.reduce((best, each) => (each.length >= 4 && each.length < best.length ? each : best), longest(forms));

interface CountedWords {
  counts: Map<string, number>;
  length: number;
}

function countWords(text: string): CountedWords {
  const counts = new Map<string, number>();
  let length = 0;
  for (const word of text.split(' ')) {
    counts.set(word, (counts.get(word) ?? 0) + 1);
    length += 1;
  }
  return { counts, length };
}

function fieldScore(words: readonly CountedWords[], forms: readonly string[]): number {
  let sum = 0;
  for (const [at, { weight, usual }] of FIELDS.entries()) {
    const { counts, length } = words[at] ?? { counts: new Map<string, number>(), length: 0 };
    let times = 0;
    for (const form of forms) times = Math.max(times, counts.get(form) ?? 0);
    if (times > 0) sum += (weight * times) / (1 - B + (B * length) / usual);
  }
  return sum;
}

function insideScore(row: Candidate, forms: readonly string[]): number {
  const part = shortest(forms);
  if (part.length < 4) return 0;
  return FIELDS.reduce((sum, { name, weight }) => sum + (row[name].includes(part) ? weight : 0), 0);
}
