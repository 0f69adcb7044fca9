import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { asSvcError, SvcError } from '../../../core/base/errors.ts';
import type { Log } from '../../../core/base/log.ts';
import { makePrivateFolder } from '../../../core/base/private-files.ts';
import { settleWithin } from '../../../core/base/settle-within.ts';
import type { RunProcesses } from '../processes/index.ts';
import type { ProjectSetup, SessionOfSetup, WorktreeSetup } from '../setup/index.ts';
import type { Worktrees } from '../worktrees/index.ts';

/** A session and the repository that has its work. */
export interface CheckedSession {
  session: SessionOfSetup;
  /** The repository's top folder, or its mirror. */
  repository: string;
}

/** A commit of a session's work that is checked. */
export interface CheckedWork extends CheckedSession {
  commit: string;
  /** The project's folder in the repository, relative. */
  inside: string;
  /** Given to the commands of the setup; null for none. */
  port: number | null;
  /** Prepares the checkout; null to leave it as it is in the commit. */
  setup: ProjectSetup | null;
}

/** A checkout of exactly one commit: it holds nothing uncommitted except what the project's setup makes. */
export interface CleanCheckout {
  /** Its top folder, absolute. */
  folder: string;
  /** The project's folder in it. */
  cwd: string;
}

/** Options for running the setup of a checkout. */
export interface SetupRun {
  /** The mark of every process of the setup. */
  mark: string;
  /** Time limit of each command, ms. */
  timeoutMs: number;
  signal: AbortSignal;
}

/** Owns the checkouts in which a session's work is verified after its end. */
export interface CleanCheckouts {
  /**
   * Checks a commit out in the session's own folder and runs the project's setup as in the worktree. On failure
   * everything is removed again. Throws `git_failed`, `setup_failed`, `consent_missing`, `worktree_unsafe`,
   * `cancelled`.
   */
  makeCheckout(work: CheckedWork, run: SetupRun): Promise<CleanCheckout>;
  /** Removes all checkouts of a session, including those left by a killed process. Never throws. */
  removeCheckouts(checked: CheckedSession): Promise<void>;
}

export interface CleanCheckoutsDeps {
  worktrees: Pick<Worktrees, 'addDetachedCheckout' | 'removeDetachedCheckout'>;
  setup: Pick<WorktreeSetup, 'prepareWorktree' | 'forgetSetup'>;
  processes: Pick<RunProcesses, 'stop'>;
  /** Folder of the sessions' own folders. */
  agentsDir: string;
  log: Pick<Log, 'warn'>;
  graceMs: number;
}

const PREFIX = 'verify-';

export function createCleanCheckouts(deps: CleanCheckoutsDeps): CleanCheckouts {
  const { worktrees, agentsDir } = deps;

  /** The project's folder in the checkout; it may have no tracked file. */
  function makeProjectFolder(folder: string, inside: string): string {
    const cwd = join(folder, inside);
    mkdirSync(cwd, { recursive: true });
    const way = relative(realpathSync(folder), realpathSync(cwd));
    if (way === inside) return cwd;
    throw new SvcError('worktree_unsafe', `${inside} is a link in the commit`, {
      hint: "inspect it by hand: the project's folder has moved",
    });
  }

  async function prepareCheckout(
    { session, port, setup }: CheckedWork & { setup: ProjectSetup },
    { folder, cwd }: CleanCheckout,
    { mark, timeoutMs, signal }: SetupRun,
  ): Promise<void> {
    const placement = { worktree: folder, cwd, port };
    const logFile = join(agentsDir, session.sessionId, 'verify.log');
    rmSync(logFile, { force: true });
    await deps.setup.prepareWorktree(
      { session, setup, placement, runId: mark, isOfWorkers: async () => true, logFile },
      {
        mayContinue: () => !signal.aborted,
        async waitForEnd(running) {
          const exit = await settleWithin(timeoutMs, running.exited, signal);
          if (exit === null)
            await deps.processes.stop({ ...running, runId: mark }, { graceMs: deps.graceMs });
          return exit;
        },
      },
    );
  }

  async function removeCheckouts({ session: { sessionId }, repository }: CheckedSession): Promise<void> {
    const own = join(agentsDir, sessionId);
    if (!existsSync(own)) return;
    for (const name of readdirSync(own).filter((each) => each.startsWith(PREFIX)))
      try {
        await worktrees.removeDetachedCheckout({ repository, path: join(own, name) });
      } catch (error) {
        const { message } = asSvcError(error);
        deps.log.warn({ session: sessionId, name, error: message }, 'a checkout could not be removed');
      }
  }

  return {
    async makeCheckout(work, run) {
      const { session, repository, commit, inside, setup } = work;
      const own = join(agentsDir, session.sessionId);
      makePrivateFolder(agentsDir, own);
      const folder = join(own, `${PREFIX}${randomUUID().slice(0, 8)}`);
      try {
        await worktrees.addDetachedCheckout({ repository, path: folder, commit });
        const checkout = { folder, cwd: makeProjectFolder(folder, inside) };
        if (setup !== null) await prepareCheckout({ ...work, setup }, checkout, run);
        return checkout;
      } catch (error) {
        await removeCheckouts(work);
        throw error;
      } finally {
        deps.setup.forgetSetup(session.sessionId, run.mark);
      }
    },
    removeCheckouts,
  };
}
