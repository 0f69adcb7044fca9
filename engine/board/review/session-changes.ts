import { existsSync } from 'node:fs';
import type { LineRange, Worktrees } from '../../workers/runner/worktrees/index.ts';
import { findLocalPath, type Sessions } from '../../workers/sessions/index.ts';

/** A session's changes since its start, committed or not. */
export interface SessionChanges {
  /** Relative to the folder that it works in. Lines refer to its current files; null for whole files. */
  files: { path: string; lines: readonly LineRange[] | null }[];
  /** Deleted files. */
  removed: string[];
  /** Why lines are unknown, a clause; null if they are known. */
  doubt: string | null;
}

/** Reports the changes of sessions; null for sessions that are not workers in a repository. */
export type ReadSessionChanges = (sessionId: string) => Promise<SessionChanges | null>;

export function createSessionChanges({
  sessions,
  worktrees,
  resolveFolder,
}: {
  sessions: Pick<Sessions, 'isKnown' | 'get'>;
  worktrees: Pick<Worktrees, 'diffBranch' | 'readChangedLines'>;
  /** Absolute folder of a project; null for the workspace's own. */
  resolveFolder(project: string | null): string;
}): ReadSessionChanges {
  return async (sessionId) => {
    if (!sessions.isKnown(sessionId)) return null;
    const { repository, baseCommit, branch, base, headCommit, cwd, worktree, runner, state, project } =
      sessions.get(sessionId);
    if (repository === null || baseCommit === null || cwd === null) return null;
    const here = findLocalPath(cwd);
    const isThere = here !== null && existsSync(here) && (worktree !== null || state !== 'ended');
    const tip = headCommit === null || isThere ? { branch } : { head: headCommit };
    const { from, head } =
      'branch' in tip && tip.branch === null
        ? { from: baseCommit, head: headCommit }
        : await worktrees.diffBranch({
            repository,
            baseCommit,
            ...(branch === null || base === null ? {} : { into: base }),
            ...(tip as { branch: string } | { head: string }),
          });
    const folder = isThere ? here : resolveFolder(project);
    const changed = await worktrees.readChangedLines(folder, { from, to: isThere ? null : head });
    if (changed === null) return null;
    return {
      files: [...changed.files].map(([path, lines]) => ({ path, lines: isThere ? lines : null })),
      removed: changed.removed,
      doubt: isThere
        ? null
        : `the worktree of ${sessionId} is ${runner === null ? 'gone' : 'on another machine'}: its files are compared in full, as they are in the project now`,
    };
  };
}
