import type { Clock } from '../../core/base/clock.ts';
import type { Storage } from '../../storage/index.ts';
import type { RecallOrder } from './memory-fields.ts';
import type { Nearness } from './model-vectors.ts';
import { PASSES_FILTER, type RecallFilter } from './recall-candidates.ts';
import type { CandidateScore } from './recall-score.ts';
import { createRecallSearch, type ScoredRow } from './recall-search.ts';
import { type Memory, type MemoryRow, toMemory } from './rows.ts';
import { readTimeWords } from './time-words.ts';

export interface RecallOptions {
  limit: number;
  type?: string | undefined;
  /** Skips those that wait for a person. */
  onlyReviewed?: boolean;
  since?: number | undefined;
  until?: number | undefined;
  order?: RecallOrder;
  /** By a model of embeddings. */
  nearness?: Nearness;
}

export interface RecalledMemory extends CandidateScore {
  memory: Memory;
}

/** Finds memories by relevance. Reads a bounded number of rows. */
export function createRecall({ storage, clock }: { storage: Storage; clock: Clock }) {
  const { db } = storage;
  const search = createRecallSearch(db, clock);
  const successor = db.prepare<unknown[], MemoryRow>(
    `SELECT * FROM memory WHERE id = @id AND state = 'active' AND ${PASSES_FILTER}`,
  );
  const listInOrder = (order: 'ASC' | 'DESC') =>
    db.prepare<unknown[], MemoryRow>(`SELECT * FROM memory WHERE state = 'active' AND ${PASSES_FILTER}
      ORDER BY changed_at ${order}, number ${order} LIMIT +@limit`);
  const newest = listInOrder('DESC');
  const oldest = listInOrder('ASC');

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
      const found = isEmpty
        ? null
        : search(said?.rest ?? query, filter, said?.span ?? null, options.nearness);
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
