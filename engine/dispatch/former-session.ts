import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

const isStrict = (profile: string | null): boolean => profile === 'strict';

/**
 * Whether a run under `profile` does not find the conversation of the session's run before: a confined agent has a home of
 * its own.
 */
export const changesHome = (session: Pick<Session, 'profile'>, profile: string): boolean =>
  session.profile !== null && isStrict(session.profile) !== isStrict(profile);

/** Finds the session whose conversation this one can resume: of the same agent, and kept in the same home. */
export function findFormerSession(
  { sessions }: Pick<DispatchDeps, 'sessions'>,
  session: Session,
): Session | null {
  if (session.continues === null || session.runs > 1) return null;
  const former = sessions.get(session.continues);
  const fits = former.agent === session.agent && isStrict(former.profile) === isStrict(session.profile);
  return fits ? former : null;
}
