import { actorDenied, type By, mayAct, type Policy } from '../../api/operation.ts';
import { SvcError } from '../../base/errors.ts';
import { sentence } from '../../base/sentence.ts';
import type { Session } from '../../sessions/index.ts';
import type { Storage } from '../../storage/index.ts';
import type { Bound, Decision, Decisions } from '../decisions/index.ts';
import {
  changedNames,
  changesOf,
  type InputChange,
  promptInputs,
  type RunInputs,
  type RunSettings,
} from '../decisions/inputs.ts';
import type { DispatchOptions } from '../dispatch-options.ts';
import type { LedgerGate } from '../ledger/index.ts';
import type { NewTask, Task, Tasks } from '../tasks/index.ts';

/** What the workers room offers to the workflow. */
export interface Dispatch {
  /** What a run would be made from now. Looks only, and starts no program. */
  settings(task: Task, options: DispatchOptions): RunSettings;
  /** Throws `agent_not_found` when the program of the task's agent is not on this machine. */
  checkProgram(task: Task, options: DispatchOptions): void;
  /** Inside `storage.write`: a queued session that consumes `decision`. Throws when agent or project is unknown. */
  enqueue(task: Task, decision: Decision, options: DispatchOptions): Session;
  /** Inside `storage.write`: marks a live session as being stopped; the processes follow after the commit. */
  stop(sessionId: string, reason: 'cancelled', by: By): void;
  /**
   * Inside `storage.write`: as `stop`, but only of a session that waits for its start, or for a time to go on. False for one
   * that is being started or runs.
   */
  drop(sessionId: string, by: By): boolean;
  /** Inside `storage.write`: what the worker of a session says of its task. False once that has ended. */
  recordOwnWord(sessionId: string, word: 'done' | 'failed'): boolean;
  /** Whether a session has not ended. */
  isLive(sessionId: string): boolean;
}

/** What the workers room asks of the board: whether what it is about to start is what was approved. */
export interface Approvals {
  boundTo(decisionId: string): Bound;
  /** What differs now from what was approved; the profile of a run is the stronger of both in any case. */
  changesSince(session: Pick<Session, 'decisionId' | 'taskId'>): InputChange[];
  /** Inside `storage.write`; see `Workflow.loseApproval`. */
  lose(session: Session, why: string, changes: readonly InputChange[]): Decision;
  /** Inside `storage.write`; see `Workflow.bindOldDecisions`. */
  bindOld(optionsOf: (decisionId: string) => DispatchOptions | null): void;
}

export interface Submitted {
  task: Task;
  decision: Decision | null;
  session: Session | null;
  /** Nothing was started: what would run is not what this one was about, and `decision` waits in its place. */
  replaced?: Decision;
}

/** What an edit answers: the decision that waits now. */
export interface Edited {
  task: Task;
  decision: Decision;
  changed: boolean;
}

/**
 * How work moves: created, approved, dispatched, cancelled, tried again. Receiver, command line and tools all come
 * through here, so there is one path on which a worker can start. Everything runs inside `storage.write`.
 */
export interface Workflow {
  /**
   * Creates the task; dispatches it when `dispatch` is asked for and `approved`, else leaves a decision
   * (approved already when only dispatch was not asked for). A task that its ledger holds waits too.
   */
  submit(task: NewTask, wanted: { dispatch: boolean; approved: boolean; why: string; by: By }): Submitted;
  /** A person (or the Chair) runs the task: that is the approval. Consumes an open decision, else makes one. */
  run(taskId: string, options: DispatchOptions, by: By): Submitted;
  /** Approves and dispatches. Doing it again changes nothing and answers the same. */
  approve(decisionId: string, by: By, options?: DispatchOptions): Submitted & { decision: Decision };
  /** Denies; the task fails with code `denied` and can be retried. */
  deny(decisionId: string, reason: string, by: By): Submitted & { decision: Decision };
  /**
   * Replaces the prompt of a task that waits for the decision. That one was about another prompt: it expires, and a new
   * one waits in its place. `changed: false` when the prompt was that already. Throws `already_decided`, `conflict`.
   */
  edit(decisionId: string, body: string, by: By): Edited;
  assign(taskId: string, agent: string, by: By): Task;
  /** Another project; an approval for the former one no longer holds. */
  move(taskId: string, project: string | null, by: By): Task;
  cancel(taskId: string, by: By): Task;
  /**
   * Marks a task. The worker of its session does so while it works, and the end of that run decides. Throws `conflict` for
   * anybody else while it runs, and once it has ended.
   * @param speaker the session of the worker that says so; null for anybody else
   */
  done(
    taskId: string,
    mark: { status: 'done' | 'failed'; summary: string | null; speaker: string | null },
    by: By,
  ): Task;
  retry(taskId: string, by: By): Task;
  /** What a run of the task would be made from now. */
  inputsOf(task: Task, options: DispatchOptions): RunInputs;
  /** What differs now from what a decision is bound to. */
  changesSince(decision: Pick<Decision, 'decisionId' | 'taskId'>): InputChange[];
  /**
   * Inside `storage.write`: the approval of a session that has not run what was approved, or would go on with something
   * else, holds no longer; a new decision waits in its place, which goes on with what the session has done.
   */
  loseApproval(session: Session, why: string, changes: readonly InputChange[]): Decision;
  /** A person lets a paused session go on without the sandbox. Throws `conflict` for a stranger's task. */
  approveOutside(session: Session): void;
  /**
   * Decisions of before the inputs were kept are bound to what they would run now. Inside `storage.write`, before anything
   * starts.
   * @param optionsOf what the live session of a decision was asked for; null when it has none
   */
  bindOldDecisions(optionsOf: (decisionId: string) => DispatchOptions | null): void;
}

