import { rarityOf } from './recall-candidates.ts';
import type { WantedTerm } from './recall-terms.ts';
import type { MemoryRow } from './rows.ts';

export interface RecallCandidate extends MemoryRow {
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

/** The relevance of a candidate, and the share of the question that it has; 0 if it has none of the terms. */
export interface CandidateScore {
  score: number;
  share: number;
}

const NO_SCORE: CandidateScore = { score: 0, share: 0 };

/** A candidate with the places of its words. */
export interface PlacedCandidate {
  row: RecallCandidate;
  words: readonly PlacedWords[];
}

export const placeCandidate = (row: RecallCandidate): PlacedCandidate => ({
  row,
  words: FIELDS.map(({ name }) => placeWords(row[name])),
});

/** Scores a candidate. */
export function scoreCandidate(
  { row, words }: PlacedCandidate,
  wanted: readonly WantedTerm[],
  rows: number,
  now: number,
): CandidateScore {
  let sum = 0;
  let covered = 0;
  let asked = 0;
  let before: { each: WantedTerm; value: number } | null = null;
  for (const each of wanted) {
    const { forms, near, meant, weight, count } = each;
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
    for (const { term, weight: share, count: its } of meant.length === 0 ? near : [...near, ...meant]) {
      if (!words.some(({ places }) => places.has(term))) continue;
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
  if (sum === 0) return NO_SCORE;
  const age = Math.max(0, now - row.changed_at);
  const share = covered / asked;
  const score =
    sum *
    (1 - COVERAGE + COVERAGE * share) *
    (TYPE_BOOST[row.type] ?? 1) *
    (1 + RECENCY * 2 ** (-age / RECENCY_MS));
  return { score, share };
}

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
const areTogether = (words: readonly PlacedWords[], one: WantedTerm, other: WantedTerm): boolean =>
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
