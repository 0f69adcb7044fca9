import { actorDenied, type CallAuthor, mayAct, type OperationPolicy } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Storage } from '../../storage/index.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { ApprovedInputs, Decision, Decisions } from '../decisions/index.ts';
import {
  type InputChange,
  listInputChanges,
  nameChanges,
  pickRacer,
  type RunInputs,
  readPromptInputs,
} from '../decisions/inputs.ts';
import { type DispatchOptions, pickRequested } from '../dispatch-options.ts';
import type { LedgerGate } from '../ledger/index.ts';
import type { Races } from '../races/index.ts';
import type { NewTask, Task, Tasks } from '../tasks/index.ts';
import type { DispatchPort, SubmitResult } from './dispatch.ts';
import { createRaceStart, listRunners } from './race-start.ts';

export type { DispatchPort, SubmitResult } from './dispatch.ts';

/** The board's check for the dispatcher: whether a run matches what was approved. */
export interface ApprovalCheck {
  boundTo(decisionId: string): ApprovedInputs;
  /** Lists the current differences from the approved inputs. A run always gets the stronger of both guard profiles. */
  changesSince(session: Pick<Session, 'decisionId' | 'taskId' | 'agent' | 'race'>): InputChange[];
  /** See `Workflow.loseApproval`. */
  lose(session: Session, why: string, changes: readonly InputChange[]): Decision;
  /** See `Workflow.bindOldDecisions`. */
  bindOld(optionsOf: (decisionId: string) => DispatchOptions | null): void;
}

/** The result of an edit, with the new pending decision. */
export interface EditResult {
  task: Task;
  decision: Decision;
  changed: boolean;
}

/**
 * Moves tasks through their states: created, approved, dispatched, cancelled, retried. Receiver, command line and
 * tools all use it, so there is one path on which a worker can start. Call everything inside `storage.write`.
 */
export interface Workflow {
  /**
   * Creates a task. Dispatches it if `dispatch` and `approved` are both set, otherwise leaves a decision (already
   * approved if only `dispatch` is not set). A task held by its ledger waits too.
   */
  submit(
    task: NewTask,
    wanted: { dispatch: boolean; approved: boolean; why: string; by: CallAuthor },
  ): SubmitResult;
  /** Runs a task for a person or the Chair, which approves it. Consumes the open decision, or creates one. */
  run(taskId: string, options: DispatchOptions, by: CallAuthor): SubmitResult;
  /** Leaves a pending decision for a run of the task with these options, replacing an open one. */
  hold(
    taskId: string,
    options: DispatchOptions,
    why: string,
    by: CallAuthor,
  ): SubmitResult & { decision: Decision };
  /**
   * Adds an agent to the race of a task, under the decision of that race, which then covers it; starts a race if none
   * is open. For a person or the Chair, which approves it.
   */
  join(taskId: string, agent: string, options: DispatchOptions, by: CallAuthor): SubmitResult;
  /** Approves and dispatches. Repeating it changes nothing and returns the same. */
  approve(
    decisionId: string,
    by: CallAuthor,
    options?: DispatchOptions,
  ): SubmitResult & { decision: Decision };
  /** Denies; the task fails with code `denied` and can be retried. */
  deny(decisionId: string, reason: string, by: CallAuthor): SubmitResult & { decision: Decision };
  /**
   * Replaces the prompt of a task that waits for the decision. The decision expires, since it was about another
   * prompt, and a new one replaces it. `changed: false` for the same prompt. Throws `already_decided`, `conflict`.
   */
  edit(decisionId: string, body: string, by: CallAuthor): EditResult;
  assign(taskId: string, agent: string, by: CallAuthor): Task;
  /** Moves a task to another project; an approval for the old one expires. */
  move(taskId: string, project: string | null, by: CallAuthor): Task;
  cancel(taskId: string, by: CallAuthor): Task;
  /**
   * Marks a task as done or failed. A worker may mark its own task while it runs; the end of the run then decides. Throws
   * `conflict` for anyone else while it runs, and once it has ended.
   * @param speaker the session of the worker that marks it; null for anyone else
   */
  done(
    taskId: string,
    mark: { status: 'done' | 'failed'; summary: string | null; speaker: string | null },
    by: CallAuthor,
  ): Task;
  retry(taskId: string, by: CallAuthor): Task;
  /** Returns the current inputs of a run of the task. */
  inputsOf(task: Task, options: DispatchOptions): RunInputs;
  /** Lists the current differences from the inputs that a decision is bound to; with `racer` only for that agent of its race. */
  changesSince(decision: Pick<Decision, 'decisionId' | 'taskId'>, racer?: string): InputChange[];
  /**
   * Revokes the approval of a session that did not run the approved inputs, or would continue with others. A new
   * decision replaces it, which continues from the session's work.
   */
  loseApproval(session: Session, why: string, changes: readonly InputChange[]): Decision;
  /** A person allows a paused session to resume without the sandbox. Throws `conflict` for a task from an untrusted author. */
  approveOutside(session: Session): void;
  /**
   * Binds decisions from before inputs were stored to their current inputs. Call it before anything starts.
   * @param optionsOf the options of a decision's live session; null if it has none
   */
  bindOldDecisions(optionsOf: (decisionId: string) => DispatchOptions | null): void;
}

