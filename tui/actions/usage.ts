import { getSelectedRow } from '../panes/index.ts';
import { USAGE_KINDS, type UsageLine } from '../panes/usage.ts';
import type { State } from '../state/model.ts';
import { replaceList } from './navigation.ts';
import { type StateTransition, transitionTo } from './transition.ts';

/** Filters the list to sessions, then models, providers, tasks, and shows all again. */
export function showNextUsageKind(state: State): StateTransition {
  const list = state.lists.usage;
  const filters = ['', ...USAGE_KINDS.map((kind) => `by:${kind}`)];
  const next = filters[(filters.indexOf(list.filter) + 1) % filters.length] ?? '';
  return transitionTo(replaceList(state, 'usage', { ...list, filter: next }));
}

/** Returns the worker of the selected row; null for other rows. */
export function findUsingWorker(state: State): string | null {
  const line = getSelectedRow(state, 'usage') as UsageLine | undefined;
  const id = line?.by === 'session' ? line.usage.key : null;
  return id !== null && state.data.sessions.has(id) ? id : null;
}
