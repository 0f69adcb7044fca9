import type { Session } from '../sessions/index.ts';
import type { DispatchDeps } from './context.ts';

type Deps = Pick<DispatchDeps, 'sessions' | 'worktrees'>;

/** An agent may have run in it. Only a failure of the setup says that none has: it comes before the first. */
function mayHaveWorked(
  sessions: Deps['sessions'],
  { runs, startedAt, failure, continues }: Pick<Session, 'runs' | 'startedAt' | 'failure' | 'continues'>,
): boolean {
  if (runs > 1 || startedAt !== null || failure?.code !== 'setup_failed') return true;
  return continues !== null && mayHaveWorked(sessions, sessions.get(continues));
}

/**
 * Whether a worktree that is about to be made ready holds what a worker may have written: one was in it, or it was made
 * from a session's branch that nobody has taken in.
 */
export async function isOfWorkers(deps: Deps, session: Session): Promise<boolean> {
  const { runs, continues, repository, baseCommit } = session;
  if (runs > 1 || (continues !== null && mayHaveWorked(deps.sessions, deps.sessions.get(continues))))
    return true;
  if (repository === null || baseCommit === null) return true;
  return !(await deps.worktrees.isTakenIn(repository, baseCommit));
}
