import { formatCount } from '../../engine/core/base/text.ts';
import type { State } from '../state/model.ts';
import type { OverlayState } from '../state/overlays.ts';
import { closeStaleAnswer } from './asks.ts';
import { type ScreenQuestion, type StateTransition, showMessage, transitionTo } from './transition.ts';

/** Keeps a form that the engine has refused, until the person can continue it. */
export const setFormAside = (state: State, form: OverlayState): State => ({
  ...state,
  setAside: [...state.setAside, form],
});

/** Reports whether a form would interrupt the person, or could not be sent. */
export const isFormUnwelcome = ({ overlay, armed, link, across }: State): boolean =>
  overlay !== null || armed !== null || link.phase === 'lost' || across?.isActive === false;

/** Brings the oldest form back as soon as nothing else has the keyboard. Keys for something else must not reach it. */
export function bringFormBack(before: State, state: State): State {
  const [form, ...setAside] = state.setAside;
  if (form === undefined || isFormUnwelcome(state)) return state;
  const overlay = 'openedAt' in form ? { ...form, openedAt: state.now } : form;
  const isLate = before.setAside.includes(form);
  const next = { ...state, overlay, setAside, withdrawnAt: isLate ? state.now : state.withdrawnAt };
  // A question that others have answered in the meantime takes no answer.
  return closeStaleAnswer(next).overlay === null ? { ...state, setAside } : next;
}

/** Counts the forms that wait to come back or were closed with text, including those of other workspaces. */
const countSetAside = ({ setAside, across, draft }: State): number =>
  setAside.length + (across?.setAside ?? 0) + (draft === null ? 0 : 1);

/** Asks before unsent text is lost. */
export function askToQuit(state: State): ScreenQuestion | null {
  const count = countSetAside(state);
  if (count === 0) return null;
  return {
    subject: { kind: 'program', id: 'quit' },
    text: `Quit and lose what you wrote in ${formatCount(count, 'form')} that ${count === 1 ? 'was' : 'were'} not sent?`,
    answers: [{ key: 'y', label: 'quit', run: (now) => transitionTo(now, { do: 'quit' }) }],
  };
}

const hasWriting = (overlay: OverlayState): boolean => {
  switch (overlay.kind) {
    case 'comment':
      return overlay.long !== null || overlay.input.value !== '';
    case 'write':
      return overlay.long !== null || overlay.text.value !== '';
    case 'answer':
    case 'reason':
      return overlay.input.value !== '';
    case 'prompt':
    case 'memory':
    case 'follow-up':
      return true;
    default:
      return false;
  }
};

/**
 * Keeps a form left with Esc while the engine is not running: it cannot be sent before, and the key that starts the
 * engine must not become text.
 */
export function keepWhileAway(before: State, next: StateTransition): StateTransition {
  const { overlay, link } = before;
  const isLeft = overlay !== null && next.state.overlay === null && link.phase === 'lost';
  if (!isLeft || !hasWriting(overlay)) return next;
  const state = setFormAside(next.state, overlay);
  return {
    ...next,
    state: showMessage(state, 'what you wrote comes back with the engine', 'info', 'u starts it'),
  };
}
