import type { CallAuthor } from '../../core/api/operation.ts';
import type { Clock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { parseId } from '../../core/base/ids.ts';
import { type Sentence, sentence } from '../../core/base/sentence.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import type { Task } from '../tasks/index.ts';
import { createDecisionFinder, type DecisionFinder } from './find.ts';
import type { RunInputs } from './inputs.ts';
import { createDecisionBinder, createDecisionInsert, type DecisionQuestion } from './new-decision.ts';
import type { Decision } from './rows.ts';

export type { ApprovedInputs } from './find.ts';
export { type AgentSettings, type InputChange, pickRacer, type RunSettings } from './inputs.ts';
export type { DecisionQuestion } from './new-decision.ts';
export { DECISION_STATES, type Decision } from './rows.ts';

/** Owns decisions. An approved one can be consumed once, and only consuming one can start a worker. */
export interface Decisions extends DecisionFinder {
  /** Throws `already_decided` unless the decision is pending. */
  checkPending(decision: Decision): void;
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
}

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
  const finder = createDecisionFinder(storage);
  const { get: getDecision, openOf } = finder;
  const insertDecision = createDecisionInsert(storage, clock);
  const bindTo = createDecisionBinder(storage);
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

  return {
    ...finder,
    checkPending,
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
  };
}

function checkPending(decision: Decision): void {
  if (decision.state !== 'pending') throw alreadyDecidedError(decision);
}

const describeTask = (task: Task) => ({ title: task.title, agent: task.agent, project: task.project });

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
