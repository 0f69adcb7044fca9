import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { asSvcError, SvcError } from '../../../core/base/errors.ts';
import { appendPrivate } from '../../../core/base/private-files.ts';
import type { LocalPlacement } from '../../sessions/index.ts';
import { findTailOffset, readLog } from '../processes/index.ts';
import { type CreatedWorktree, SESSION_PREFIX, type WorktreeStart } from '../worktrees/index.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { findWorktreePort } from './find-worktree-port.ts';
import { logFile } from './folders.ts';
import type { PlacedRun, PlaceOrder } from './runner.ts';

type Deps = Pick<LocalRunnerDeps, 'worktrees' | 'paths'>;

/** See `Runner.place`. */
export async function placeRun(
  deps: Deps,
  order: PlaceOrder<LocalPlacement>,
): Promise<PlacedRun<LocalPlacement>> {
  const { sessionId, note } = order;
  const log = logFile(deps, sessionId);
  if (note !== null) appendNote(log, note);
  const outputFrom = findTailOffset(log, 0);
  return { placement: await findPlacement(deps, order), outputFrom };
}

/** The run works without the line too. A repeated call finds that of the first. */
function appendNote(log: string, note: string): void {
  try {
    const last = readLog(log, { from: findTailOffset(log, 1), maxBytes: 1024 }).text;
    if (last !== `${note}\n`) appendPrivate(log, `${note}\n`);
  } catch {
    // The log is a convenience.
  }
}

async function findPlacement(
  deps: Deps,
  { sessionId, origin, placement, former, takenPorts, isQuiet, signal }: PlaceOrder<LocalPlacement>,
): Promise<LocalPlacement> {
  const folder = placement?.cwd ?? former?.repository ?? former?.cwd ?? origin?.folder;
  if (folder === undefined) throw new SvcError('internal', `${sessionId} has nothing to start from`);
  await deps.worktrees.rememberPrograms(folder, { isQuiet }).catch(() => undefined);
  // It has paused, or its start was interrupted: everything is still there.
  if (placement !== null) return placement;
  if (former !== null) {
    if (former.worktree !== null) await deps.worktrees.verifyToplevel(former.worktree);
    return former;
  }
  const { repository, inside, base, baseCommit, inplace } = origin!;
  if (inplace || repository === null || baseCommit === null)
    return {
      runner: null,
      repository,
      worktree: null,
      cwd: folder,
      branch: null,
      base,
      baseCommit,
      port: null,
    };
  const start = { repository, inside, base, baseCommit };
  const branch = origin?.branch ?? `${SESSION_PREFIX}${sessionId}`;
  const made = await makeWorktree(deps, folder, branch, start, signal).catch((error: unknown) => {
    if (asSvcError(error).code !== 'exists') throw error;
    // The name is taken: another workspace in this repository, or one whose data folder was deleted, also has an s-1.
    return makeWorktree(deps, folder, `${branch}-${makeSuffix(deps)}`, start, signal);
  });
  return {
    runner: null,
    repository: made.repository,
    worktree: made.path,
    cwd: made.cwd,
    branch: made.branch,
    base: made.base,
    baseCommit: made.baseCommit,
    port: await findWorktreePort(made.path, takenPorts),
  };
}

/** The same for a repeated call, which so finds the worktree of the first; another if the data folder is created again. */
function makeSuffix({ paths }: Deps): string {
  const { ino, birthtimeMs } = statSync(paths.agents);
  return createHash('sha256').update(`${paths.agents} ${ino} ${birthtimeMs}`).digest('hex').slice(0, 4);
}

const makeWorktree = (
  { worktrees, paths }: Deps,
  folder: string,
  branch: string,
  start: WorktreeStart,
  signal: AbortSignal | undefined,
): Promise<CreatedWorktree> =>
  worktrees.create({
    repositoryPath: folder,
    projectPath: folder,
    worktreePath: join(paths.worktrees, branch.slice(SESSION_PREFIX.length)),
    branch,
    start,
    signal,
  });
