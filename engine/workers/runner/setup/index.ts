import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Session } from '../../sessions/index.ts';
import type { CommandSupervision } from './commands.ts';
import { type PreparedSetup, type SetupDeps, setupFolder, type TornDown } from './deps.ts';
import { prepareWorktree } from './prepare-worktree.ts';
import {
  checkProjectFolder,
  digestProjectSetup,
  type ProjectSetup,
  readProjectSetup,
  requireConsentedSetup,
} from './projects.ts';
import { listAbandonedRuns } from './run-commands.ts';
import { runTeardown } from './tear-down.ts';

export type { CommandSupervision } from './commands.ts';
export type { SessionOfSetup, TornDown } from './deps.ts';
export type { ProjectScope, ProjectSetup } from './projects.ts';
export { createRunCommands } from './run-commands.ts';
export { describeTeardownFailure } from './tear-down.ts';

/** Prepares worktrees for work, and undoes that before they are removed. In place it does nothing. */
export interface WorktreeSetup {
  /** Reads what a project's sessions would be set up with. Throws `unknown_project`. */
  readProjectSetup(project: string | null): ProjectSetup;
  /** A digest of a project's setup; looks at no consent. Throws `unknown_project`. */
  digestProjectSetup(project: string | null): string;
  /** Throws `consent_missing` if a session of the project needs a missing consent. */
  checkConsent(session: Pick<Session, 'project' | 'inplace' | 'worktree' | 'continues'>): void;
  /**
   * Copies the environment files and runs the setup commands, once per worktree: a prepared one is left alone. False
   * if nothing had to be done. A repeated call of a run, also after its host was killed, has the same result and runs no
   * command again. Throws `consent_missing`, `setup_failed`.
   */
  prepareWorktree(run: PreparedSetup, follow: CommandSupervision): Promise<boolean>;
  /** Runs the teardown commands in a session's worktree. Never throws; returns the problems. */
  tearDownWorktree(wanted: TornDown): Promise<string[]>;
  /** Forgets the setup of a run: no call repeats it any more. */
  forgetSetup(sessionId: string, runId: string): void;
  /** Kills the remaining processes of a run's setup that was interrupted with its host. */
  endAbandonedSetup(sessionId: string, runId: string): Promise<void>;
  /** Kills the remaining processes of an earlier host's teardowns and run commands. */
  endAbandonedCommands(): Promise<void>;
  /** Stops running teardowns. */
  close(): Promise<void>;
}

export function createSetup(deps: SetupDeps): WorktreeSetup {
  const { processes, agentsDir } = deps;
  const closing = new AbortController();
  /** By worktree. */
  const tearing = new Map<string, Promise<string[]>>();
  const teardowns = join(agentsDir, '.teardown');

  async function endLeftoverProcesses(folder: string, runId: string): Promise<void> {
    // A command that is still starting does not start without its folder.
    rmSync(folder, { recursive: true, force: true });
    const { survivors } = await processes.sweep(runId);
    if (survivors.length > 0) deps.log.warn({ survivors }, 'processes of a command could not be ended');
  }

  return {
    readProjectSetup: (project) => readProjectSetup(deps.where(), project),

    digestProjectSetup: (project) => digestProjectSetup(deps.where(), project),

    checkConsent({ project, inplace, worktree, continues }) {
      // A session that continues in a worktree finds it prepared, or is refused.
      if (!inplace && worktree === null && continues === null) requireConsentedSetup(deps.where(), project);
      else checkProjectFolder(deps.where(), project);
    },

    prepareWorktree: (run, follow) => prepareWorktree(deps, run, follow),

    tearDownWorktree(wanted) {
      const { worktree } = wanted.placement;
      if (worktree === null || !existsSync(worktree)) return Promise.resolve([]);
      // A second caller waits for the first instead of running it again.
      const under = tearing.get(worktree);
      if (under !== undefined) return under;
      const work = deps
        .endCommands(worktree)
        .then(() => runTeardown(deps, wanted, { worktree, teardowns, signal: closing.signal }))
        .finally(() => tearing.delete(worktree));
      tearing.set(worktree, work);
      return work;
    },

    forgetSetup: (sessionId, runId) =>
      rmSync(setupFolder(agentsDir, sessionId, runId), { recursive: true, force: true }),

    endAbandonedSetup: (sessionId, runId) =>
      endLeftoverProcesses(setupFolder(agentsDir, sessionId, runId), runId),

    async endAbandonedCommands() {
      const names = existsSync(teardowns) ? readdirSync(teardowns) : [];
      const left = names.map((runId) => ({ folder: join(teardowns, runId), runId }));
      for (const { folder, runId } of [...left, ...listAbandonedRuns(agentsDir)])
        await endLeftoverProcesses(folder, runId);
    },

    async close() {
      closing.abort();
      await Promise.allSettled(tearing.values());
    },
  };
}
