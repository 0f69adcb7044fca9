import { describeOutcome, isOpenAsk } from '../panes/ask-preview.ts';
import { EMPTY_INPUT } from '../state/input.ts';
import type { State } from '../state/model.ts';
import type { AnswerAsk } from '../state/overlays.ts';
import type { ListedAsk } from '../state/rows.ts';
import { getSelectedAsk } from '../state/selection.ts';
import { callEngine, type StateTransition, showMessage, transitionTo, withdraw } from './transition.ts';

/** How messages and the list of pending calls refer to an ask. */
const nameAsk = ({ id }: ListedAsk): string => `ask ${id}`;

export function checkCanOpenAsk(state: State): string | null {
  const ask = getSelectedAsk(state);
  if (ask === undefined) return 'nothing is selected';
  return state.busy.includes(nameAsk(ask)) ? `${nameAsk(ask)}: the answer is on its way` : null;
}

/** Opens an ask for answering. */
export function openAsk(state: State): StateTransition {
  const ask = getSelectedAsk(state)!;
  return transitionTo({
    ...state,
    message: null,
    overlay: { kind: 'answer', ask, input: EMPTY_INPUT, top: 0, openedAt: state.now },
  });
}

/** Sends an answer to the ask that was on the screen, even if the selection has moved since. */
export function sendAnswer(state: State, overlay: AnswerAsk, answer: string): StateTransition {
  const { ask } = overlay;
  if (state.link.phase === 'lost')
    return transitionTo(
      showMessage(
        state,
        'the engine is not running: the answer was not sent',
        'bad',
        'Esc, then u starts it',
      ),
    );
  return callEngine(
    { ...state, overlay: null },
    {
      operation: 'ask.answer',
      input: { id: ask.id, answer },
      busy: nameAsk(ask),
      form: overlay,
      doing: `answering ${nameAsk(ask)}`,
      describeAnswer: () => `${nameAsk(ask)} is answered: ${answer}`,
    },
  );
}

/** Closes the answer overlay when its ask was answered by someone else or has expired. */
export function closeStaleAnswer(state: State): State {
  const { overlay } = state;
  if (overlay?.kind !== 'answer') return state;
  const now = state.data.asks.get(String(overlay.ask.id));
  if (now !== undefined && isOpenAsk(now)) return state;
  const what = now === undefined ? 'it is gone' : describeOutcome(now);
  const text = `${nameAsk(overlay.ask)} is closed, nothing was sent: ${what}`;
  return withdraw(state, text);
}