export function createWorkflow({
  storage,
  tasks,
  decisions,
  dispatch,
  record,
  policy = () => ({ mode: 'solo', actors: [] }),
  gate = () => null,
}: {
  storage: Pick<Storage, 'db'>;
  tasks: Tasks;
  decisions: Decisions;
  dispatch: Dispatch;
  /** Who may decide. Clients were asked already; requests from outside come here unasked. */
  policy?: () => Policy;
  gate?: LedgerGate;
  /** Appends to the event log. */
  record: (
    event: { kind: 'task_done' | 'failed'; taskId: string; data: Record<string, unknown> } & By,
  ) => void;
}): Workflow {
  const inputsOf = (task: Task, options: DispatchOptions): RunInputs => ({
    ...dispatch.settings(task, options),
    ...promptInputs(task),
  });

  function changesSince({ decisionId, taskId }: Pick<Decision, 'decisionId' | 'taskId'>): InputChange[] {
    const { inputs, options } = decisions.boundTo(decisionId);
    return changesOf(inputs, inputsOf(tasks.get(taskId), options));
  }

  /** A pending decision for what the task would run now, without anything asked for beside. */
  const ask = (task: Task, why: string, by: By): Decision =>
    decisions.ask(task, { inputs: inputsOf(task, {}), why: whyHeld(task, why) }, by);

  /** Takes the place of an open decision that no longer says what would run. */
  function askAnew(
    task: Task,
    before: Decision,
    changes: readonly InputChange[],
    by: By,
  ): Submitted & { decision: Decision } {
    const { unconfined: _, ...options } = decisions.boundTo(before.decisionId).options;
    const why = `what would run has changed since ${before.decisionId}: ${changedNames(changes)}`;
    decisions.expire(task.taskId, why, by);
    const question = { inputs: inputsOf(task, options), options, changes, why: whyHeld(task, why) };
    const decision = decisions.ask(task, question, by);
    return { task: tasks.get(task.taskId), decision, session: null, replaced: before };
  }

  /** Approves a pending decision, or takes up an approved one, and starts it; where it says something else, asks anew. */
  function approveAndStart(
    before: Decision,
    given: DispatchOptions,
    by: By,
  ): Submitted & { decision: Decision } {
    const task = tasks.get(before.taskId);
    const changes = changesSince(before);
    if (changes.length > 0) return askAnew(task, before, changes, by);
    const options = { ...decisions.boundTo(before.decisionId).options, ...whatIsAsked(given) };
    // An approval of what would fail at once would be used up by it.
    dispatch.checkProgram(task, options);
    const bound = { inputs: inputsOf(task, options), options };
    if (before.state === 'pending')
      return start(task, decisions.approve(before.decisionId, task, bound, by), options);
    decisions.bindTo(before.decisionId, bound);
    return start(task, before, options);
  }

  /** The only place that turns an approved decision into a session. */
  function start(
    task: Task,
    decision: Decision,
    options: DispatchOptions,
  ): Submitted & { decision: Decision } {
    if (!storage.db.inTransaction) throw new Error('workflow runs inside storage.write');
    tasks.checkDispatchable(task.taskId);
    const held = gate(task);
    if (held !== null && options.force !== true) throw held;
    const session = dispatch.enqueue(task, decision, { ...options, force: held !== null });
    decisions.consume(decision.decisionId, session.sessionId);
    tasks.queue(task.taskId, session.sessionId);
    return { task: tasks.get(task.taskId), decision: decisions.get(decision.decisionId), session };
  }

  return {
    submit(newTask, { dispatch: wanted, approved: asked, why, by }) {
      const task = tasks.create(newTask);
      const held = wanted && asked ? gate(task) : null;
      const mayDecide = mayAct(policy(), by.actor);
      const approved = asked && mayDecide && held === null && task.stranger === null;
      const reason = !asked
        ? why
        : mayDecide
          ? (held?.message ?? why)
          : `${by.actor} is not in policy.actors`;
      const decision = approved
        ? decisions.grant(task, { inputs: inputsOf(task, {}), why }, by)
        : ask(task, reason, by);
      const decided = { ...task, decisionId: decision.decisionId };
      return wanted && approved ? start(decided, decision, {}) : { task: decided, decision, session: null };
    },

    run(taskId, options, by) {
      const task = tasks.get(taskId);
      if (task.agent === null && task.status === 'open') {
        throw new SvcError('conflict', `${taskId} has no agent`, {
          hint: sentence`{task.assign ${taskId} <agent>}`,
        });
      }
      const open = decisions.openOf(taskId);
      if (open) return approveAndStart(open, options, by);
      const asked = whatIsAsked(options);
      const question = { inputs: inputsOf(task, asked), options: asked, why: `run by ${by.actor}` };
      return start(task, decisions.grant(task, question, by), options);
    },

    approve(decisionId, by, options = {}) {
      if (!mayAct(policy(), by.actor)) throw actorDenied(by.actor);
      const before = decisions.get(decisionId);
      if (before.state === 'approved')
        return { task: tasks.get(before.taskId), decision: before, session: null };
      decisions.checkPending(before);
      return approveAndStart(before, options, by);
    },

    deny(decisionId, reason, by) {
      if (!mayAct(policy(), by.actor)) throw actorDenied(by.actor);
      const { decision, changed } = decisions.deny(decisionId, reason, by);
      if (changed) {
        tasks.end(decision.taskId, ['open', 'assigned'], {
          status: 'failed',
          failure: { code: 'denied', text: `${decisionId} was denied by ${by.actor}: ${reason}` },
        });
      }
      return { task: tasks.get(decision.taskId), decision, session: null };
    },

    edit(decisionId, body, by) {
      const before = decisions.get(decisionId);
      decisions.checkPending(before);
      const task = tasks.edit(before.taskId, body, by);
      if (task === null) return { task: tasks.get(before.taskId), decision: before, changed: false };
      const why = `the prompt was edited by ${by.actor}`;
      decisions.expire(task.taskId, why, by);
      const decision = ask(task, why, by);
      return { task: tasks.get(task.taskId), decision, changed: true };
    },

    assign(taskId, agent, by) {
      const open = decisions.openOf(taskId);
      const task = tasks.assign(taskId, agent, by);
      if (open === null || open.agent === agent) return task;
      // The approval was for another agent: it no longer holds, and someone has to look again.
      decisions.expire(taskId, `assigned to ${agent}`, by);
      ask(task, `the agent was changed to ${agent}`, by);
      return tasks.get(taskId);
    },

    move(taskId, project, by) {
      const task = tasks.move(taskId, project, by);
      decisions.expire(taskId, `moved to ${project ?? 'the workspace’s own project'}`, by);
      return task;
    },

    cancel(taskId, by) {
      const task = tasks.get(taskId);
      const isMarked = task.status === 'done' || task.status === 'failed';
      // A worker that has marked its task may work on.
      if (isMarked && (task.sessionId === null || !dispatch.isLive(task.sessionId))) {
        throw new SvcError('conflict', `${taskId} has ended already (${task.status})`);
      }
      decisions.expire(taskId, 'cancelled', by);
      if (task.sessionId !== null) {
        dispatch.stop(task.sessionId, 'cancelled', by);
      } else {
        const failure = { code: 'cancelled', text: `cancelled by ${by.actor}` };
        tasks.end(taskId, ['open', 'assigned'], { status: 'failed', failure });
        record({
          kind: 'failed',
          taskId,
          ...by,
          data: { title: task.title, reason: failure.text, code: failure.code },
        });
      }
      return tasks.get(taskId);
    },

    done(taskId, { status, summary, speaker }, by) {
      const task = tasks.get(taskId);
      const { sessionId } = task;
      const isOwn = speaker !== null && speaker === sessionId && dispatch.recordOwnWord(speaker, status);
      const failure =
        status === 'failed' ? { code: 'reported', text: summary ?? `reported by ${by.actor}` } : null;
      const from = ['open', 'assigned', 'running', ...(isOwn ? (['done', 'failed'] as const) : [])] as const;
      if (!tasks.end(taskId, from, { status, failure, summary })) {
        throw new SvcError('conflict', `${taskId} has ended already (${task.status})`);
      }
      decisions.expire(taskId, `marked ${status}`, by);
      if (sessionId !== null && !isOwn && !dispatch.drop(sessionId, by))
        throw new SvcError(
          'conflict',
          `${sessionId} works on ${taskId}, and would go on if it were marked ${status}`,
          {
            hint: sentence`{worker.kill ${sessionId}} ends it; its own worker may mark it, and so may you once it has ended`,
            data: { task_id: taskId, status: task.status, session_id: sessionId },
          },
        );
      record({ kind: 'task_done', taskId, ...by, data: { status, title: task.title } });
      return tasks.get(taskId);
    },

    retry: (taskId, by) => tasks.retry(taskId, by),

    inputsOf,
    changesSince,

    loseApproval(session, why, changes) {
      const { sessionId, taskId, decisionId, cwd } = session;
      const by: By = { actor: 'svc', via: 'engine' };
      tasks.release(taskId, sessionId);
      decisions.revoke(decisionId, why, by);
      const task = tasks.get(taskId);
      const { unconfined: _, ...former } = decisions.boundTo(decisionId).options;
      // What it has done so far is not lost with the approval.
      const options = { ...former, ...(cwd === null ? {} : { continues: sessionId }) };
      const question = { inputs: inputsOf(task, options), options, changes, why: whyHeld(task, why) };
      return decisions.ask(task, question, by);
    },

    approveOutside({ sessionId, taskId, decisionId }) {
      const task = tasks.get(taskId);
      if (task.stranger !== null)
        throw new SvcError(
          'conflict',
          `${taskId} is a stranger's, and so ${sessionId} goes on in the sandbox`,
          {
            hint: sentence`{worker.resume ${sessionId}} without --outside`,
          },
        );
      const { inputs, options: before } = decisions.boundTo(decisionId);
      const options = { ...before, outside: true };
      const now = inputsOf(task, options);
      decisions.bindTo(decisionId, { inputs: { ...(inputs ?? now), profile: now.profile }, options });
    },

    bindOldDecisions(optionsOf) {
      for (const { decisionId, taskId } of decisions.unbound()) {
        const options = optionsOf(decisionId) ?? {};
        decisions.bindTo(decisionId, { inputs: inputsOf(tasks.get(taskId), options), options });
      }
    },
  };
}

