import { existsSync, lstatSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder } from '../../../core/base/private-files.ts';
import type { LocalPlacement } from '../../sessions/index.ts';
import { findTailOffset } from '../processes/index.ts';
import type { CommandSupervision } from '../setup/index.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { agentFolder, logFile, runFolder, sessionFolder } from './folders.ts';
import type { PreparedRun, PrepareOrder } from './runner.ts';
import { shimFile, writeShim } from './shim.ts';

/** See `Runner.prepare`. The output of the setup comes before the agent's in the log. */
export async function prepareRun(
  deps: Pick<LocalRunnerDeps, 'paths' | 'setup' | 'worktrees' | 'svc'>,
  {
    run,
    taskId,
    project,
    setup,
    profile,
    placement,
    mayHoldWork,
    agentFolderOf,
  }: PrepareOrder<LocalPlacement>,
  follow: CommandSupervision,
): Promise<PreparedRun> {
  const { sessionId, runId } = run;
  const folder = runFolder(deps, run);
  // A repeated call that comes late, while the agent works.
  if (existsSync(join(folder, 'started')))
    return { svc: deps.svc === null ? null : shimFile(folder), outputFrom: null };
  if (agentFolderOf !== null) moveAgentFolder(deps, agentFolderOf, sessionId);
  const { repository, baseCommit } = placement;
  const hasRun = await deps.setup.prepareWorktree(
    {
      session: { sessionId, taskId, project, profile },
      setup,
      placement,
      runId,
      // A worktree of an unmerged branch holds the work of its author.
      isOfWorkers: async () =>
        mayHoldWork ||
        repository === null ||
        baseCommit === null ||
        !(await deps.worktrees.isTakenIn(repository, baseCommit)),
    },
    follow,
  );
  const outputFrom = hasRun ? findTailOffset(logFile(deps, sessionId), 0) : null;
  makePrivateFolder(deps.paths.agents, folder);
  return { svc: writeShim(deps.svc, folder), outputFrom };
}

/** Moves the agent's own folder from one session to another. It is moved as a whole: nothing in it is read or followed. */
function moveAgentFolder(deps: Pick<LocalRunnerDeps, 'paths'>, former: string, sessionId: string): void {
  const from = agentFolder(deps, former);
  const to = agentFolder(deps, sessionId);
  if (!lstatSync(from, { throwIfNoEntry: false })?.isDirectory()) return;
  if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) return;
  makePrivateFolder(deps.paths.agents, sessionFolder(deps, sessionId));
  renameSync(from, to);
}
