import { asSvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { nameSavedWork } from '../core/base/saved-work.ts';
import type { ProjectSetup } from '../workers/runner/setup/index.ts';
import type { Transfers } from '../workers/runner/worktrees/transfer/index.ts';
import type { LostRun } from '../workers/sessions/index.ts';
import { fetchAside, type RemoteBranch } from './fetch-work.ts';
import type { MachineConnection } from './machine-connection.ts';
import { nameSnapshot, type WirePlacement } from './messages.ts';
import { stripSetup } from './strip-setup.ts';
import { writeWirePlacement } from './wire-placement.ts';

/** How long the agent of a lost run may take to end by itself, ms. */
const GRACE_MS = 5000;

/** The session of a lost run, as it is now. */
export interface LostSession {
  taskId: string;
  project: string | null;
  /** Null for a project that is no longer configured: its worktree is left there. */
  setup: ProjectSetup | null;
  /** True if its worktree on that machine is still its own, since it continues nowhere else. */
  hasWorktree: boolean;
}

export interface LostRunDeps {
  log: Log;
  /** Lists the runs of a machine that were given up, and that it was not cleaned of. */
  listUnsettled(runner: string): LostRun[];
  findLostSession(run: LostRun): LostSession;
  /** Records that a machine was cleaned of a run. @param ref holds what that run has done; null for nothing new */
  recordSettled(run: LostRun, ref: string | null): Promise<void>;
}

/**
 * Cleans a machine of the runs that were given up while it was away: whatever of them is alive is ended, their commits
 * are kept under a ref, and their folders are removed if their sessions continue elsewhere.
 */
export function createLostRunSettling(
  connection: Pick<MachineConnection, 'record' | 'call' | 'openStream' | 'readState'>,
  transfers: Transfers,
  deps: LostRunDeps,
): { settle(): void } {
  let isSettling = false;
  let isWanted = false;

  /** Ends a run there, commits what it has left, and keeps that under a ref here. Returns the ref; null for nothing new. */
  async function keepWork(run: LostRun, there: WirePlacement, folder: string): Promise<string | null> {
    const { sessionId, number, profile } = run;
    const message = nameSavedWork(`${sessionId}, from its run ${number} that was given up`);
    await connection.call('keep', {
      ...{ sessionId, number, profile, placement: there, message },
      isAlone: true,
    });
    const { repository, branch, baseCommit } = there;
    const remote: RemoteBranch = { folder, repository, branch, baseCommit };
    return fetchAside(connection, transfers, remote, `${nameSnapshot(branch, sessionId, number)}-late`);
  }

  async function settleRun(run: LostRun): Promise<void> {
    const { sessionId, runId, placement, profile } = run;
    const name = { sessionId, runId };
    await connection.call('stop', { run: name, graceMs: GRACE_MS });
    const { taskId, project, setup, hasWorktree } = deps.findLostSession(run);
    let ref: string | null = null;
    const repository = placement?.repository ?? null;
    if (placement !== null && placement.worktree !== null && repository !== null) {
      const there = await writeWirePlacement(transfers, placement);
      ref = await keepWork(run, there, repository);
      if (!hasWorktree && setup !== null) {
        const { repository: id, branch } = there;
        const confirmed = await connection.call('findTip', { repository: id, branch });
        const session = { sessionId, taskId, project, profile };
        const problems = await connection.call('clear', {
          ...{ session, placement: there, confirmed },
          setup: stripSetup(setup),
        });
        if (problems.length > 0)
          deps.log.warn({ ...name, problems }, 'a lost run left something on its machine');
      }
    }
    await connection.call('discard', { ...name, isUnplaced: placement === null });
    await deps.recordSettled(run, ref);
  }

  async function settleAll(): Promise<void> {
    const failed = new Set<string>();
    for (;;) {
      const [run] = deps.listUnsettled(connection.record.id).filter(({ runId }) => !failed.has(runId));
      if (run === undefined) return;
      try {
        await settleRun(run);
      } catch (error) {
        const { code, message } = asSvcError(error);
        if (code === 'engine_closing') return;
        failed.add(run.runId);
        deps.log.warn(
          { run, error: message },
          'a lost run was not settled; it is tried at the next connection',
        );
      }
    }
  }

  function settle(): void {
    if (connection.readState().state !== 'ready') return;
    isWanted = true;
    if (isSettling) return;
    isSettling = true;
    void (async () => {
      while (isWanted) {
        isWanted = false;
        await settleAll();
      }
    })().finally(() => {
      isSettling = false;
    });
  }

  return { settle };
}
