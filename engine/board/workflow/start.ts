import type { CallAuthor } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Decision } from '../decisions/index.ts';
import { type InputChange, nameChanges } from '../decisions/inputs.ts';
import { type DispatchOptions, pickRequested } from '../dispatch-options.ts';
import type { Task } from '../tasks/index.ts';
import type { SubmitResult } from './dispatch.ts';
import { createRaceStart, listRunners } from './race-start.ts';
import { createRunInputs } from './run-inputs.ts';
import { explainHold, type Workflow, type WorkflowDeps } from './workflow.ts';

/** The ways to a running session. */
export interface ApprovedStart extends Pick<Workflow, 'run' | 'join' | 'inputsOf' | 'changesSince'> {
  /** Creates a pending decision for the task's current inputs, without further options. */
  askForApproval(task: Task, why: string, by: CallAuthor): Decision;
  /** Approves a pending decision, or uses an approved one, and starts it; replaces it if the inputs have changed. */
  approveAndStart(
    before: Decision,
    given: DispatchOptions,
    by: CallAuthor,
  ): SubmitResult & { decision: Decision };
  /** The only place that turns an approved decision into a session. */
  startSession(
    task: Task,
    decision: Decision,
    options: DispatchOptions,
  ): SubmitResult & { decision: Decision };
}

/** Starts what was approved, with the inputs that were approved. */
export function createRunStart({
  storage,
  tasks,
  decisions,
  dispatch,
  races,
  gate,
}: Omit<WorkflowDeps, 'policy' | 'record'>): ApprovedStart {
  const { inputsOf, changesSince } = createRunInputs({ tasks, decisions, dispatch });
  const { startRace, joinRace } = createRaceStart({ tasks, decisions, dispatch, races, inputsOf });

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

  const joinTask: Workflow['join'] = (taskId, agent, options, by) => {
    const task = tasks.get(taskId);
    if (task.race === null) return runTask(taskId, { ...options, race: [agent] }, by);
    return joinRace(task, task.race, agent, options);
  };

  return {
    run: runTask,
    join: joinTask,
    inputsOf,
    changesSince,
    askForApproval,
    approveAndStart,
    startSession,
  };
}
