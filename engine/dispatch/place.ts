import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { asSvcError, SvcError } from '../base/errors.ts';
import { sentence } from '../base/sentence.ts';
import type { CreatedWorktree } from '../runner/worktrees/index.ts';
import type { Placement, Session } from '../sessions/index.ts';
import type { DispatchDeps } from './context.ts';

/** Where the worker works: a worktree of its own, or the project's folder itself. */
export async function place(deps: DispatchDeps, session: Session): Promise<Placement> {
  const others = deps.sessions.listLive();
  const isQuiet = others.every(
    ({ sessionId, state }) => sessionId === session.sessionId || state === 'queued',
  );
  const known = session.cwd ?? deps.agents.resolveFolder(session.project);
  await deps.worktrees.rememberPrograms(known, { isQuiet }).catch(() => undefined);
  if (session.cwd !== null) return placedAlready(session);
  if (session.continues !== null) return takeOver(deps, session.continues);
  const folder = deps.agents.resolveFolder(session.project);
  if (session.inplace) return placeInside(deps, folder);
  const made = await makeWorktree(deps, session, folder, `svc/${session.sessionId}`).catch(
    (error: unknown) => {
      const { code, message } = asSvcError(error);
      // The name is taken: another workspace in this repository, or one whose data folder was deleted, has an s-1 too.
      if (code === 'exists')
        return makeWorktree(deps, session, folder, `svc/${session.sessionId}-${randomHex()}`);
      if (code !== 'not_a_repository') throw error;
      throw new SvcError(code, message, {
        cause: error,
        hint: 'run git init and commit, or dispatch with --inplace to work in the folder itself',
      });
    },
  );
  return {
    repository: made.repository,
    worktree: made.path,
    cwd: made.cwd,
    branch: made.branch,
    base: made.base,
    baseCommit: made.baseCommit,
  };
}

const randomHex = (): string => randomBytes(2).toString('hex');

function makeWorktree(
  deps: DispatchDeps,
  session: Session,
  folder: string,
  branch: string,
): Promise<CreatedWorktree> {
  return deps.worktrees.create({
    repositoryPath: folder,
    projectPath: folder,
    worktreePath: join(deps.paths.worktrees, branch.slice('svc/'.length)),
    branch,
    ...(session.baseWanted === null ? {} : { base: session.baseWanted }),
  });
}

/** A folder outside any repository is fine here: then there is nothing to count at the end. */
async function placeInside(deps: DispatchDeps, folder: string): Promise<Placement> {
  const repository = await deps.worktrees.findRepository(folder).catch((error: unknown) => {
    if (asSvcError(error).code === 'worktree_unsafe') throw error;
    return null;
  });
  return {
    repository: repository?.root ?? null,
    worktree: null,
    cwd: folder,
    branch: null,
    base: repository?.head ?? null,
    baseCommit: repository?.headCommit ?? null,
  };
}

/** It has paused, or its start was broken off: everything is still there. */
const placedAlready = (session: Session): Placement => {
  const { repository, worktree, cwd, branch, base, baseCommit } = session;
  return { repository, worktree, cwd: cwd ?? '', branch, base, baseCommit };
};

/** The worktree of the session that it goes on with; that one's no longer. */
async function takeOver(deps: DispatchDeps, former: string): Promise<Placement> {
  const before = deps.sessions.get(former);
  if (before.worktree === null && !before.inplace)
    throw new SvcError('conflict', `the worktree of ${former} is no longer there`, {
      hint: sentence`dispatch the task anew: {task.run}`,
    });
  if (before.worktree !== null) await deps.worktrees.verifyToplevel(before.worktree);
  return placedAlready(before);
}
