import type { State } from '../state/model.ts';
import { getSelectedSession } from '../state/selection.ts';
import { type StateTransition, transitionTo } from './transition.ts';

export function checkCanShowImpact(state: State): string | null {
  const session = getSelectedSession(state);
  if (session === undefined) return 'no worker is selected';
  return session.state === 'queued' ? `${session.session_id} has not started` : null;
}

/** Requests the impact of a session's work again: files change without an event. */
export function openImpact(state: State): StateTransition {
  const { session_id: session } = getSelectedSession(state)!;
  return transitionTo({
    ...state,
    details: state.details.filter(({ kind, id }) => kind !== 'impact' || id !== session),
    overlay: { kind: 'impact', session, top: 0 },
  });
}
