import { cursorError } from '../../core/api/cursor.ts';
import { compareText } from '../../core/base/text.ts';
import { compareNewestFirst } from '../../workers/runner/worktrees/index.ts';

/** The sort key of a worktree. */
interface Listed {
  branch: string;
  /** The folder of its repository. */
  repository: string;
}

/** Sorts newest first; the same branch of several repositories by their folders. */
export const compareListed = (one: Listed, other: Listed): number =>
  compareNewestFirst(one, other) || compareText(one.repository, other.repository);

/** Returns the rows after a cursor, which is a branch, or a branch and its repository. Throws `usage`. */
export function createCursorFilter(cursor: string | undefined): (worktree: Listed) => boolean {
  if (cursor === undefined) return () => true;
  const [, branch, repository] = /^(svc\/[^:]+)(?::(.+))?$/s.exec(cursor) ?? [];
  if (branch === undefined) throw cursorError(cursor);
  return (worktree) =>
    repository === undefined
      ? compareNewestFirst(worktree, { branch }) > 0
      : compareListed(worktree, { branch, repository }) > 0;
}
