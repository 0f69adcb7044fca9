import { readIssue, type Task } from '../board/tasks/index.ts';
import type { Session } from '../workers/sessions/index.ts';

const LONGEST_SLUG = 40;

/** Turns a title into a part of a branch name: `fix-the-login`. */
function makeSlug(title: string): string {
  const words = title
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, LONGEST_SLUG)
    .replace(/^-+|-+$/g, '');
  return words === '' ? 'work' : words;
}

/**
 * Names the branch of a session at the code host by a pattern.
 * @param pattern `{issue}` is the number of the issue, or the task's id if it came from none; `{slug}` the title as part
 *   of a name; `{task}` and `{session}` are ids
 */
export const nameBranch = (
  pattern: string,
  { taskId, title, sourceRef }: Pick<Task, 'taskId' | 'title' | 'sourceRef'>,
  { sessionId }: Pick<Session, 'sessionId'>,
): string => {
  const values: Readonly<Record<string, string>> = {
    issue: readIssue(sourceRef)?.number ?? taskId,
    slug: makeSlug(title),
    task: taskId,
    session: sessionId,
  };
  return pattern.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
};
