import { detailOf, stampOf } from '../state/details.ts';
import { EMPTY_INPUT } from '../state/input.ts';
import type { DecisionRow, Plan, State } from '../state/model.ts';
import { cleanLines } from '../text.ts';
import { withWorker } from './moving.ts';
import { call, type Question, type Step, said, step } from './step.ts';
import { isGated } from './tasks.ts';

export function selectedDecision(state: State): DecisionRow | undefined {
  const { selected } = state.lists.decisions;
  return selected === null ? undefined : state.data.decisions.get(selected);
}

/** What would run, as it is now. */
function unknownReason(state: State, { decision_id: id }: DecisionRow): string | null {
  const loaded = detailOf(state, 'decision', id);
  const isCurrent = loaded?.stamp === stampOf(state.data, { kind: 'decision', id });
  return loaded?.detail && isCurrent ? null : 'what would run is still being fetched';
}

export function mayDecide(state: State): string | null {
  const decision = selectedDecision(state);
  if (decision === undefined) return 'no decision is selected';
  if (decision.state !== 'pending') return `${decision.decision_id} is ${decision.state}`;
  return unknownReason(state, decision);
}

export function mayApprove(state: State): string | null {
  const decision = selectedDecision(state);
  const reason = mayDecide(state);
  if (reason !== null || decision === undefined) return reason;
  const plan = detailOf(state, 'decision', decision.decision_id)?.detail?.plan;
  const isHeld = plan?.problem && !isGated(plan) && !isUnconfinable(decision, plan);
  return isHeld ? `it could not start: ${plan.problem?.message}` : null;
}

/** A stranger's task, and no sandbox here: a person may say a third time that it is to run. */
const isUnconfinable = ({ stranger }: DecisionRow, { problem }: Plan): boolean =>
  stranger !== null && (problem?.code === 'confinement_unavailable' || problem?.code === 'tool_missing');

export function approveQuestion(state: State): Question {
  const decision = selectedDecision(state)!;
  const { decision_id: id, task_id: taskId, agent, hash } = decision;
  const plan = detailOf(state, 'decision', id)?.detail?.plan;
  const gate = plan !== undefined && isGated(plan) ? plan.problem : null;
  const what = `${id} and start ${agent ?? 'the agent'} on ${taskId}`;
  const approve = (how: { force?: true }) => (now: State) =>
    call(now, {
      operation: 'decision.approve',
      input: { id, hash, ...how },
      busy: id,
      doing: `approving ${id}`,
      said: ({ session }) => `${id} approved: ${session?.session_id ?? 'it'} starts on ${taskId}`,
      after: (later, { session }) => withWorker(later, session),
    });
  if (plan !== undefined && isUnconfinable(decision, plan)) {
    const input = EMPTY_INPUT;
    return {
      subject: { kind: 'decision', id },
      text: `BY A STRANGER: ${decision.stranger}. ${plan.problem?.message}. Approve ${what} without a sandbox?`,
      answers: [
        {
          key: 'y',
          label: 'go on to type its id',
          run: (now) =>
            step({ ...now, overlay: { kind: 'unconfined', decision: id, task: taskId, hash, input } }),
        },
      ],
    };
  }
  return {
    subject: { kind: 'decision', id },
    text:
      gate === null
        ? `${decision.stranger === null ? '' : `BY A STRANGER: ${decision.stranger}. `}Approve ${what}?`
        : `HELD BY ITS LEDGER: ${gate.message}. Approve ${what} all the same?`,
    answers: [
      gate === null
        ? { key: 'y', label: 'approve', run: approve({}) }
        : { key: 'f', label: 'force, which is recorded', run: approve({ force: true }) },
    ],
  };
}

/** After the third, spelt-out key. */
export const approveUnconfined = (
  state: State,
  { decision: id, task, hash }: { decision: string; task: string; hash: string },
): Step =>
  call(state, {
    operation: 'decision.approve',
    input: { id, hash, unconfined: task },
    busy: id,
    doing: `approving ${id}`,
    said: ({ session }) =>
      `${id} approved without a sandbox: ${session?.session_id ?? 'it'} starts on ${task}`,
    after: (later, { session }) => withWorker(later, session),
  });

export function denyQuestion(state: State): Question {
  const { decision_id: id, hash, task_id: taskId } = selectedDecision(state)!;
  return {
    subject: { kind: 'decision', id },
    text: `Deny ${id}? ${taskId} fails and can be retried.`,
    answers: [
      { key: 'y', label: 'deny', run: (now) => deny(now, id, 'denied in the dashboard') },
      {
        key: 'r',
        label: 'deny with a reason',
        run: (now) => step({ ...now, overlay: { kind: 'reason', decision: id, hash, input: EMPTY_INPUT } }),
      },
    ],
  };
}

export const deny = (state: State, id: string, reason: string): Step =>
  call(state, {
    operation: 'decision.deny',
    input: { id, reason },
    busy: id,
    doing: `denying ${id}`,
    said: () => `${id} denied: ${reason}`,
  });

/** The prompt in the person's editor. Another text makes another decision: nobody approves what they have not read. */
export function editPrompt(state: State): Step {
  const { decision_id: id, hash } = selectedDecision(state)!;
  const { body, title } = detailOf(state, 'decision', id)!.detail!.task;
  const before = body === '' ? title : body;
  return step(state, {
    do: 'edit',
    text: before,
    name: `${id}.md`,
    after(now, text) {
      if (text.trimEnd() === before.trimEnd())
        return step(said(now, `${id} is as it was: the text did not change`));
      if (text.trim() === '')
        return step(said(now, `${id} is as it was: an empty prompt runs nothing`, 'bad'));
      return call(now, {
        operation: 'decision.edit',
        input: { id, hash, prompt: text },
        busy: id,
        doing: `saving the prompt of ${id}`,
        said: ({ decision }) => `${decision.decision_id} takes the place of ${id}: ${cleanLines(text)[0]}`,
        after: (later, { decision }) => ({ ...later, jump: { pane: 'decisions', id: decision.decision_id } }),
      });
    },
  });
}
