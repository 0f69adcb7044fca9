import type { State } from '../state/model.ts';
import { type Step, said, step } from './transition.ts';

const waiting = ({ data }: State): readonly string[] => data.status?.consent_pending ?? [];

export const mayTrust = (state: State): string | null =>
  waiting(state).length === 0 ? 'nothing of svc.yaml waits for a consent' : null;

/**
 * One key, on this terminal: the command shows all of the difference, asks, and agrees to exactly what it has shown. All
 * of them where nobody ever agreed: with one of them alone workers would start without the guards that the others ask for.
 */
export function trustKey(state: State): Step {
  const isFirst = state.data.status?.consent === 'none';
  const key = waiting(state)[0]!;
  const what = isFirst ? 'svc.yaml' : `${key} of svc.yaml`;
  return step(state, {
    do: 'command',
    words: isFirst ? ['trust'] : ['trust', '--key', key],
    after: (now, code) =>
      said(now, code === 0 ? `${what} is in use` : `${what} waits on`, code === 0 ? 'good' : 'info'),
  });
}
