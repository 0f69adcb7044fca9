import type { State } from '../state/model.ts';
import { type StateTransition, transitionTo } from './transition.ts';

/** The selected worker or, in Tasks, the latest run of the selected task. */
function findSelectedRun({ focus, data, lists }: State): string | null {
  if (focus !== 'tasks') return lists.workers.selected;
  return data.tasks.get(lists.tasks.selected ?? '')?.session_id ?? null;
}

export function checkCanShowImpact(state: State): string | null {
  const id = findSelectedRun(state);
  if (id === null) return state.focus === 'tasks' ? 'no worker has run it' : 'no worker is selected';
  const session = state.data.sessions.get(id);
  return session?.state === 'queued' ? `${id} has not started` : null;
}

/** Requests the impact of a session's work again: files change without an event. */
export function openImpact(state: State): StateTransition {
  const session = findSelectedRun(state)!;
  return transitionTo({
    ...state,
    details: state.details.filter(({ kind, id }) => kind !== 'impact' || id !== session),
    overlay: { kind: 'impact', session, top: 0 },
  });
}