export function createWorkflow({
  storage,
  tasks,
  decisions,
  dispatch,
  races,
  record,
  policy = () => ({ mode: 'solo', actors: [] }),
  gate = () => null,
}: {
  storage: Pick<Storage, 'db'>;
  tasks: Tasks;
  decisions: Decisions;
  dispatch: DispatchPort;
  races: Races;
  /** Checks who may decide. Clients were checked already; requests from outside were not. */
  policy?: () => OperationPolicy;
  gate?: LedgerGate;
  /** Appends to the event log. */
  record: (
    event: { kind: 'task_done' | 'failed'; taskId: string; data: Record<string, unknown> } & CallAuthor,
  ) => void;
}): Workflow {
  const inputsOf = (task: Task, options: DispatchOptions): RunInputs => ({
    ...dispatch.settings(task, options),
    ...readPromptInputs(task),
  });

  const { startRace, joinRace } = createRaceStart({ tasks, decisions, dispatch, races, inputsOf });

  const changesSince: Workflow['changesSince'] = ({ decisionId, taskId }, racer) => {
    const { inputs, options } = decisions.boundTo(decisionId);
    const now = inputsOf(tasks.get(taskId), options);
    // Changes for another agent of the race do not matter here.
    return racer === undefined
      ? listInputChanges(inputs, now)
      : listInputChanges(inputs && pickRacer(inputs, racer), pickRacer(now, racer));
  };

  /** Creates a pending decision for the task's current inputs, without further options. */
  const askForApproval = (task: Task, why: string, by: CallAuthor): Decision =>
    decisions.ask(task, { inputs: inputsOf(task, {}), why: explainHold(task, why) }, by);

  /** Replaces an open decision that no longer matches its inputs. */
  function replaceDecision(
    task: Task,
    before: Decision,
    changes: readonly InputChange[],
    by: CallAuthor,
  ): SubmitResult & { decision: Decision } {
    const { unconfined: _, ...options } = decisions.boundTo(before.decisionId).options;
    const why = `what would run has changed since ${before.decisionId}: ${nameChanges(changes)}`;
    decisions.expire(task.taskId, why, by);
    const question = { inputs: inputsOf(task, options), options, changes, why: explainHold(task, why) };
    const decision = decisions.ask(task, question, by);
    return { task: tasks.get(task.taskId), decision, session: null, replaced: before };
  }

  /** Approves a pending decision, or uses an approved one, and starts it; replaces it if the inputs have changed. */
  function approveAndStart(
    before: Decision,
    given: DispatchOptions,
    by: CallAuthor,
  ): SubmitResult & { decision: Decision } {
    const task = tasks.get(before.taskId);
    const changes = changesSince(before);
    if (changes.length > 0) return replaceDecision(task, before, changes, by);
    const options = { ...decisions.boundTo(before.decisionId).options, ...pickRequested(given) };
    // A run that fails immediately would use up the approval.
    for (const each of listRunners(task, options)) dispatch.checkCommand(each, options);
    const bound = { inputs: inputsOf(task, options), options };
    if (before.state === 'pending')
      return startSession(task, decisions.approve(before.decisionId, task, bound, by), options);
    decisions.bindTo(before.decisionId, bound);
    return startSession(task, before, options);
  }

  /** The only place that turns an approved decision into a session. */
  function startSession(
    task: Task,
    decision: Decision,
    options: DispatchOptions,
  ): SubmitResult & { decision: Decision } {
    if (!storage.db.inTransaction) throw new Error('workflow runs inside storage.write');
    if (options.race === undefined) tasks.checkDispatchable(task.taskId);
    const held = gate(task);
    if (held !== null && options.force !== true) throw held;
    const asked = { ...options, force: held !== null };
    if (options.race !== undefined) return startRace(task, decision, asked);
    const session = dispatch.enqueue(task, decision, asked, null);
    decisions.consume(decision.decisionId, session.sessionId);
    tasks.queue(task.taskId, session.sessionId);
    return { task: tasks.get(task.taskId), decision: decisions.get(decision.decisionId), session };
  }

  const runTask: Workflow['run'] = (taskId, options, by) => {
    const task = tasks.get(taskId);
    if (task.agent === null && task.status === 'open' && options.race === undefined) {
      throw new SvcError('conflict', `${taskId} has no agent`, {
        hint: sentence`{task.assign ${taskId} <agent>}`,
      });
    }
    const open = decisions.openOf(taskId);
    if (open) return approveAndStart(open, options, by);
    const asked = pickRequested(options);
    const question = { inputs: inputsOf(task, asked), options: asked, why: `run by ${by.actor}` };
    return startSession(task, decisions.grant(task, question, by), options);
  };

  return {
    submit(newTask, { dispatch: wanted, approved: asked, why, by }) {
      const task = tasks.create(newTask);
      // A blocked start waits, and its sender need not send it again.
      const held = wanted && asked ? (gate(task) ?? dispatch.findLock(task)) : null;
      const mayDecide = mayAct(policy(), by.actor);
      const approved = asked && mayDecide && held === null && task.stranger === null;
      const reason = !asked
        ? why
        : mayDecide
          ? (held?.message ?? why)
          : `${by.actor} is not in policy.actors`;
      const decision = approved
        ? decisions.grant(task, { inputs: inputsOf(task, {}), why }, by)
        : askForApproval(task, reason, by);
      const decided = { ...task, decisionId: decision.decisionId };
      return wanted && approved
        ? startSession(decided, decision, {})
        : { task: decided, decision, session: null };
    },

    run: runTask,

    hold(taskId, options, why, by) {
      const task = tasks.get(taskId);
      decisions.expire(taskId, why, by);
      const asked = pickRequested(options);
      const question = { inputs: inputsOf(task, asked), options: asked, why: explainHold(task, why) };
      const decision = decisions.ask(task, question, by);
      return { task: tasks.get(taskId), decision, session: null };
    },

    join(taskId, agent, options, by) {
      const task = tasks.get(taskId);
      if (task.race === null) return runTask(taskId, { ...options, race: [agent] }, by);
      return joinRace(task, task.race, agent, options);
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
      const decision = askForApproval(task, why, by);
      return { task: tasks.get(task.taskId), decision, changed: true };
    },

    assign(taskId, agent, by) {
      const open = decisions.openOf(taskId);
      const task = tasks.assign(taskId, agent, by);
      if (open === null || open.agent === agent) return task;
      // The approval was for another agent, so a person has to decide again.
      decisions.expire(taskId, `assigned to ${agent}`, by);
      askForApproval(task, `the agent was changed to ${agent}`, by);
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
      // A worker that has marked its task may still be running.
      if (isMarked && (task.sessionId === null || !dispatch.isLive(task.sessionId))) {
        throw new SvcError('conflict', `${taskId} has already ended (${task.status})`);
      }
      decisions.expire(taskId, 'cancelled', by);
      if (task.race !== null) {
        for (const { sessionId } of races.cancel(task.race, by)) dispatch.stop(sessionId, 'cancelled', by);
      }
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
      if (task.race !== null) {
        // A worker's mark is about its own work, and the task belongs to none of the workers.
        if (speaker !== null && dispatch.recordOwnWord(speaker, status)) return task;
        throw new SvcError(
          'conflict',
          `${taskId} is being raced: it is done when one of its sessions is promoted`,
          {
            hint: sentence`{task.compare ${taskId}} shows them; {task.cancel ${taskId}} ends the race without a winner`,
            data: { task_id: taskId, status: task.status },
          },
        );
      }
      const isOwn = speaker !== null && speaker === sessionId && dispatch.recordOwnWord(speaker, status);
      const failure =
        status === 'failed' ? { code: 'reported', text: summary ?? `reported by ${by.actor}` } : null;
      const from = ['open', 'assigned', 'running', ...(isOwn ? (['done', 'failed'] as const) : [])] as const;
      if (!tasks.end(taskId, from, { status, failure, summary })) {
        throw new SvcError('conflict', `${taskId} has already ended (${task.status})`);
      }
      decisions.expire(taskId, `marked ${status}`, by);
      if (sessionId !== null && !isOwn && !dispatch.drop(sessionId, by))
        throw new SvcError(
          'conflict',
          `${sessionId} works on ${taskId}, and would continue if it were marked ${status}`,
          {
            hint: sentence`{worker.kill ${sessionId}} ends it; its own worker can mark it now, and you can once it has ended`,
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
      const by: CallAuthor = { actor: 'svc', via: 'engine' };
      tasks.release(taskId, sessionId);
      decisions.revoke(decisionId, why, by);
      const task = tasks.get(taskId);
      const { unconfined: _, ...former } = decisions.boundTo(decisionId).options;
      // Its work so far is kept.
      const options = { ...former, ...(cwd === null ? {} : { continues: sessionId }) };
      const question = { inputs: inputsOf(task, options), options, changes, why: explainHold(task, why) };
      return decisions.ask(task, question, by);
    },

    approveOutside({ sessionId, taskId, decisionId }) {
      const task = tasks.get(taskId);
      if (task.stranger !== null)
        throw new SvcError(
          'conflict',
          `${taskId} comes from an untrusted author, so ${sessionId} must stay in the sandbox`,
          {
            hint: sentence`use {worker.resume ${sessionId}} without --outside`,
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

/** Explains why a decision waits; an untrusted author comes first everywhere. */
const explainHold = ({ stranger }: Task, why: string): string =>
  stranger === null ? why : `untrusted author: ${stranger}; ${why}`;

/** Creates the error for an approval that started nothing because another decision waits now. */
const inputsChangedError = (
  { decisionId, taskId }: Decision,
  { decisionId: next, changes }: Decision,
): SvcError =>
  new SvcError(
    'inputs_changed',
    `${taskId} no longer matches ${decisionId} (changed: ${nameChanges(changes)}); nothing was started`,
    {
      hint: sentence`{decision.show ${next}} shows the difference; it replaces ${decisionId}`,
      data: { decision_id: next, task_id: taskId, changed: changes.map(({ input }) => input) },
    },
  );

/**
 * Creates the error for a replaced decision; null if nothing was replaced. To be thrown after the commit that stores
 * the new one.
 */
export const whyReplaced = ({ replaced, decision }: SubmitResult): SvcError | null =>
  replaced === undefined ? null : inputsChangedError(replaced, decision as Decision);

/** Throws `inputs_changed` for a replaced decision. Call after the commit that stores the new one. */
export function checkNotReplaced<S extends SubmitResult>(submitted: S): S {
  const refused = whyReplaced(submitted);
  if (refused !== null) throw refused;
  return submitted;
}
