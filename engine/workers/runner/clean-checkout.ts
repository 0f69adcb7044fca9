import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import { makePrivateFolder } from '../../core/base/private-files.ts';
import { settleWithin } from '../../core/base/settle-within.ts';
import type { Session } from '../sessions/index.ts';
import type { RunProcesses } from './processes/index.ts';
import type { WorktreeSetup } from './setup/index.ts';
import type { Worktrees } from './worktrees/index.ts';

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
   * Checks a commit out next to the session's worktree and runs the project's setup as in the worktree. On failure
   * everything is removed again. Throws `git_failed`, `setup_failed`, `consent_missing`, `worktree_unsafe`,
   * `cancelled`.
   */
  makeCheckout(session: Session, commit: string, run: SetupRun): Promise<CleanCheckout>;
  /** Removes all checkouts of a session, including those left by a killed engine. Never throws. */
  removeCheckouts(session: Session): Promise<void>;
}

const PREFIX = 'verify-';

export function createCleanCheckouts(deps: {
  worktrees: Pick<Worktrees, 'addDetachedCheckout' | 'removeDetachedCheckout'>;
  setup: Pick<WorktreeSetup, 'readProjectSetup' | 'prepareWorktree' | 'forgetSetup'>;
  processes: Pick<RunProcesses, 'stop'>;
  /** Folder of the sessions' own folders. */
  agentsDir: string;
  /** Absolute folder of a project. */
  projectFolder(project: string | null): string;
  log: Pick<Log, 'warn'>;
  graceMs: number;
}): CleanCheckouts {
  const { worktrees, agentsDir } = deps;

  /** The project's folder in the checkout; it may have no tracked file. */
  function makeProjectFolder(folder: string, { repository, project }: Session): string {
    const inside = relative(realpathSync(repository ?? ''), realpathSync(deps.projectFolder(project)));
    const cwd = join(folder, inside);
    mkdirSync(cwd, { recursive: true });
    const way = relative(realpathSync(folder), realpathSync(cwd));
    if (way === inside) return cwd;
    throw new SvcError('worktree_unsafe', `${inside} is a link in the commit`, {
      hint: "inspect it by hand: the project's folder has moved",
    });
  }

  async function prepareCheckout(
    session: Session,
    { folder, cwd }: CleanCheckout,
    { mark, timeoutMs, signal }: SetupRun,
  ): Promise<void> {
    const placement = { ...session, runner: null, worktree: folder, cwd };
    const setup = deps.setup.readProjectSetup(session.project);
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

  async function removeCheckouts(session: Session): Promise<void> {
    const own = join(agentsDir, session.sessionId);
    const { repository } = session;
    if (repository === null || !existsSync(own)) return;
    for (const name of readdirSync(own).filter((each) => each.startsWith(PREFIX)))
      try {
        await worktrees.removeDetachedCheckout({ repository, path: join(own, name) });
      } catch (error) {
        const { message } = asSvcError(error);
        deps.log.warn(
          { session: session.sessionId, name, error: message },
          'a checkout could not be removed',
        );
      }
  }

  return {
    async makeCheckout(session, commit, run) {
      const own = join(agentsDir, session.sessionId);
      makePrivateFolder(agentsDir, own);
      const folder = join(own, `${PREFIX}${randomUUID().slice(0, 8)}`);
      try {
        await worktrees.addDetachedCheckout({ repository: session.repository ?? '', path: folder, commit });
        const checkout = { folder, cwd: makeProjectFolder(folder, session) };
        await prepareCheckout(session, checkout, run);
        return checkout;
      } catch (error) {
        await removeCheckouts(session);
        throw error;
      } finally {
        deps.setup.forgetSetup(session.sessionId, run.mark);
      }
    },
    removeCheckouts,
  };
}
