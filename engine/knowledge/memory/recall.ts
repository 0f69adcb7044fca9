import type { Clock } from '../../core/base/clock.ts';
import type { Storage } from '../../storage/index.ts';
import type { RecallOrder } from './memory-fields.ts';
import { createCandidateFinder, PASSES_FILTER, type RecallFilter } from './recall-candidates.ts';
import { type CandidateScore, type RecallCandidate, scoreCandidate } from './recall-score.ts';
import { createTermReader } from './recall-terms.ts';
import { type Memory, type MemoryRow, toMemory } from './rows.ts';
import { readTimeWords, type TimeSpan } from './time-words.ts';

export interface RecallOptions {
  limit: number;
  type?: string | undefined;
  /** Skips those that wait for a person. */
  onlyReviewed?: boolean;
  since?: number | undefined;
  until?: number | undefined;
  order?: RecallOrder;
}

export interface RecalledMemory extends CandidateScore {
  memory: Memory;
}

interface ScoredRow extends CandidateScore {
  row: MemoryRow;
}

/** How much more a memory counts that was stored when the question says. */
const IN_TIME = 4;
/** The least weight of a term that says what the question is about. */
const TELLING = 0.6;

/** Finds memories by relevance. Reads a bounded number of rows. */
export function createRecall({ storage, clock }: { storage: Storage; clock: Clock }) {
  const { db } = storage;
  const readWanted = createTermReader(db);
  const findCandidates = createCandidateFinder(db);
  const load = db.prepare<unknown[], RecallCandidate>(`SELECT memory.*, memory_words.title AS title_words,
    memory_words.tags AS tag_words, memory_words.text AS text_words
    FROM json_each(?) AS wanted JOIN memory ON memory.number = wanted.value
    JOIN memory_words ON memory_words.rowid = wanted.value WHERE memory.state = 'active'`);
  const successor = db.prepare<unknown[], MemoryRow>(
    `SELECT * FROM memory WHERE id = @id AND state = 'active' AND ${PASSES_FILTER}`,
  );
  const listInOrder = (order: 'ASC' | 'DESC') =>
    db.prepare<unknown[], MemoryRow>(`SELECT * FROM memory WHERE state = 'active' AND ${PASSES_FILTER}
      ORDER BY changed_at ${order}, number ${order} LIMIT +@limit`);
  const newest = listInOrder('DESC');
  const oldest = listInOrder('ASC');

  /** Searches for the words of a question; memories of a span of time count more. Null if it only has common words. */
  function search(question: string, filter: RecallFilter, span: TimeSpan | null): ScoredRow[] | null {
    const { wanted, rows } = readWanted(question);
    if (span !== null && !wanted.some(({ weight }) => weight >= TELLING)) return null;
    const numbers = new Set(findCandidates(wanted, rows, filter));
    if (span !== null)
      for (const each of findCandidates(wanted, rows, { ...filter, ...span })) numbers.add(each);
    const now = clock.now();
    const weigh = ({ changed_at: at }: MemoryRow): number =>
      span !== null && at >= span.since && at < span.until ? IN_TIME : 1;
    return load
      .all(JSON.stringify([...numbers]))
      .map((row) => {
        const { score, share } = scoreCandidate(row, wanted, rows, now);
        return { row, score: score * weigh(row), share };
      })
      .filter((each) => each.score > 0)
      .sort((one, other) => other.score - one.score || other.row.number - one.row.number);
  }

  /** Places the successor of each memory before it, also if it was not found itself. */
  function placeSuccessors(found: readonly ScoredRow[], filter: RecallFilter): ScoredRow[] {
    const byId = new Map(found.map((each) => [each.row.id, each]));
    const placed = new Map<string, ScoredRow>();
    const seen = new Set<string>();
    function place(each: ScoredRow): void {
      if (seen.has(each.row.id)) return;
      seen.add(each.row.id);
      const id = each.row.maybe_replaced_by;
      if (id !== null) {
        const row = byId.get(id)?.row ?? successor.get({ ...filter, id });
        if (row !== undefined) place({ ...each, row, score: Math.max(each.score, byId.get(id)?.score ?? 0) });
      }
      placed.set(each.row.id, each);
    }
    for (const each of found) place(each);
    return [...placed.values()];
  }

  return {
    /** Returns at most `limit` active memories about `query`, best first; for an empty one all, newest first. */
    recall(query: string, options: RecallOptions): RecalledMemory[] {
      const { limit, type = null, onlyReviewed = false, since = null, until = null, order } = options;
      const filter: RecallFilter = { type, onlyReviewed: onlyReviewed ? 1 : 0, since, until };
      const isTimed = since !== null || until !== null;
      const said = isTimed ? null : readTimeWords(query, clock.now());
      const isEmpty = query.trim() === '';
      const found = isEmpty ? null : search(said?.rest ?? query, filter, said?.span ?? null);
      if (found === null) {
        const span = said?.span ?? {};
        const rows = (order === 'oldest' ? oldest : newest).all({ ...filter, ...span, limit });
        return rows.map((row) => ({ memory: toMemory(row), score: 1, share: 1 }));
      }
      const best = placeSuccessors(found.slice(0, limit), filter).slice(0, limit);
      const sign = { relevance: 0, newest: -1, oldest: 1 }[order ?? 'relevance'];
      if (sign !== 0) best.sort((one, other) => sign * (one.row.changed_at - other.row.changed_at));
      return best.map(({ row, ...scored }) => ({ memory: toMemory(row), ...scored }));
    },
  };
}
