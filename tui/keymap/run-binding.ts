import { isRead, readOn } from '../actions/required-reading.ts';
import { type Step, said, step } from '../actions/transition.ts';
import { stampOf } from '../state/details.ts';
import type { Armed, State } from '../state/model.ts';
import { type Binding, KEYMAP, reasonAgainst } from './index.ts';

/** After the program moved a selection, what a person pressed was meant for the row before. */
const SETTLE_MS = 250;
/** No hand presses two different keys this fast; a paste that is no paste to the terminal does. */
const TOO_FAST_MS = 30;

/** What a key, or a line of the palette, does. */
export function press(state: State, binding: Binding, at: number): Step {
  const reason = reasonAgainst(binding, state);
  if (reason !== null) return step(said(state, `${binding.label}: ${reason}`));
  const acts = binding.ask !== undefined || binding.acts === true;
  if (acts && at - state.movedAt < SETTLE_MS) {
    return step(said(state, 'the selection has just moved: look, then press again'));
  }
  if (binding.ask === undefined) return binding.run?.(state) ?? step(state);
  const { subject, text, answers } = binding.ask(state);
  if (state.busy.includes(subject.id)) return step(said(state, `${subject.id}: the answer is on its way`));
  const armed: Armed = {
    binding: binding.id,
    subject,
    stamp: stampOf(state.data, subject),
    at,
    question: text,
    answers: answers.map(({ key, label }) => ({ key, label })),
  };
  if (binding.reads === true && !isRead(state, armed)) return readOn(state);
  return step({ ...state, armed, message: null });
}

/** The second key. Only one of the answers acts; every other key leaves things as they are. */
export function answer(state: State, key: string, at: number): Step {
  const { armed } = state;
  if (armed === null) return step(state);
  const disarmed = { ...state, armed: null };
  const binding = KEYMAP.find((each) => each.id === armed.binding);
  const question =
    binding !== undefined && reasonAgainst(binding, state) === null ? binding.ask?.(state) : undefined;
  const chosen = question?.answers.find((each) => each.key === key);
  const isSame = question?.subject.id === armed.subject.id && question.subject.kind === armed.subject.kind;
  if (chosen === undefined || !isSame) {
    return step(key === 'esc' ? disarmed : said(disarmed, `${armed.subject.id}: nothing was done`));
  }
  // The question stays, for a hand that answers it; each further key of a torrent begins the time anew.
  if (at - armed.at < TOO_FAST_MS) return step({ ...state, armed: { ...armed, at } });
  return chosen.run(disarmed);
}

/** A question about something that has changed meanwhile is withdrawn. */
export function stillArmed(state: State): State {
  const { armed } = state;
  if (armed === null || stampOf(state.data, armed.subject) === armed.stamp) return state;
  return said({ ...state, armed: null }, `${armed.subject.id} has changed: look again`, 'bad');
}
