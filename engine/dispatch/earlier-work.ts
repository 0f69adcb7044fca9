import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

type Sessions = Pick<DispatchDeps['sessions'], 'get'>;

/** Whether an agent may have worked in a session's folder. Only a failure of the setup says that none has: it comes before the first. */
function mayHaveWorked(
  sessions: Sessions,
  { runs, startedAt, failure, continues }: Pick<Session, 'runs' | 'startedAt' | 'failure' | 'continues'>,
): boolean {
  if (runs > 1 || startedAt !== null || failure?.code !== 'setup_failed') return true;
  return continues !== null && mayHaveWorked(sessions, sessions.get(continues));
}

/** Whether an agent may have worked in the folder of the run that is about to be made ready. */
export const mayHoldEarlierWork = (
  sessions: Sessions,
  { runs, continues }: Pick<Session, 'runs' | 'continues'>,
): boolean => runs > 1 || (continues !== null && mayHaveWorked(sessions, sessions.get(continues)));
