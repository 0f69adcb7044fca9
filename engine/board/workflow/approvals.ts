import { actorDenied, type CallAuthor, mayAct } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';
import { pickRequested } from '../dispatch-options.ts';
import type { ApprovedStart } from './start.ts';
import { explainHold, type Workflow, type WorkflowDeps } from './workflow.ts';

/** Asks for approvals, answers them, and revokes them. */
export function createApprovals(
  { tasks, decisions, policy }: Pick<WorkflowDeps, 'tasks' | 'decisions' | 'policy'>,
  { inputsOf, approveAndStart }: ApprovedStart,
): Pick<Workflow, 'hold' | 'approve' | 'deny' | 'edit' | 'loseApproval' | 'approveOutside'> {
  return {
    hold(taskId, options, why, by) {
      const task = tasks.get(taskId);
      decisions.expire(taskId, why, by);
      const asked = pickRequested(options);
      const question = { inputs: inputsOf(task, asked), options: asked, why: explainHold(task, why) };
      const decision = decisions.ask(task, question, by);
      return { task: tasks.get(taskId), decision, session: null };
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
      // A follow-up stays one.
      const { options } = decisions.boundTo(decisionId);
      decisions.expire(task.taskId, why, by);
      const question = { inputs: inputsOf(task, options), options, why: explainHold(task, why) };
      const decision = decisions.ask(task, question, by);
      return { task: tasks.get(task.taskId), decision, changed: true };
    },

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
  };
}
