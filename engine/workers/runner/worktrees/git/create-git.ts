import { join } from 'node:path';
import { SvcError } from '../../../../core/base/errors.ts';
import { createCommitReader } from './commit-reader.ts';
import type { Git } from './git.ts';
import { readCommonDirAround } from './git-folders.ts';
import { createGitPrograms, type GitPrograms, isRemembered } from './git-programs.ts';
import { signFile } from './kept-records.ts';
import { createRepositoryPins, type RepositoryPins } from './pins.ts';
import { readPlainCheckout } from './plain-checkout.ts';
import { createSettingsReader } from './read-settings.ts';
import { createGitRunner } from './run-git.ts';

/** The git settings of a workspace: plain data, so that a thread can receive it. */
export interface GitAccess {
  /** Best an allow-listed environment (R10); see `WorktreesDeps`. */
  env: Readonly<NodeJS.ProcessEnv>;
  /** The record of which programs and repositories are the person's; null for in memory. */
  agentsDir: string | null;
}

const PROGRAMS = '.git-programs.json';
const REPOSITORIES = '.repositories.json';

/** The files with records about repositories, by path. */
export const RECORDS = [PROGRAMS, REPOSITORIES] as const;

export interface GuardedGit {
  git: Git;
  programs: GitPrograms;
  pins: RepositoryPins;
  /** Ends all git processes: those that wait for questions, and calls that still run. */
  close(): void;
}

/**
 * Opens git for a workspace. A call runs only programs that were configured while no worker was running, and is
 * refused if a folder belongs to another repository than at its first use. Nothing else calls git for the engine.
 * @param patienceMs how long a call may take before we look for a pipe that blocks it
 */
export function createGit(
  { env, agentsDir }: GitAccess,
  { patienceMs }: { patienceMs?: number } = {},
): GuardedGit {
  const patience = patienceMs === undefined ? {} : { patienceMs };
  const keepIn = (name: string): string | null => (agentsDir === null ? null : join(agentsDir, name));
  const pins = createRepositoryPins(keepIn(REPOSITORIES));
  function checkNotMoved(cwd: string): void {
    if (pins.isMoved(cwd))
      throw new SvcError('worktree_unsafe', `${cwd} is in a different repository than at its first use`, {
        data: { cwd },
      });
  }
  // Listing settings runs none of the programs that they name.
  const { runner: lister, close: closeLister } = createGitRunner(env, {
    ...patience,
    findOverrides: async () => ({ settings: [], mayFetch: false }),
  });
  const readSettings = createSettingsReader(
    (cwd, args, named) => lister.text(cwd, args, { discover: true, env: named }),
    lister.env,
    isRemembered,
  );
  const programs = createGitPrograms(keepIn(PROGRAMS), async (cwd) => (await readSettings(cwd)).settings);
  const { runner, close: closeRunner } = createGitRunner(env, {
    ...patience,
    async findOverrides(cwd, { discover = false }) {
      if (discover) checkNotMoved(cwd);
      return programs.findOverrides(cwd);
    },
  });
  const commits = createCommitReader((commonDir) => runner.open(commonDir, ['cat-file', '--batch']));
  const git: Git = {
    ...runner,
    readIdentity: async (cwd) => (await readSettings(cwd)).identity,
    async signSettings(cwd) {
      const { settings, signature } = await readSettings(cwd);
      const common = readCommonDirAround(cwd);
      // The name of that file may be anything that git expands.
      if (common === null || settings['core.attributesfile'] !== undefined) return null;
      const home = runner.env.XDG_CONFIG_HOME || join(runner.env.HOME || '/', '.config');
      const attributes = [
        join(common, 'info', 'attributes'),
        join(home, 'git', 'attributes'),
        '/etc/gitattributes',
      ];
      return [signature, ...attributes.map(signFile)].join(' ');
    },
    readCheckout(cwd, { discover = false } = {}) {
      if (discover) checkNotMoved(cwd);
      return readPlainCheckout(cwd, { env: runner.env, discover });
    },
    readCommit: commits.readCommit,
  };
  return {
    git,
    programs,
    pins,
    close() {
      commits.close();
      closeLister();
      closeRunner();
    },
  };
}
