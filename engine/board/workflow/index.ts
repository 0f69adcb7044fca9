import { mayAct } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { ApprovedInputs, Decision } from '../decisions/index.ts';
import { type InputChange, nameChanges } from '../decisions/inputs.ts';
import { createApprovals } from './approvals.ts';
import type { SubmitResult } from './dispatch.ts';
import { createTaskEnd } from './end.ts';
import { createRunStart } from './start.ts';
import type { Workflow, WorkflowDeps } from './workflow.ts';

export type { DispatchPort, SubmitResult } from './dispatch.ts';

export type { EditResult, Workflow } from './workflow.ts';

/** The board's check for the dispatcher: whether a run matches what was approved. */
export interface ApprovalCheck {
  boundTo(decisionId: string): ApprovedInputs;
  /** Lists the current differences from the approved inputs. A run always gets the stronger of both guard profiles. */
  changesSince(session: Pick<Session, 'decisionId' | 'taskId' | 'agent' | 'race'>): InputChange[];
  /** See `Workflow.loseApproval`. */
  lose(session: Session, why: string, changes: readonly InputChange[]): Decision;
}

/** Connects tasks, decisions, races and the dispatcher. */
export function createWorkflow({
  policy = () => ({ mode: 'solo', actors: [] }),
  gate = () => null,
  ...given
}: Omit<WorkflowDeps, 'policy' | 'gate'> & Partial<Pick<WorkflowDeps, 'policy' | 'gate'>>): Workflow {
  const deps = { ...given, policy, gate };
  const { tasks, decisions, dispatch } = deps;
  const start = createRunStart(deps);
  const { run, join, inputsOf, changesSince, askForApproval, startSession } = start;
  return {
    run,
    join,
    inputsOf,
    changesSince,
    ...createApprovals(deps, start),
    ...createTaskEnd(deps),
    retry: tasks.retry,

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
  };
}

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
