import { hash } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import { SvcError } from '../../errors.ts';
import { findByPrefix, idArray, parseId } from '../../ids.ts';
import type { By } from '../../operation.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { Task } from '../tasks/index.ts';
import { type Decision, type DecisionRow, type DecisionState, toDecision } from './rows.ts';

export { DECISION_STATES, type Decision, type DecisionState } from './rows.ts';

/** What an approval is bound to. */
export const hashOf = (task: Pick<Task, 'agent' | 'project' | 'prompt'>): string =>
  hash('sha256', JSON.stringify([task.agent, task.project, task.prompt]));

/** Owns decisions. An approved one is consumed once, and only consuming one can start a worker. */
export interface Decisions {
  get(decisionId: string): Decision;
  resolve(prefix: string): Decision;
  /**
   * Newest first, without `ids` those of one state oldest first; at most `limit` (100, or as many as there are `ids`).
   * What `ids` name and is not there is left out.
   */
  list(filter: {
    state?: DecisionState | undefined;
    ids?: readonly string[] | undefined;
    limit?: number | undefined;
  }): Decision[];
  pendingCount(): number;
  /** Throws `already_decided` unless the decision is pending. */
  checkPending(decision: Decision): void;
  /** The task's decision that is pending, or approved and not yet consumed. */
  openOf(taskId: string): Decision | null;
  /** A pending decision for what the task would run now; emits `needs_approval`. */
  ask(task: Task, why: string, by: By): Decision;
  /** A decision that is approved from the start (pre-approved request, or a person running the task). */
  grant(task: Task, why: string, by: By): Decision;
  /** pending → approved. `changed: false` when it already was. Throws `already_decided` or `conflict` (the task changed). */
  approve(decisionId: string, task: Task, by: By): { decision: Decision; changed: boolean };
  deny(decisionId: string, reason: string, by: By): { decision: Decision; changed: boolean };
  /** Closes the task's open decision because it no longer says what would run. */
  expire(taskId: string, reason: string, by: By): void;
  /** Binds an approved decision to the one session it starts; throws `conflict` when it was used or no longer fits. */
  consume(decisionId: string, task: Task, sessionId: string): void;
}

/** Of a new decision; the others begin as null. */
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
] as const satisfies (keyof DecisionRow)[];

