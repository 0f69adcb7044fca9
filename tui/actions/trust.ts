import type { State } from '../state/model.ts';
import { showMessage, type Transition, transitionTo } from './transition.ts';

const listPendingConsents = ({ data }: State): readonly string[] => data.status?.consent_pending ?? [];

export const checkCanTrust = (state: State): string | null =>
  listPendingConsents(state).length === 0 ? 'nothing of svc.yaml waits for a consent' : null;

/**
 * One key, on this terminal: the command shows all of the difference, asks, and agrees to exactly what it has shown. All
 * of them where nobody ever agreed: with one of them alone workers would start without the guards that the others ask for.
 */
export function runTrustCommand(state: State): Transition {
  const isFirst = state.data.status?.consent === 'none';
  const key = listPendingConsents(state)[0]!;
  const what = isFirst ? 'svc.yaml' : `${key} of svc.yaml`;
  return transitionTo(state, {
    do: 'command',
    words: isFirst ? ['trust'] : ['trust', '--key', key],
    onExit: (now, code) =>
      showMessage(now, code === 0 ? `${what} is in use` : `${what} waits on`, code === 0 ? 'good' : 'info'),
  });
}
