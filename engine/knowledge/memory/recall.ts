import type { Clock } from '../../core/base/clock.ts';
import type { Storage } from '../../storage/index.ts';
import { createCandidateFinder, type RecallFilter } from './recall-candidates.ts';
import { type RecallCandidate, scoreCandidate } from './recall-score.ts';
import { createTermReader } from './recall-terms.ts';
import { type Memory, toMemory } from './rows.ts';

/** Finds memories by relevance. Reads a bounded number of rows. */
export function createRecall({ storage, clock }: { storage: Storage; clock: Clock }) {
  const { db } = storage;
  const readWanted = createTermReader(db);
  const findCandidates = createCandidateFinder(db);
  const load = db.prepare<unknown[], RecallCandidate>(`SELECT memory.*, memory_words.title AS title_words,
    memory_words.tags AS tag_words, memory_words.text AS text_words
    FROM json_each(?) AS wanted JOIN memory ON memory.number = wanted.value
    JOIN memory_words ON memory_words.rowid = wanted.value WHERE memory.state = 'active'`);

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
      const filter: RecallFilter = { type: type ?? null, onlyReviewed: onlyReviewed ? 1 : 0 };
      return load
        .all(JSON.stringify(findCandidates(wanted, rows, filter)))
        .map((row) => ({ row, score: scoreCandidate(row, wanted, rows, clock.now()) }))
        .filter((each) => each.score > 0)
        .sort((one, other) => other.score - one.score || other.row.number - one.row.number)
        .slice(0, limit)
        .map((each) => ({ memory: toMemory(each.row), score: each.score }));
    },
  };
}
