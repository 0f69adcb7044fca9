import { lstatSync, renameSync } from 'node:fs';
import { makePrivateFolder } from '../base/private-files.ts';
import type { Session } from '../sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import { agentDir, sessionDir } from './folders.ts';

const isStrict = (profile: string | null): boolean => profile === 'strict';

/** Its next run will not find the conversation of the one before: that is in a home of its own, or in the person's. */
export const hasMoved = (session: Pick<Session, 'profile'>, profile: string): boolean =>
  session.profile !== null && isStrict(session.profile) !== isStrict(profile);

/** The session whose conversation it can take up: of the same agent, and kept in the same home. */
export function formerOf({ sessions }: Pick<DispatchDeps, 'sessions'>, session: Session): Session | null {
  if (session.continues === null || session.runs > 1) return null;
  const before = sessions.get(session.continues);
  const isSame = before.agent === session.agent && isStrict(before.profile) === isStrict(session.profile);
  return isSame ? before : null;
}

/**
 * The agent's own folder of the session that this one goes on with becomes this one's, as its worktree does. It is moved
 * as a whole: whatever a worker has put into it, nothing of it is read or followed.
 */
export function takeUpAgentFolder(deps: Pick<DispatchDeps, 'sessions' | 'paths'>, session: Session): void {
  const before = formerOf(deps, session);
  if (before === null) return;
  const from = agentDir(deps, before.sessionId);
  const to = agentDir(deps, session.sessionId);
  if (!lstatSync(from, { throwIfNoEntry: false })?.isDirectory()) return;
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return;
  makePrivateFolder(deps.paths.agents, sessionDir(deps, session.sessionId));
  renameSync(from, to);
}
