import type { State } from '../state/model.ts';
import { type Step, said, step } from './step.ts';

const waiting = ({ data }: State): readonly string[] => data.status?.consent_pending ?? [];

export const mayTrust = (state: State): string | null =>
  waiting(state).length === 0 ? 'nothing of svc.yaml waits for a consent' : null;

/** One key, on this terminal: the command shows all of the difference, asks, and agrees to exactly what it has shown. */
export function trustKey(state: State): Step {
  const key = waiting(state)[0]!;
  return step(state, {
    do: 'command',
    words: ['trust', '--key', key],
    after: (now, code) =>
      said(
        now,
        code === 0 ? `${key} of svc.yaml is in use` : `${key} of svc.yaml waits on`,
        code === 0 ? 'good' : 'info',
      ),
  });
}
