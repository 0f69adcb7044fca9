import type { Clock } from '../../core/base/clock.ts';
import type { Storage } from '../../storage/index.ts';
import { listKeys, nearWords, quoteForMatch, readQuery } from '../search/index.ts';
import { type Memory, type MemoryRow, toMemory } from './rows.ts';

/** A related term, with its weight relative to the word itself. */
interface Near {
  term: string;
  weight: number;
  /** Number of rows that contain it. */
  count: number;
}

/** A search term with its number of rows. */
interface Wanted {
  word: string;
  forms: readonly string[];
  near: readonly Near[];
  weight: number;
  /** Number of rows that contain one of its forms. */
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

/** Weights of the fields: a title counts more than tags, tags more than the text. */
const FIELDS = [
  { name: 'title_words', weight: 4, usual: 8 },
  { name: 'tag_words', weight: 2.5, usual: 4 },
  { name: 'text_words', weight: 1, usual: 60 },
] as const;
/** Saturation by repetition and length, as in BM25. */
const K = 1.2;
const B = 0.5;
/** Weights of other words: a possible synonym, a part of a compound, a word that contains it, a similar spelling. */
const SYNONYM = 0.6;
const PART = 0.75;
const INSIDE = 0.6;
const MISTYPED = 0.7;
/** Limit of the rarity of related words compared to the word itself, and the weight of further ones. */
const RARER = 2;
const ALSO = 0.2;
/** A row with all terms ranks before a row that repeats some of them. */
const COVERAGE = 0.6;
/**
 * Bonus for two words that are adjacent in both the question and the row, as a share of the lesser weight; within
 * this many terms.
 */
const TOGETHER = 0.5;
const NEIGHBOURS = 4;
/** Decisions and traps are searched for most. */
const TYPE_BOOST: Readonly<Record<string, number>> = { decision: 1.04, gotcha: 1.04 };
const RECENCY = 0.04;
const RECENCY_MS = 30 * 86_400_000;
/** Rows that are compared in full. */
const MOST_CANDIDATES = 80;
/** Rows that are read per term and in total; a term with more rows is only searched in titles and in combination. */
const MOST_ROWS = 800;
const MOST_ROWS_TOGETHER = 4000;
const MOST_COMMON_ROWS = 150;
const MOST_COMMON = 5;
/** The weight of a title word relative to a text word. */
const IN_TITLE = 1.7;
/** For a text used as a query, only its rarest terms apply. */
const MOST_TERMS = 24;
/** A word with more rows is not extended to longer words that contain it. */
const RARE = 20;
const MOST_INSIDE = 12;
const MOST_GUESSED = 6;
/** Words with a similar start that are compared with a mistyped word. */
const MOST_BESIDE = 4000;

/** Finds memories by relevance. Reads a bounded number of rows. */
export function createRecall({ storage, clock }: { storage: Storage; clock: Clock }) {
  const { db } = storage;
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
  const selectRows = (filter: string) =>
    db
      .prepare<unknown[], number>(
        `SELECT found.rowid FROM memory_words AS found ${filter}
        WHERE memory_words MATCH @match ORDER BY found.rowid DESC LIMIT +@most`,
      )
      .pluck();
  const all = selectRows('');
  const filtered = selectRows(`JOIN memory ON memory.number = found.rowid
    AND (@type IS NULL OR memory.type = @type) AND (NOT @onlyReviewed OR memory.unreviewed IS NULL)`);
  const load = db.prepare<unknown[], Candidate>(`SELECT memory.*, memory_words.title AS title_words,
    memory_words.tags AS tag_words, memory_words.text AS text_words
    FROM json_each(?) AS wanted JOIN memory ON memory.number = wanted.value
    JOIN memory_words ON memory_words.rowid = wanted.value WHERE memory.state = 'active'`);

  const countRows = (terms: readonly string[]): Map<string, number> =>
    new Map(countsOf.all(JSON.stringify(terms)).map(({ term, rows }) => [term, rows]));

  /** Splits an unknown word into two known words, or a known one after a syllable. */
  function splitCompound(word: string): Near[] {
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
    const weighTerms = (terms: readonly string[]): Near[] =>
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

  /** Returns known terms that contain a word, or that it stands for if it is unknown itself. */
  function guessNear({ word, forms, count }: Wanted): Near[] {
    if (word.length < 3 || count > RARE || !/^[a-z]+$/.test(word)) return [];
    if (word.length === 3 && count > 0) return [];
    const part = shortest(forms);
    const inside = holding
      .all(quoteForMatch(part), MOST_INSIDE)
      // With three letters it must be a prefix, as in search as you type.
      .filter(({ term }) => !forms.includes(term) && (word.length > 3 || term.startsWith(word)))
      .map(({ term, rows }) => ({ term, weight: INSIDE, count: rows }));
    if (count > 0 || inside.length > 0) return inside;
    const compound = splitCompound(word);
    if (compound.length > 0) return compound;
    const [first, second] = [word.slice(0, 2), `${word[0]}${String.fromCharCode(word.charCodeAt(1) + 1)}`];
    const known = beside.all(first, second, word.length - 2, word.length + 6, MOST_BESIDE);
    const meant = nearWords(word, known, MOST_GUESSED);
    const counts = countRows(meant);
    return meant.map((term) => ({ term, weight: MISTYPED, count: counts.get(term) ?? 0 }));
  }

  /** Returns the terms of the query, in order. */
  function readWanted(query: string): { wanted: Wanted[]; rows: number } {
    const read = readQuery(query);
    const counts = countRows(['', ...read.flatMap(({ forms }) => forms)]);
    const rows = counts.get('') ?? 0;
    if (rows === 0) return { wanted: [], rows };
    const found = read
      .map(({ near, ...term }, place) => {
        const count = Math.max(0, ...term.forms.map((form) => counts.get(form) ?? 0));
        return { ...term, place, synonyms: near, near: [], count };
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

  const rarityOf = (count: number, rows: number): number =>
    Math.log(1 + (rows - count + 0.5) / (count + 0.5));
  const anyOf = (words: readonly string[]): string => `(${words.map(quoteForMatch).join(' OR ')})`;

  /** Returns the best candidate rows, by the combined weight of their terms. */
  function findCandidates(wanted: readonly Wanted[], rows: number, filter: Filter): number[] {
    const isFiltered = filter.type !== null || filter.onlyReviewed === 1;
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
      .flatMap(({ forms, near, weight, count }, of) => [
        { of, match: anyOf(forms), count, gain: weight * rarityOf(count, rows) },
        ...near.map((each) => ({
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

  function score(row: Candidate, wanted: readonly Wanted[], rows: number): number {
    const words = FIELDS.map(({ name }) => placeWords(row[name]));
    let sum = 0;
    let covered = 0;
    let asked = 0;
    let before: { each: Wanted; value: number } | null = null;
    for (const each of wanted) {
      const { forms, near, weight, count } = each;
      const rarity = rarityOf(count, rows) * weight;
      asked += rarity;
      const value = saturate(fieldScore(words, forms)) * rarity;
      if (value > 0) {
        covered += rarity;
        if (before !== null && areTogether(words, before.each, each))
          sum += TOGETHER * Math.min(value, before.value);
        before = { each, value };
        sum += value;
        continue;
      }
      before = null;
      let other = 0;
      let together = 0;
      let covers = 0;
      for (const { term, weight: share, count: its } of near) {
        const rare = Math.min(rarityOf(its, rows), RARER * rarityOf(count, rows)) * weight * share;
        const said = saturate(fieldScore(words, [term])) * rare;
        together += said;
        if (said <= other) continue;
        other = said;
        covers = share;
      }
      sum += other + ALSO * (together - other);
      covered += rarity * covers;
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
    /** Returns at most `limit` active memories about `query`, best first. `onlyReviewed` skips those that wait for a person. */
    recall(
      query: string,
      {
        limit,
        type,
        onlyReviewed = false,
      }: { limit: number; type?: string | undefined; onlyReviewed?: boolean },
    ): { memory: Memory; score: number }[] {
      const { wanted, rows } = readWanted(query);
      if (wanted.length === 0) return [];
      const filter: Filter = { type: type ?? null, onlyReviewed: onlyReviewed ? 1 : 0 };
      return load
        .all(JSON.stringify(findCandidates(wanted, rows, filter)))
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
/** Returns the shortest form of at least five letters: the common part of inflected words. */
const shortest = (forms: readonly string[]): string =>
  forms.reduce((best, each) => (each.length >= 5 && each.length < best.length ? each : best), longest(forms));

const saturate = (value: number): number => (value * (K + 1)) / (value + K);

interface PlacedWords {
  /** The positions of each word. */
  places: Map<string, number[]>;
  length: number;
}

function placeWords(text: string): PlacedWords {
  const places = new Map<string, number[]>();
  const words = text.split(' ');
  for (const [at, word] of words.entries()) {
    const found = places.get(word);
    if (found === undefined) places.set(word, [at]);
    else found.push(at);
  }
  return { places, length: words.length };
}

/** Reports whether two terms are adjacent somewhere; all forms of a word are consecutive in an index. */
const areTogether = (words: readonly PlacedWords[], one: Wanted, other: Wanted): boolean =>
  words.some(({ places }) =>
    one.forms.some((form) =>
      places
        .get(form)
        ?.some((at) =>
          other.forms.some((next) =>
            places.get(next)?.some((there) => there > at && there - at <= NEIGHBOURS),
          ),
        ),
    ),
  );

function fieldScore(words: readonly PlacedWords[], forms: readonly string[]): number {
  let sum = 0;
  for (const [at, { weight, usual }] of FIELDS.entries()) {
    const { places, length } = words[at] ?? { places: new Map<string, number[]>(), length: 0 };
    let times = 0;
    for (const form of forms) times = Math.max(times, places.get(form)?.length ?? 0);
    if (times > 0) sum += (weight * times) / (1 - B + (B * length) / usual);
  }
  return sum;
}
