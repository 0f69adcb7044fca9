import type { CallAuthor } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { findByPrefix, formatIdArray, parseId } from '../../core/base/ids.ts';
import { type Sentence, sentence } from '../../core/base/sentence.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import type { Task } from '../tasks/index.ts';
import {
  hashSerializedInputs,
  INPUTS_VERSION,
  type InputChange,
  type RunInputs,
  serializeInputs,
} from './inputs.ts';
import { type Decision, type DecisionRow, type DecisionState, toDecision } from './rows.ts';

export { type AgentSettings, type InputChange, pickRacer, type RunSettings } from './inputs.ts';
export { DECISION_STATES, type Decision, type DecisionState } from './rows.ts';

/** The inputs that a decision is bound to. */
export interface ApprovedInputs {
  /** Null if it dates from before inputs were stored, or from another version of their format. */
  inputs: RunInputs | null;
  /** The further options of its dispatch. */
  options: DispatchOptions;
}

/** The question for a person, and the reason. */
export interface DecisionQuestion {
  inputs: RunInputs;
  options?: DispatchOptions;
  why: string;
  /** The differences from the decision that it replaces. */
  changes?: readonly InputChange[];
}

/** Owns decisions. An approved one can be consumed once, and only consuming one can start a worker. */
export interface Decisions {
  get(decisionId: string): Decision;
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
  /** Throws `already_decided` unless the decision is pending. */
  checkPending(decision: Decision): void;
  /** Finds the task's decision that is pending, or approved and not yet consumed. */
  openOf(taskId: string): Decision | null;
  boundTo(decisionId: string): ApprovedInputs;
  /** Creates a pending decision for the task's current inputs; emits `needs_approval`. */
  ask(task: Task, question: DecisionQuestion, by: CallAuthor): Decision;
  /** Creates a decision that is already approved (pre-approved request, or a person running the task). */
  grant(task: Task, question: DecisionQuestion, by: CallAuthor): Decision;
  /** pending → approved, for exactly those inputs. Throws `already_decided`. */
  approve(
    decisionId: string,
    task: Task,
    bound: { inputs: RunInputs; options: DispatchOptions },
    by: CallAuthor,
  ): Decision;
  /** Rebinds an approved decision that has started nothing yet, or whose session continues, to exactly those inputs. */
  bindTo(decisionId: string, bound: { inputs: RunInputs; options: DispatchOptions }): void;
  deny(decisionId: string, reason: string, by: CallAuthor): { decision: Decision; changed: boolean };
  /** Closes the task's open decision, which no longer matches its inputs. */
  expire(taskId: string, reason: string, by: CallAuthor): void;
  /** approved → expired, for a consumed decision whose session did not run the approved inputs. */
  revoke(decisionId: string, reason: string, by: CallAuthor): void;
  /** Binds an approved decision to the one session that it starts. Throws `already_decided` if it was used. */
  consume(decisionId: string, sessionId: string): void;
  /** Lists open decisions, and those of live sessions, from before inputs were stored. */
  unbound(): Decision[];
}

/** Columns of a new decision; the others are null. */
const COLUMNS = [
  'task_id',
  'kind',
  'state',
  'agent',
  'project',
  'hash',
  'why',
  'source',
  'source_ref',
  'created_at',
  'decided_at',
  'decided_by',
  'decided_via',
  'inputs',
  'inputs_version',
  'options',
  'changes',
] as const satisfies (keyof DecisionRow)[];

/** Exactly the condition of the partial index `decision_one_open`, so that SQLite uses it. */
const OPEN = `(state = 'pending' OR (state = 'approved' AND consumed_at IS NULL))`;

