import { isEssentialRead, readFurther } from '../actions/required-reading.ts';
import { type StateTransition, showMessage, transitionTo, withdraw } from '../actions/transition.ts';
import { getSubjectStamp } from '../state/details.ts';
import type { ArmedKey, State } from '../state/model.ts';
import { isAboutMarks, openBulkQuestion } from './bulk.ts';
import { getDisabledReason, KEYMAP, type KeyBinding } from './index.ts';

/** A key pressed this soon after the program moved the selection was meant for the previous row. */
const SETTLE_MS = 250;
/** Time between two different keys that no hand reaches; a paste without brackets does. */
export const TOO_FAST_MS = 30;

/** Runs a binding, chosen by its key or in the palette; or asks, or explains why it does nothing. */
export function runBinding(state: State, binding: KeyBinding, at: number): StateTransition {
  if (isAboutMarks(binding, state)) return openBulkQuestion(state, binding, at);
  const before = binding.followsOn?.(state) ?? null;
  if (before !== null && state.busy.includes(before)) {
    const text = `${binding.label}: it asks as soon as ${before} is done`;
    return transitionTo({
      ...showMessage(state, text),
      awaited: { binding: binding.id, id: before, at },
    });
  }
  const reason = getDisabledReason(binding, state);
  if (isWaiting(binding, state)) return askEarly(state, binding, at);
  if (reason !== null) return refuse(state, binding, reason, at);
  const acts = (binding.ask !== undefined && binding.asksOnlyOnLoss !== true) || binding.acts === true;
  if (acts && at - state.movedAt < SETTLE_MS) {
    return transitionTo(showMessage(state, 'the selection has just moved: check it, then press again'));
  }
  const asked = binding.ask?.(state) ?? null;
  if (asked === null) return binding.run?.(state) ?? transitionTo(state);
  const { subject, text, answers } = asked;
  if (state.busy.includes(subject.id))
    return refuse(state, binding, `the answer for ${subject.id} is on its way`, at);
  const armed: ArmedKey = {
    binding: binding.id,
    subject,
    stamp: getSubjectStamp(state.data, subject),
    at,
    question: text,
    answers: answers.map(({ key, label }) => ({ key, label })),
  };
  if (binding.requiresReading === true && !isEssentialRead(state, armed))
    return readFurther({ ...state, refused: { keys: binding.confirm ?? [], at } });
  return transitionTo({ ...state, armed, message: null });
}

/** How long a key waits for what it follows on. */
const AWAITED_MS = 15_000;

/** Asks what a key was pressed for while its subject was busy, unless the person has done something else since. */
export function askAwaited(state: State): State {
  const { awaited } = state;
  if (awaited === null) return state;
  const idle = { ...state, awaited: null };
  if (state.armed !== null || state.overlay !== null || state.now - awaited.at > AWAITED_MS) return idle;
  const binding = KEYMAP.find((each) => each.id === awaited.binding)!;
  if (binding.followsOn?.(state) !== awaited.id) return idle;
  if (state.busy.includes(awaited.id) || getDisabledReason(binding, state) !== null) return state;
  // The engine has answered, but its news may come later.
  if (binding.ask?.(state)?.subject.id !== awaited.id) return state;
  return { ...runBinding({ ...idle, movedAt: 0 }, binding, state.now).state, movedAt: state.movedAt };
}

/** Explains why a key does nothing. The second key of its question, which a hand may already type, does nothing either. */
function refuse(state: State, { label, confirm }: KeyBinding, reason: string, at: number): StateTransition {
  const refused = confirm === undefined ? null : { keys: confirm, at };
  return transitionTo({ ...showMessage(state, `${label}: ${reason}`), refused });
}

/** How long after a refusal its second key is taken for an answer. */
const REFUSED_MS = 2000;

/** Ignores the second key of a question that was refused; null if the key is another one. */
export function ignoreRefused(state: State, key: string, at: number): StateTransition | null {
  const { refused } = state;
  if (refused === null) return null;
  if (!refused.keys.includes(key) || at - refused.at > REFUSED_MS) return null;
  return transitionTo({ ...state, refused: null });
}

/** Asks before everything is known. Its answers count once it is, and any other key cancels it. */
function askEarly(state: State, binding: KeyBinding, at: number): StateTransition {
  const { subject, text } = binding.waitsFor!(state)!;
  const { id, label } = binding;
  const armed: ArmedKey = {
    binding: id,
    subject,
    stamp: getSubjectStamp(state.data, subject),
    at,
    question: `${label} ${subject.id}? ${text}`,
    answers: [],
    isEarly: true,
  };
  return transitionTo({ ...state, armed, message: null });
}

/** Handles the second key. Only a key of the question acts; any other key cancels it. */
export function answerQuestion(state: State, key: string, at: number): StateTransition {
  const { armed } = state;
  if (armed === null) return transitionTo(state);
  const disarmed = { ...state, armed: null };
  const binding = KEYMAP.find((each) => each.id === armed.binding);
  if (armed.isEarly && binding?.confirm?.includes(key))
    return transitionTo(showMessage(state, 'not yet: press it again when the question is complete'));
  const question =
    binding !== undefined && getDisabledReason(binding, state) === null ? binding.ask?.(state) : undefined;
  const chosen = question?.answers.find((each) => each.key === key);
  const isSame = question?.subject.id === armed.subject.id && question.subject.kind === armed.subject.kind;
  if (chosen === undefined || !isSame) {
    return transitionTo(
      key === 'esc' ? disarmed : showMessage(disarmed, `${armed.subject.id}: nothing was done`),
    );
  }
  // The question stays for a real answer; each further key of a burst restarts the time.
  if (at - armed.at < TOO_FAST_MS) return transitionTo({ ...state, armed: { ...armed, at } });
  return chosen.run(disarmed);
}

/** Reports whether a key only waits for something that is still being fetched. */
function isWaiting(binding: KeyBinding, state: State): boolean {
  const reason = getDisabledReason(binding, state);
  return reason !== null && reason === binding.waitsFor?.(state)?.text;
}

/** Completes an early question once everything is known; withdraws it if it is refused. */
export function askWhenFetched(state: State): State {
  const { armed } = state;
  if (armed?.isEarly !== true) return state;
  const binding = KEYMAP.find((each) => each.id === armed.binding)!;
  const idle = { ...state, armed: null };
  if (isWaiting(binding, idle)) return state;
  const reason = getDisabledReason(binding, idle);
  if (reason !== null) return withdraw(idle, `${binding.label}: ${reason}`);
  return runBinding({ ...idle, message: null }, binding, state.now).state;
}

/** Withdraws a question whose subject has changed since it was asked. */
export function disarmIfChanged(state: State): State {
  const { armed } = state;
  if (armed === null || getSubjectStamp(state.data, armed.subject) === armed.stamp) return state;
  return withdraw(state, `${armed.subject.id} has changed: check it again`);
}
