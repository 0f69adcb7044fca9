import { isOpen, outcomeOf } from '../panes/asks.ts';
import { EMPTY_INPUT } from '../state/input.ts';
import type { AnswerAsk, AskRow, State } from '../state/model.ts';
import { call, type Step, said, step } from './step.ts';

export function selectedAsk(state: State): AskRow | undefined {
  const { selected } = state.lists.asks;
  return selected === null ? undefined : state.data.asks.get(selected);
}

const subjectOf = ({ ask_id: id }: AskRow): string => `ask ${id}`;

export function mayOpen(state: State): string | null {
  const ask = selectedAsk(state);
  if (ask === undefined) return 'nothing is selected';
  return state.busy.includes(subjectOf(ask)) ? `${subjectOf(ask)}: the answer is on its way` : null;
}

/** An open question is opened to be answered, another one to be read. */
export function openAsk(state: State): Step {
  const ask = selectedAsk(state)!;
  if (!isOpen(ask)) return step({ ...state, view: 'full' });
  return step({
    ...state,
    message: null,
    overlay: { kind: 'answer', ask, input: EMPTY_INPUT, top: 0, openedAt: state.now },
  });
}

/** Sends the answer to the question that was read, and to no other. */
export function sendAnswer(state: State, { ask }: AnswerAsk, answer: string): Step {
  if (state.link.phase === 'lost')
    return step(said(state, 'the engine is away: the answer was not sent', 'bad', 'Esc, then u starts it'));
  return call(
    { ...state, overlay: null },
    {
      operation: 'ask_answer',
      input: { id: ask.ask_id, answer },
      busy: subjectOf(ask),
      doing: `answering ${subjectOf(ask)}`,
      said: () => `${subjectOf(ask)} is answered: ${answer}`,
    },
  );
}

/** A question that someone else has answered, or that nobody waits for any more, is closed under the hand. */
export function stillAsked(state: State): State {
  const { overlay } = state;
  if (overlay?.kind !== 'answer') return state;
  const now = state.data.asks.get(String(overlay.ask.ask_id));
  if (now !== undefined && isOpen(now)) return state;
  const what = now === undefined ? 'it is gone' : outcomeOf(now);
  const text = `${subjectOf(overlay.ask)} is closed, nothing was sent: ${what}`;
  return said({ ...state, overlay: null }, text, 'bad');
}