/** What a call asks for, without what it leaves open: that is as it was asked before. */
export const whatIsAsked = (options: DispatchOptions): DispatchOptions =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== false));

/** Of a stranger's task that comes first, wherever a decision is shown. */
const whyHeld = ({ stranger }: Task, why: string): string =>
  stranger === null ? why : `by a stranger: ${stranger}; ${why}`;

/** What is told to whoever approved when nothing was started, and something else waits. */
const replacedBy = ({ decisionId, taskId }: Decision, { decisionId: next, changes }: Decision): SvcError =>
  new SvcError(
    'inputs_changed',
    `${taskId} would not run what ${decisionId} was about (changed: ${changedNames(changes)}); nothing was started`,
    {
      hint: sentence`{decision.show ${next}} shows what was and what is; it waits in place of ${decisionId}`,
      data: { decision_id: next, task_id: taskId, changed: changes.map(({ input }) => input) },
    },
  );

/** Why nothing was started although it was approved; null when something was. To be told after the commit. */
export const whyReplaced = ({ replaced, decision }: Submitted): SvcError | null =>
  replaced === undefined ? null : replacedBy(replaced, decision as Decision);

/** After the commit that keeps the decision that waits now. Throws `inputs_changed`. */
export function checkNotReplaced<S extends Submitted>(submitted: S): S {
  const refused = whyReplaced(submitted);
  if (refused !== null) throw refused;
  return submitted;
}
