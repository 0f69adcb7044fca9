import type { Clock } from '../../core/base/clock.ts';
import type { Db } from '../../storage/index.ts';
import { LEAST_SHARE } from './memory-fields.ts';
import type { Nearness } from './model-vectors.ts';
import { createMeaningFinder } from './near-meaning.ts';
import { createCandidateFinder, PASSES_FILTER, type RecallFilter } from './recall-candidates.ts';
import {
  type CandidateScore,
  type PlacedCandidate,
  placeCandidate,
  type RecallCandidate,
  scoreCandidate,
} from './recall-score.ts';
import { createTermReader, TELLING, type WantedTerm } from './recall-terms.ts';
import type { MemoryRow } from './rows.ts';
import type { TimeSpan } from './time-words.ts';

export interface ScoredRow extends CandidateScore {
  row: MemoryRow;
}

/** How much more a memory counts that was stored when the question says. */
const IN_TIME = 4;
/** The share of a question with which its words find a memory: words of a near meaning only add and rank others. */
const FOUND = LEAST_SHARE;
/** The share with which they find one so well that no words of a near meaning are needed. */
const SURE = 0.6;

/** Creates the search by the words of a question, and by words of a near meaning. Reads a bounded number of rows. */
export function createRecallSearch(db: Db, clock: Pick<Clock, 'now'>) {
  const readWanted = createTermReader(db);
  const findCandidates = createCandidateFinder(db);
  const addMeanings = createMeaningFinder(db);
  const near = db.prepare<unknown[], MemoryRow>(
    `SELECT memory.* FROM json_each(@numbers) AS wanted JOIN memory ON memory.number = wanted.value
     WHERE memory.state = 'active' AND ${PASSES_FILTER}`,
  );
  const load = db.prepare<unknown[], RecallCandidate>(`SELECT memory.*, memory_words.title AS title_words,
    memory_words.tags AS tag_words, memory_words.text AS text_words
    FROM json_each(?) AS wanted JOIN memory ON memory.number = wanted.value
    JOIN memory_words ON memory_words.rowid = wanted.value WHERE memory.state = 'active'`);

  /** Adds the memories that a model calls near, nearest first, to those that were found. */
  function addNearest(found: readonly ScoredRow[], nearness: Nearness, filter: RecallFilter): ScoredRow[] {
    const known = new Set(found.map(({ row }) => row.number));
    const least = found.at(-1)?.score ?? 1;
    const added = near
      .all({ ...filter, numbers: JSON.stringify([...nearness.keys()].filter((each) => !known.has(each))) })
      .map((row) => ({ row, share: nearness.get(row.number) ?? 0 }))
      .sort((one, other) => other.share - one.share);
    return [...found, ...added.map((each) => ({ ...each, score: least * each.share }))];
  }

  /** Returns all memories that were found, best first. Memories of a span of time count more; null if that is all the question says. */
  return (
    question: string,
    filter: RecallFilter,
    span: TimeSpan | null,
    nearness: Nearness = new Map(),
  ): ScoredRow[] | null => {
    const { wanted, rows } = readWanted(question);
    if (span !== null && !wanted.some(({ weight }) => weight >= TELLING)) return null;
    const now = clock.now();
    const weigh = ({ changed_at: at }: MemoryRow): number =>
      span !== null && at >= span.since && at < span.until ? IN_TIME : 1;
    const candidates = new Map<number, PlacedCandidate>();
    function searchTerms(terms: readonly WantedTerm[]): ScoredRow[] {
      const numbers = [
        ...findCandidates(terms, rows, filter),
        ...(span === null ? [] : findCandidates(terms, rows, { ...filter, ...span })),
      ].filter((each) => !candidates.has(each));
      for (const row of load.all(JSON.stringify([...new Set(numbers)])))
        candidates.set(row.number, placeCandidate(row));
      return [...candidates.values()]
        .map((each) => {
          const { row } = each;
          const { score, share } = scoreCandidate(each, terms, rows, now);
          return { row, score: score * weigh(row), share };
        })
        .filter((each) => each.score > 0)
        .sort((one, other) => other.score - one.score || other.row.number - one.row.number);
    }
    const byWords = searchTerms(wanted);
    if (byWords.some(({ share }) => share >= SURE)) return byWords;
    const shares = new Map(byWords.map(({ row, share }) => [row.number, share]));
    if (nearness.size > 0)
      return addNearest(
        byWords.filter(({ share }) => share >= FOUND),
        nearness,
        filter,
      );
    const byMeaning = searchTerms(addMeanings(wanted)).map((each) => ({
      ...each,
      share: shares.get(each.row.number) ?? 0,
    }));
    return [
      ...byWords.filter(({ share }) => share >= FOUND),
      ...byMeaning.filter(({ share }) => share < FOUND),
    ];
  };
}
