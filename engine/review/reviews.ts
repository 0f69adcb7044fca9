import { createSerialQueue } from '../base/serial-queue.ts';
import { locatePrivateGit } from '../runner/index.ts';
import type { Setup } from '../runner/setup/index.ts';
import { type Worktrees, watchRefs } from '../runner/worktrees/index.ts';
import type { Session, Sessions } from '../sessions/index.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import { forgetMissingWorktrees } from './missing-worktrees.ts';

export type BranchState = Session['branchState'];

/** Pairs of commits whose answer is remembered. */
const MOST_KNOWN = 10_000;

/** What has become of the branches of ended sessions that were not promoted: whether their work is still to be reviewed. */
export interface Reviews {
  /** Settles what an earlier host left: teardowns under way, and worktrees that are no longer there. */
  recover(): Promise<void>;
  /** Compares the register with git; a repository that cannot be read is left as it is. @param only one of them, its top */
  reconcileRegister(only?: string): Promise<void>;
  /**
   * Tells each time after branches in a session's repository have moved, and the register knows what has become of them.
   * The register is brought up to date before it settles.
   */
  followBranches(sessionId: string, onMoved: (repository: string) => void): Promise<{ close(): void }>;
}

export function createReviews(deps: {
  storage: Storage;
  events: EventLog;
  sessions: Sessions;
  worktrees: Worktrees;
  setup: Pick<Setup, 'endAbandonedTeardowns'>;
  agentsDir: string;
  log: { warn(data: object, text: string): void };
}): Reviews {
  const { storage, sessions, worktrees } = deps;
  /** By the commits of branch and base: they never change their answer. */
  const merged = new Map<string, boolean>();

  async function isMerged(repository: string, branch: string, base: string, tips: string): Promise<boolean> {
    const known = merged.get(tips);
    if (known !== undefined) return known;
    const answer = await worktrees.isMerged(repository, branch, base);
    if (merged.size >= MOST_KNOWN) merged.clear();
    merged.set(tips, answer);
    return answer;
  }

  async function findBranchState(session: Session, tips: ReadonlyMap<string, string>): Promise<BranchState> {
    const { branch, base, repository, baseCommit } = session;
    const tip = branch === null ? undefined : tips.get(branch);
    if (branch === null || tip === undefined) return 'gone';
    const into = base === null ? undefined : tips.get(base);
    if (base === null || into === undefined || repository === null) return null;
    // Where it began it is merged, and says nothing of work that could not be read.
    if (session.commits === null && tip === baseCommit) return null;
    return (await isMerged(repository, branch, base, `${repository} ${tip} ${into}`)) ? 'merged' : null;
  }

  async function reconcileRepository(repository: string, unpromoted: readonly Session[]): Promise<void> {
    const tips = await worktrees.listBranchTips(repository);
    for (const session of unpromoted) {
      const state = await findBranchState(session, tips);
      if (state === session.branchState) continue;
      await storage.write(() => sessions.branchBecame(session.sessionId, state));
    }
  }

  async function reconcileRegister(only?: string): Promise<void> {
    const unpromoted = Map.groupBy(sessions.unpromoted(), ({ repository }) => repository);
    for (const [repository, group] of unpromoted) {
      if (repository === null || (only !== undefined && repository !== only)) continue;
      await reconcileRepository(repository, group).catch((error: unknown) =>
        deps.log.warn({ error, repository }, 'what has become of its branches could not be read'),
      );
    }
  }

  return {
    async recover() {
      await deps.setup.endAbandonedTeardowns();
      await forgetMissingWorktrees(deps);
    },
    reconcileRegister,
    async followBranches(sessionId, onMoved) {
      const { repository, worktree } = sessions.get(sessionId);
      if (repository === null) return { close: () => undefined };
      const { commonDir: common } = await worktrees.findRepository(repository);
      let isClosed = false;
      // The last move is always told of.
      const enqueue = createSerialQueue();
      const beside = worktree === null ? [] : [locatePrivateGit(deps.agentsDir, worktree).refs];
      const watching = watchRefs({ common, beside }, () => {
        enqueue(async () => {
          if (isClosed) return;
          await reconcileRegister(repository);
          if (!isClosed) onMoved(repository);
        })
          // One that fails must not keep the next from being told of, nor end the engine as an error that nobody takes.
          .catch((error: unknown) =>
            deps.log.warn({ error, repository }, 'a move of its branches could not be followed'),
          );
      });
      await reconcileRegister(repository);
      return {
        close() {
          isClosed = true;
          watching.close();
        },
      };
    },
  };
}
