import { SvcError } from '../../core/base/errors.ts';
import { findByPrefix, formatId, formatIdArray, parseId } from '../../core/base/ids.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Storage } from '../../storage/index.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import { INPUTS_VERSION, type RunInputs } from './inputs.ts';
import { type Decision, type DecisionRow, type DecisionState, toDecision } from './rows.ts';

/** The inputs that a decision is bound to. */
export interface ApprovedInputs {
  /** Null if it dates from before inputs were stored, or from another version of their format. */
  inputs: RunInputs | null;
  /** The further options of its dispatch. */
  options: DispatchOptions;
}

/** Finds decisions. */
export interface DecisionFinder {
  get(decisionId: string): Decision;
  /** Finds a decision by its id, a unique prefix, or the id of its task: the open one, otherwise the newest. */
  resolve(prefix: string): Decision;
  /**
   * Newest first, without `ids` those of one state oldest first; at most `limit` (100, or as many as there are
   * `ids`). Unknown `ids` are left out.
   */
  list(filter: {
    state?: DecisionState | undefined;
    ids?: readonly string[] | undefined;
    cursor?: string | undefined;
    limit?: number | undefined;
  }): Decision[];
  /** Counts decisions of a state; all without one. */
  count(state?: DecisionState): number;
  /** Finds the task's decision that is pending, or approved and not yet consumed. */
  openOf(taskId: string): Decision | null;
  boundTo(decisionId: string): ApprovedInputs;
}

/** Exactly the condition of the partial index `decision_one_open`, so that SQLite uses it. */
const OPEN = `(state = 'pending' OR (state = 'approved' AND consumed_at IS NULL))`;

export function createDecisionFinder({ db }: Pick<Storage, 'db'>): DecisionFinder {
  const byId = db.prepare<unknown[], DecisionRow>('SELECT * FROM decision WHERE id = ?');
  const byPrefix = db.prepare<unknown[], DecisionRow>(
    'SELECT * FROM decision WHERE CAST(id AS TEXT) LIKE ? LIMIT 2',
  );
  const newest = db.prepare<unknown[], DecisionRow>(
    'SELECT * FROM decision WHERE id < ? ORDER BY id DESC LIMIT +?',
  );
  const ofState = db.prepare<unknown[], DecisionRow>(
    'SELECT * FROM decision WHERE state = ? AND id > ? ORDER BY id LIMIT +?',
  );
  const among = db.prepare<unknown[], DecisionRow>(
    `SELECT * FROM decision WHERE id IN (SELECT value FROM json_each(?)) AND state = coalesce(?, state)
     ORDER BY id DESC LIMIT +?`,
  );
  const waiting = db.prepare<unknown[], DecisionRow>(
    "SELECT * FROM decision INDEXED BY decision_pending WHERE state = 'pending' AND id > ? ORDER BY id LIMIT +?",
  );
  const count = db.prepare<unknown[], { n: number }>(
    "SELECT coalesce(sum(n), 0) AS n FROM state_count WHERE of = 'decision' AND state = coalesce(?, state)",
  );
  const open = db.prepare<unknown[], DecisionRow>(`SELECT * FROM decision WHERE task_id = ? AND ${OPEN}`);

  const newestOf = db.prepare<unknown[], DecisionRow>(
    'SELECT * FROM decision WHERE task_id = +? ORDER BY +id DESC LIMIT +?',
  );

  function getDecision(decisionId: string): Decision {
    const row = byId.get(parseId('d', decisionId));
    if (!row)
      throw new SvcError('not_found', `no decision ${decisionId}`, {
        hint: sentence`{decision.list} lists them`,
      });
    return toDecision(row);
  }

  function findOfTask(task: number): DecisionRow {
    const row = open.get(task) ?? newestOf.get(task, 1);
    if (row !== undefined) return row;
    throw new SvcError('not_found', `${formatId('t', task)} has no decision`, {
      hint: sentence`{decision.list} lists them`,
    });
  }

  return {
    get: getDecision,
    resolve: (prefix) =>
      toDecision(
        findByPrefix('d', prefix, {
          exact: (id) => byId.get(id),
          like: (pattern) => byPrefix.all(pattern),
          ofTask: findOfTask,
        }),
      ),
    list({ state, ids, cursor, limit = ids?.length ?? 100 }) {
      if (ids !== undefined) return among.all(formatIdArray('d', ids), state ?? null, limit).map(toDecision);
      const from = cursor === undefined ? null : parseId('d', cursor);
      if (state === 'pending') return waiting.all(from ?? 0, limit).map(toDecision);
      return (
        state === undefined
          ? newest.all(from ?? Number.MAX_SAFE_INTEGER, limit)
          : ofState.all(state, from ?? 0, limit)
      ).map(toDecision);
    },
    count: (state) => count.get(state ?? null)?.n ?? 0,
    boundTo(decisionId) {
      const row = byId.get(parseId('d', decisionId));
      const isReadable = row?.inputs != null && row.inputs_version === INPUTS_VERSION;
      return {
        inputs: isReadable ? (JSON.parse(row.inputs as string) as RunInputs) : null,
        options: row?.options == null ? {} : (JSON.parse(row.options) as DispatchOptions),
      };
    },
    openOf(taskId) {
      const row = open.get(parseId('t', taskId));
      return row ? toDecision(row) : null;
    },
  };
}