/** Word for word the condition of the partial index `decision_one_open`, so that SQLite uses it. */
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
  const newest = db.prepare<unknown[], DecisionRow>('SELECT * FROM decision ORDER BY id DESC LIMIT +?');
  const ofState = db.prepare<unknown[], DecisionRow>(
    'SELECT * FROM decision WHERE state = ? ORDER BY id LIMIT +?',
  );
  const among = db.prepare<unknown[], DecisionRow>(
    `SELECT * FROM decision WHERE id IN (SELECT value FROM json_each(?)) AND state = coalesce(?, state)
     ORDER BY id DESC LIMIT +?`,
  );
  const waiting = db.prepare<unknown[], DecisionRow>(
    `SELECT * FROM decision WHERE ${OPEN} AND state = 'pending' ORDER BY id LIMIT +?`,
  );
  const pending = db.prepare<unknown[], { n: number }>(
    `SELECT count(*) AS n FROM decision WHERE ${OPEN} AND state = 'pending'`,
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
    WHERE id = ? AND state = 'approved' AND consumed_at IS NULL AND hash = ?`);

  function get(decisionId: string): Decision {
    const row = byId.get(parseId('d', decisionId));
    if (!row)
      throw new SvcError('not_found', `no decision ${decisionId}`, { hint: 'svc decision list shows them' });
    return toDecision(row);
  }

  const openOf = (taskId: string): Decision | null => {
    const row = open.get(parseId('t', taskId));
    return row ? toDecision(row) : null;
  };

  function checkPending(decision: Decision): void {
    if (decision.state !== 'pending') throw alreadyDecided(decision);
  }

  function create(task: Task, state: 'pending' | 'approved', why: string, by: By): Decision {
    const now = clock.now();
    const isDecided = state === 'approved';
    const row: DecisionRow = {
      id: 0,
      task_id: parseId('t', task.taskId),
      kind: 'dispatch',
      state,
      agent: task.agent,
      project: task.project,
      hash: hashOf(task),
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
    };
    row.id = Number(insert.run(COLUMNS.map((column) => row[column])).lastInsertRowid);
    return toDecision(row);
  }

  const facts = (task: Task) => ({ title: task.title, agent: task.agent, project: task.project });

  return {
    get,
    resolve: (prefix) =>
      toDecision(
        findByPrefix('d', prefix, { exact: (id) => byId.get(id), like: (pattern) => byPrefix.all(pattern) }),
      ),
    list({ state, ids, limit = ids?.length ?? 100 }) {
      if (ids !== undefined) return among.all(idArray('d', ids), state ?? null, limit).map(toDecision);
      if (state === 'pending') return waiting.all(limit).map(toDecision);
      return (state === undefined ? newest.all(limit) : ofState.all(state, limit)).map(toDecision);
    },
    checkPending,
    pendingCount: () => pending.get()?.n ?? 0,
    openOf,
    ask(task, why, by) {
      const decision = create(task, 'pending', why, by);
      events.append({
        kind: 'needs_approval',
        taskId: task.taskId,
        decisionId: decision.decisionId,
        ...by,
        data: { ...facts(task), why },
      });
      return decision;
    },
    grant(task, why, by) {
      const decision = create(task, 'approved', why, by);
      events.append({
        kind: 'approved',
        taskId: task.taskId,
        decisionId: decision.decisionId,
        ...by,
        data: facts(task),
      });
      return decision;
    },
    approve(decisionId, task, by) {
      const before = get(decisionId);
      if (before.state === 'approved') return { decision: before, changed: false };
      checkPending(before);
      if (before.hash !== hashOf(task)) throw changedMeanwhile(before);
      decide.run('approved', clock.now(), by.actor, by.via, null, parseId('d', decisionId));
      events.append({ kind: 'approved', taskId: task.taskId, decisionId, ...by, data: facts(task) });
      return { decision: get(decisionId), changed: true };
    },
    deny(decisionId, reason, by) {
      const before = get(decisionId);
      if (before.state === 'denied') return { decision: before, changed: false };
      checkPending(before);
      decide.run('denied', clock.now(), by.actor, by.via, reason, parseId('d', decisionId));
      events.append({ kind: 'denied', taskId: before.taskId, decisionId, ...by, data: { reason } });
      return { decision: get(decisionId), changed: true };
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
    consume(decisionId, task, sessionId) {
      const { changes } = use.run(
        clock.now(),
        parseId('s', sessionId),
        parseId('d', decisionId),
        hashOf(task),
      );
      if (changes === 1) return;
      const now = get(decisionId);
      throw now.hash === hashOf(task) ? alreadyDecided(now) : changedMeanwhile(now);
    },
  };
}

const whatWaits = ({ taskId }: Decision): string =>
  `svc task show ${taskId} names the decision that waits now`;

function alreadyDecided(decision: Decision): SvcError {
  const used = decision.sessionId === null ? '' : ` and started ${decision.sessionId}`;
  const by = decision.decidedBy === null ? '' : ` by ${decision.decidedBy}`;
  return new SvcError('already_decided', `${decision.decisionId} was ${decision.state}${by}${used}`, {
    ...(decision.state === 'expired' ? { hint: whatWaits(decision) } : {}),
    data: { decision_id: decision.decisionId, state: decision.state, session_id: decision.sessionId },
  });
}

const changedMeanwhile = (decision: Decision): SvcError =>
  new SvcError('conflict', `${decision.taskId} has changed since ${decision.decisionId} was asked`, {
    hint: whatWaits(decision),
    data: { decision_id: decision.decisionId, task_id: decision.taskId },
  });
