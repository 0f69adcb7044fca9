import { describeUnseen } from '../../engine/core/base/text.ts';
import { findDetail, getSubjectStamp } from '../state/details.ts';
import { EMPTY_INPUT } from '../state/input.ts';
import type { State } from '../state/model.ts';
import type { OverlayState, WritePrompt } from '../state/overlays.ts';
import type { ListedPlan, ShownDecision } from '../state/rows.ts';
import { getSelectedDecision } from '../state/selection.ts';
import { splitCleanLines } from '../text/text.ts';
import { jumpToRun } from './navigation.ts';
import { isHeldByLedger } from './tasks.ts';
import {
  callEngine,
  closeOverlay,
  type ScreenQuestion,
  type StateTransition,
  showMessage,
  transitionTo,
} from './transition.ts';

/** An approval needs the current plan on the screen: an older one may describe another run. */
function checkPlanIsFetched(state: State, { decision_id: id }: ShownDecision): string | null {
  const loaded = findDetail(state, 'decision', id);
  const isCurrent = loaded?.stamp === getSubjectStamp(state.data, { kind: 'decision', id });
  return loaded?.detail && isCurrent ? null : 'what would run is still being fetched';
}

export function checkCanDecide(state: State): string | null {
  const decision = getSelectedDecision(state);
  if (decision === undefined) return 'no decision is selected';
  if (decision.state !== 'pending') return `${decision.decision_id} is ${decision.state}`;
  return checkPlanIsFetched(state, decision);
}

export function checkCanApprove(state: State): string | null {
  const decision = getSelectedDecision(state);
  const reason = checkCanDecide(state);
  if (reason !== null || decision === undefined) return reason;
  const plan = findDetail(state, 'decision', decision.decision_id)?.detail?.plan;
  const isHeld = plan?.problem && !isHeldByLedger(plan) && !isUnconfinable(decision, plan);
  return isHeld ? `it could not start: ${plan.problem?.message}` : null;
}

/** Reports whether no sandbox can be set up for a task from an untrusted author. A person may still run it by typing its id. */
const isUnconfinable = ({ stranger }: ShownDecision, { problem }: ListedPlan): boolean =>
  stranger !== null && (problem?.code === 'confinement_unavailable' || problem?.code === 'tool_missing');

export function askToApprove(state: State): ScreenQuestion {
  const decision = getSelectedDecision(state)!;
  const { decision_id: id, task_id: taskId, agent, hash } = decision;
  const holds = describeUnseen(decision.unseen);
  const warning = holds === null ? '' : `ITS PROMPT ${holds}. `;
  const plan = findDetail(state, 'decision', id)?.detail?.plan;
  const gate = plan !== undefined && isHeldByLedger(plan) ? plan.problem : null;
  const what = `${id} and start ${agent ?? 'the agent'} on ${taskId}`;
  const approveWith = (how: { force?: true }) => (now: State) =>
    callEngine(now, {
      operation: 'decision.approve',
      input: { id, hash, ...how },
      busy: id,
      doing: `approving ${id}`,
      describeAnswer: ({ session }) => `${id} approved: ${session?.session_id ?? 'it'} starts on ${taskId}`,
      onAnswer: (later, { session }) => jumpToRun(later, session),
    });
  if (plan !== undefined && isUnconfinable(decision, plan)) {
    const input = EMPTY_INPUT;
    return {
      subject: { kind: 'decision', id },
      text: `${warning}UNTRUSTED AUTHOR: ${decision.stranger}. ${plan.problem?.message}. Approve ${what} without a sandbox?`,
      answers: [
        {
          key: 'y',
          label: 'continue and type its id',
          run: (now) =>
            transitionTo({
              ...now,
              overlay: { kind: 'unconfined', decision: id, task: taskId, hash, input },
            }),
        },
      ],
    };
  }
  return {
    subject: { kind: 'decision', id },
    text:
      gate === null
        ? `${warning}${decision.stranger === null ? '' : `UNTRUSTED AUTHOR: ${decision.stranger}. `}Approve ${what}?`
        : `${warning}HELD BY ITS LEDGER: ${gate.message}. Approve ${what} anyway?`,
    answers: [
      gate === null
        ? { key: 'y', label: 'approve', run: approveWith({}) }
        : { key: 'f', label: 'force (recorded)', run: approveWith({ force: true }) },
    ],
  };
}

/** Approves a task from an untrusted author without a sandbox, after its id was typed. */
export const approveUnconfined = (
  state: State,
  { decision: id, task, hash }: { decision: string; task: string; hash: string },
): StateTransition =>
  callEngine(state, {
    operation: 'decision.approve',
    input: { id, hash, unconfined: task },
    busy: id,
    doing: `approving ${id}`,
    describeAnswer: ({ session }) =>
      `${id} approved without a sandbox: ${session?.session_id ?? 'it'} starts on ${task}`,
    onAnswer: (later, { session }) => jumpToRun(later, session),
  });

export function askToDeny(state: State): ScreenQuestion {
  const { decision_id: id, hash, task_id: taskId } = getSelectedDecision(state)!;
  return {
    subject: { kind: 'decision', id },
    text: `Deny ${id}? ${taskId} fails and can be retried.`,
    answers: [
      { key: 'y', label: 'deny', run: (now) => denyWithReason(now, id, 'denied in the dashboard') },
      {
        key: 'r',
        label: 'deny with a reason',
        run: (now) =>
          transitionTo({ ...now, overlay: { kind: 'reason', decision: id, hash, input: EMPTY_INPUT } }),
      },
    ],
  };
}

export const denyWithReason = (
  state: State,
  id: string,
  reason: string,
  form?: OverlayState,
): StateTransition =>
  callEngine(state, {
    operation: 'decision.deny',
    input: { id, reason },
    ...(form ? { form } : {}),
    busy: id,
    doing: `denying ${id}`,
    describeAnswer: () => `${id} denied: ${reason}`,
  });

/** Opens the prompt in the person's editor. A changed text creates a new decision, so no one approves unread text. */
export function editDecisionPrompt(state: State): StateTransition {
  const { decision_id: decision, hash } = getSelectedDecision(state)!;
  const { body, title } = findDetail(state, 'decision', decision)!.detail!.task;
  const before = body === '' ? title : body;
  return editPrompt(state, { kind: 'prompt', decision, hash, before, long: before });
}

/** Opens the editor for a prompt; the edited text is saved. */
export const editPrompt = (state: State, overlay: WritePrompt): StateTransition =>
  transitionTo(state, {
    do: 'edit',
    text: overlay.long,
    name: `${overlay.decision}.md`,
    onEdited: (now, text) => savePrompt(closeOverlay(now, overlay), { ...overlay, long: text }),
  });

/** Saves the text. */
export function savePrompt(state: State, overlay: WritePrompt): StateTransition {
  const { decision: id, hash, before, long: prompt } = overlay;
  if (prompt.trimEnd() === before.trimEnd()) return transitionTo(showMessage(state, `prompt unchanged`));
  if (prompt.trim() === '')
    return transitionTo(showMessage(state, `${id} is unchanged: a prompt must not be empty`, 'bad'));
  return callEngine(state, {
    operation: 'decision.edit',
    input: { id, hash, prompt },
    form: overlay,
    busy: id,
    doing: `saving the prompt of ${id}`,
    describeAnswer: ({ decision }) => `${decision.decision_id} replaces ${id}: ${splitCleanLines(prompt)[0]}`,
  });
}