export function createDecisions({
  storage,
  events,
  clock,
}: {
  storage: Storage;
  events: EventLog;
  clock: Clock;
}): Decisions {
  const { db } = storage;
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
  const insert = db.prepare(
    `INSERT INTO decision (${COLUMNS.join(', ')}) VALUES (${COLUMNS.map(() => '?').join(', ')})`,
  );
  const decide =
    db.prepare(`UPDATE decision SET state = ?, decided_at = ?, decided_by = ?, decided_via = ?, reason = ?
    WHERE id = ? AND state = 'pending'`);
  const expireOpen =
    db.prepare(`UPDATE decision SET state = 'expired', decided_at = ?, decided_by = ?, decided_via = ?, reason = ?
    WHERE id = ? AND (state = 'pending' OR (state = 'approved' AND consumed_at IS NULL))`);
  const use = db.prepare(`UPDATE decision SET consumed_at = ?, session_id = ?
    WHERE id = ? AND state = 'approved' AND consumed_at IS NULL`);
  const expireUsed = db.prepare(`UPDATE decision SET state = 'expired', reason = ?
    WHERE id = ? AND state = 'approved' AND consumed_at IS NOT NULL`);
  const bind = db.prepare(
    `UPDATE decision SET inputs = ?, inputs_version = ${INPUTS_VERSION}, hash = ?, options = ? WHERE id = ?`,
  );
  const old = db.prepare<unknown[], DecisionRow>(`SELECT * FROM decision WHERE inputs_version = 0 AND
    (${OPEN} OR id IN (SELECT decision_id FROM session WHERE state <> 'ended')) ORDER BY +id`);

  function getDecision(decisionId: string): Decision {
    const row = byId.get(parseId('d', decisionId));
    if (!row)
      throw new SvcError('not_found', `no decision ${decisionId}`, {
        hint: sentence`{decision.list} lists them`,
      });
    return toDecision(row);
  }

  const openOf = (taskId: string): Decision | null => {
    const row = open.get(parseId('t', taskId));
    return row ? toDecision(row) : null;
  };

  function checkPending(decision: Decision): void {
    if (decision.state !== 'pending') throw alreadyDecidedError(decision);
  }

  function insertDecision(
    task: Task,
    state: 'pending' | 'approved',
    { inputs, options = {}, why, changes = [] }: DecisionQuestion,
    by: CallAuthor,
  ): Decision {
    const now = clock.now();
    const isDecided = state === 'approved';
    const text = serializeInputs(inputs);
    const row: DecisionRow = {
      id: 0,
      task_id: parseId('t', task.taskId),
      kind: 'dispatch',
      state,
      agent: task.agent,
      project: task.project,
      hash: hashSerializedInputs(text),
      why,
      source: task.source,
      source_ref: task.sourceRef,
      created_at: now,
      decided_at: isDecided ? now : null,
      decided_by: isDecided ? by.actor : null,
      decided_via: isDecided ? by.via : null,
      reason: null,
      consumed_at: null,
      session_id: null,
      inputs: text,
      inputs_version: INPUTS_VERSION,
      options: serializeOptions(options),
      changes: changes.length === 0 ? null : JSON.stringify(changes),
    };
    row.id = Number(insert.run(COLUMNS.map((column) => row[column])).lastInsertRowid);
    return toDecision(row);
  }

  function bindTo(
    decisionId: string,
    { inputs, options }: { inputs: RunInputs; options: DispatchOptions },
  ): void {
    const text = serializeInputs(inputs);
    bind.run(text, hashSerializedInputs(text), serializeOptions(options), parseId('d', decisionId));
  }

  const describeTask = (task: Task) => ({ title: task.title, agent: task.agent, project: task.project });

  return {
    get: getDecision,
    resolve: (prefix) =>
      toDecision(
        findByPrefix('d', prefix, { exact: (id) => byId.get(id), like: (pattern) => byPrefix.all(pattern) }),
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
    checkPending,
    count: (state) => count.get(state ?? null)?.n ?? 0,
    openOf,
    boundTo(decisionId) {
      const row = byId.get(parseId('d', decisionId));
      const isReadable = row?.inputs != null && row.inputs_version === INPUTS_VERSION;
      return {
        inputs: isReadable ? (JSON.parse(row.inputs as string) as RunInputs) : null,
        options: row?.options == null ? {} : (JSON.parse(row.options) as DispatchOptions),
      };
    },
    ask(task, question, by) {
      const decision = insertDecision(task, 'pending', question, by);
      const { why, changes = [] } = question;
      events.append({
        kind: 'needs_approval',
        taskId: task.taskId,
        decisionId: decision.decisionId,
        ...by,
        // Names only: followers of events must not see commands and folders.
        data: {
          ...describeTask(task),
          why,
          ...(changes.length === 0 ? {} : { changed: changes.map(({ input }) => input) }),
        },
      });
      return decision;
    },
    grant(task, question, by) {
      const decision = insertDecision(task, 'approved', question, by);
      events.append({
        kind: 'approved',
        taskId: task.taskId,
        decisionId: decision.decisionId,
        ...by,
        data: describeTask(task),
      });
      return decision;
    },
    approve(decisionId, task, bound, by) {
      checkPending(getDecision(decisionId));
      decide.run('approved', clock.now(), by.actor, by.via, null, parseId('d', decisionId));
      bindTo(decisionId, bound);
      events.append({ kind: 'approved', taskId: task.taskId, decisionId, ...by, data: describeTask(task) });
      return getDecision(decisionId);
    },
    bindTo,
    deny(decisionId, reason, by) {
      const before = getDecision(decisionId);
      if (before.state === 'denied') return { decision: before, changed: false };
      checkPending(before);
      decide.run('denied', clock.now(), by.actor, by.via, reason, parseId('d', decisionId));
      events.append({ kind: 'denied', taskId: before.taskId, decisionId, ...by, data: { reason } });
      return { decision: getDecision(decisionId), changed: true };
    },
    expire(taskId, reason, by) {
      const current = openOf(taskId);
      if (!current) return;
      expireOpen.run(clock.now(), by.actor, by.via, reason, parseId('d', current.decisionId));
      events.append({
        kind: 'decision_expired',
        taskId,
        decisionId: current.decisionId,
        ...by,
        data: { reason },
      });
    },
    revoke(decisionId, reason, by) {
      if (expireUsed.run(reason, parseId('d', decisionId)).changes === 0) return;
      const { taskId } = getDecision(decisionId);
      events.append({ kind: 'decision_expired', taskId, decisionId, ...by, data: { reason } });
    },
    consume(decisionId, sessionId) {
      if (use.run(clock.now(), parseId('s', sessionId), parseId('d', decisionId)).changes === 1) return;
      throw alreadyDecidedError(getDecision(decisionId));
    },
    unbound: () => old.all().map(toDecision),
  };
}

const hintAtNewDecision = ({ taskId }: Decision): Sentence =>
  sentence`{task.show ${taskId}} names the pending decision`;

function alreadyDecidedError(decision: Decision): SvcError {
  const used = decision.sessionId === null ? '' : ` and started ${decision.sessionId}`;
  const by = decision.decidedBy === null ? '' : ` by ${decision.decidedBy}`;
  return new SvcError('already_decided', `${decision.decisionId} was ${decision.state}${by}${used}`, {
    ...(decision.state === 'expired' ? { hint: hintAtNewDecision(decision) } : {}),
    data: { decision_id: decision.decisionId, state: decision.state, session_id: decision.sessionId },
  });
}

/** Serializes the options as JSON, null for none. Caller and call key belong to one dispatch and are left out. */
function serializeOptions(options: DispatchOptions): string | null {
  if (Object.keys(options).length === 0) return null;
  const { parent: _, force: __, ...kept } = options;
  const text = JSON.stringify(kept, (_name, value) => (value === false ? undefined : value));
  return text === '{}' ? null : text;
}
