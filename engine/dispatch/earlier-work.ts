import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

type Sessions = Pick<DispatchDeps['sessions'], 'get'>;

/**
 * Reports whether an agent may have worked in a session's folder. Only a failed setup proves that none has: it comes
 * before the first agent.
 */
function mayHaveWorked(
  sessions: Sessions,
  { runs, startedAt, failure, continues }: Pick<Session, 'runs' | 'startedAt' | 'failure' | 'continues'>,
): boolean {
  if (runs > 1 || startedAt !== null || failure?.code !== 'setup_failed') return true;
  return continues !== null && mayHaveWorked(sessions, sessions.get(continues));
}

/** Reports whether an agent may have worked in the folder of the run that is being prepared. */
export const mayHoldEarlierWork = (
  sessions: Sessions,
  { runs, continues }: Pick<Session, 'runs' | 'continues'>,
): boolean => runs > 1 || (continues !== null && mayHaveWorked(sessions, sessions.get(continues)));
