import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';

const isStrict = (profile: string | null): boolean => profile === 'strict';

/**
 * Reports whether a run under `profile` would not find the conversation of the session's previous run: a confined
 * agent has a separate home.
 */
export const changesHome = (session: Pick<Session, 'profile'>, profile: string): boolean =>
  session.profile !== null && isStrict(session.profile) !== isStrict(profile);

/** Finds the session whose conversation this one can resume: of the same agent, on the same machine, and in the same home. */
export function findFormerSession(
  { sessions }: Pick<DispatchDeps, 'sessions'>,
  session: Session,
): Session | null {
  if (session.continues === null || session.runs > 1) return null;
  const former = sessions.get(session.continues);
  const fits =
    former.agent === session.agent &&
    former.runner === session.runner &&
    isStrict(former.profile) === isStrict(session.profile);
  return fits ? former : null;
}
