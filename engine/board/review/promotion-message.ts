import { makeSubject } from '../../core/base/text.ts';
import type { Session } from '../../workers/sessions/index.ts';
import { readIssue } from '../tasks/index.ts';
import type { WorktreeActionsDeps } from './deps.ts';

/** Finds the session that began the work on a branch, since its last promotion. */
function findBeginning(sessions: Pick<WorktreeActionsDeps['sessions'], 'get'>, session: Session): Session {
  if (session.continues === null) return session;
  const before = sessions.get(session.continues);
  return before.promotedAt === null ? findBeginning(sessions, before) : session;
}

/** Writes the message of a merge commit. */
export const writeMergeMessage = ({
  branch,
  title,
  taskId,
}: Pick<Session, 'branch' | 'title' | 'taskId'>): string => `Merge ${branch}: ${title} (${taskId})`;

/** Names the work of a session after the task that began it, for the commit that is made of it. */
export function describePromotedWork(
  { sessions, getTask }: Pick<WorktreeActionsDeps, 'sessions' | 'getTask'>,
  session: Session,
): { title: string; trailers: string[] } {
  const { title, source, sourceRef } = getTask(findBeginning(sessions, session).taskId);
  const issue = source === 'codehost' ? readIssue(sourceRef) : null;
  return {
    title: makeSubject(title),
    trailers: issue === null ? [] : [`Refs ${issue.path}#${issue.number}`],
  };
}
