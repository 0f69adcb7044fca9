import { formatCount } from '../../engine/index.ts';
import type { State } from '../state/model.ts';
import type { Overlay } from '../state/overlays.ts';
import { closeStaleAnswer } from './asks.ts';
import { type Question, showMessage, type Transition, transitionTo } from './transition.ts';

/** Keeps a form that the engine has not taken, until the person can go on with it. */
export const setFormAside = (state: State, form: Overlay): State => ({
  ...state,
  setAside: [...state.setAside, form],
});

/** Whether a form would come between the person and what they do, or could not be sent. */
export const isFormUnwelcome = ({ overlay, armed, link, across }: State): boolean =>
  overlay !== null || armed !== null || link.phase === 'lost' || across?.isActive === false;

/** Brings the oldest form back as soon as nothing else has the keyboard. Keys that were meant for something else wait. */
export function bringFormBack(before: State, state: State): State {
  const [form, ...setAside] = state.setAside;
  if (form === undefined || isFormUnwelcome(state)) return state;
  const overlay = 'openedAt' in form ? { ...form, openedAt: state.now } : form;
  const isLate = before.setAside.includes(form);
  const next = { ...state, overlay, setAside, withdrawnAt: isLate ? state.now : state.withdrawnAt };
  // A question that others have answered meanwhile takes no answer any more.
  return closeStaleAnswer(next).overlay === null ? { ...state, setAside } : next;
}

/** How many forms wait to come back, those of other workspaces too. */
const countSetAside = ({ setAside, across }: State): number => setAside.length + (across?.setAside ?? 0);

/** Asks before what was written and not sent is left behind. */
export function askToQuit(state: State): Question | null {
  const count = countSetAside(state);
  if (count === 0) return null;
  return {
    subject: { kind: 'program', id: 'quit' },
    text: `Quit and lose what you wrote in ${formatCount(count, 'form')} that could not be sent?`,
    answers: [{ key: 'y', label: 'quit', run: (now) => transitionTo(now, { do: 'quit' }) }],
  };
}

const hasWriting = (overlay: Overlay): boolean => {
  switch (overlay.kind) {
    case 'comment':
      return overlay.long !== null || overlay.input.value !== '';
    case 'write':
      return overlay.long !== null || overlay.text.value !== '';
    case 'answer':
    case 'reason':
      return overlay.input.value !== '';
    case 'new-task': {
      const { title, prompt, criteria, context, ledger } = overlay;
      return [title.value, prompt, criteria, context, ledger.value].some((text) => text !== '');
    }
    case 'prompt':
    case 'memory':
    case 'follow-up':
      return true;
    default:
      return false;
  }
};

/** Keeps what is left with Esc while the engine is away: it cannot be sent before that, and the key that starts the engine is no text. */
export function keepWhileAway(before: State, next: Transition): Transition {
  const { overlay, link } = before;
  const isLeft = overlay !== null && next.state.overlay === null && link.phase === 'lost';
  if (!isLeft || !hasWriting(overlay)) return next;
  const state = setFormAside(next.state, overlay);
  return {
    ...next,
    state: showMessage(state, 'what you wrote comes back with the engine', 'info', 'u starts it'),
  };
}
