import type { State } from '../state/model.ts';
import { type StateTransition, showMessage, transitionTo } from './transition.ts';

const listPendingConsents = ({ data }: State): readonly string[] => data.status?.consent_pending ?? [];

export const checkCanTrust = (state: State): string | null =>
  listPendingConsents(state).length === 0 ? 'nothing in svc.yaml waits for consent' : null;

/**
 * Runs `svc trust` on this terminal, which shows the whole difference and consents to exactly that. One key at a
 * time, but all of svc.yaml at once if no one ever agreed to it: with a single key in use, workers would start
 * without the guards of the other keys.
 */
export function runTrustCommand(state: State): StateTransition {
  const isFirst = state.data.status?.consent === 'none';
  const key = listPendingConsents(state)[0]!;
  const what = isFirst ? 'svc.yaml' : `${key} of svc.yaml`;
  return transitionTo(state, {
    do: 'command',
    words: isFirst ? ['trust'] : ['trust', '--key', key],
    onExit: (now, code) =>
      showMessage(
        now,
        code === 0 ? `${what} is in use` : `${what} still waits`,
        code === 0 ? 'good' : 'info',
      ),
  });
}
