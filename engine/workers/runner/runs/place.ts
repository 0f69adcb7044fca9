import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { asSvcError, SvcError } from '../../../core/base/errors.ts';
import { appendPrivate } from '../../../core/base/private-files.ts';
import type { SessionPlacement } from '../../sessions/index.ts';
import { findTailOffset } from '../processes/index.ts';
import { type CreatedWorktree, SESSION_PREFIX } from '../worktrees/index.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { findWorktreePort } from './find-worktree-port.ts';
import { logFile } from './folders.ts';
import type { PlacedRun, PlaceOrder } from './runner.ts';

type Deps = Pick<LocalRunnerDeps, 'worktrees' | 'agents' | 'paths'>;

/** See `Runner.place`. */
export async function placeRun(deps: Deps, order: PlaceOrder): Promise<PlacedRun> {
  const { sessionId, note } = order;
  const log = logFile(deps, sessionId);
  if (note !== null) appendNote(log, note);
  const outputFrom = findTailOffset(log, 0);
  return { placement: await findPlacement(deps, order), outputFrom };
}

/** See `Runner.findBase`. */
export async function findBaseCommit(
  { worktrees, agents }: Deps,
  { project, base }: Pick<PlaceOrder, 'project' | 'base'>,
): Promise<string> {
  const folder = agents.resolveFolder(project);
  const wanted = base === null ? {} : { base };
  return (await worktrees.findOrigin({ repositoryPath: folder, projectPath: folder, ...wanted })).baseCommit;
}

/** The run works without the line too. */
function appendNote(log: string, note: string): void {
  try {
    appendPrivate(log, `${note}\n`);
  } catch {
    // The log is a convenience.
  }
}

async function findPlacement(deps: Deps, order: PlaceOrder): Promise<SessionPlacement> {
  const { sessionId, project, inplace, base, baseCommit, placement, former, takenPorts, isQuiet } = order;
  const folder = placement?.cwd ?? deps.agents.resolveFolder(project);
  await deps.worktrees.rememberPrograms(folder, { isQuiet }).catch(() => undefined);
  // It has paused, or its start was interrupted: everything is still there.
  if (placement !== null) return placement;
  if (former !== null) {
    if (former.worktree !== null) await deps.worktrees.verifyToplevel(former.worktree);
    return former;
  }
  if (inplace) return placeInside(deps, folder);
  const made = await makeWorktree(deps, folder, `${SESSION_PREFIX}${sessionId}`, { base, baseCommit }).catch(
    (error: unknown) => {
      const { code, message } = asSvcError(error);
      // The name is taken: another workspace in this repository, or one whose data folder was deleted, also has an s-1.
      if (code === 'exists')
        return makeWorktree(deps, folder, `${SESSION_PREFIX}${sessionId}-${makeSuffix()}`, {
          base,
          baseCommit,
        });
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
    port: await findWorktreePort(made.path, takenPorts),
  };
}

const makeSuffix = (): string => randomBytes(2).toString('hex');

const makeWorktree = (
  { worktrees, paths }: Deps,
  folder: string,
  branch: string,
  { base, baseCommit }: Pick<PlaceOrder, 'base' | 'baseCommit'>,
): Promise<CreatedWorktree> =>
  worktrees.create({
    repositoryPath: folder,
    projectPath: folder,
    worktreePath: join(paths.worktrees, branch.slice(SESSION_PREFIX.length)),
    branch,
    ...(base === null ? {} : { base }),
    ...(baseCommit === null ? {} : { baseCommit }),
  });

/** A folder outside any repository is fine here: then there is nothing to count at the end. */
async function placeInside({ worktrees }: Deps, folder: string): Promise<SessionPlacement> {
  const repository = await worktrees.findRepository(folder).catch((error: unknown) => {
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
    port: null,
  };
}
