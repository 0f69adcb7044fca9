import { createSerialQueue } from '../../core/base/serial-queue.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import { locatePrivateGit } from '../../workers/runner/index.ts';
import type { WorktreeSetup } from '../../workers/runner/setup/index.ts';
import { type Worktrees, watchRefs } from '../../workers/runner/worktrees/index.ts';
import { findLocalPath, type Session, type Sessions } from '../../workers/sessions/index.ts';
import { forgetMissingWorktrees } from './missing-worktrees.ts';
import type { WorktreeActions } from './worktree-actions.ts';

export type BranchState = Session['branchState'];

/** Maximum number of commit pairs whose answer is cached. */
const MOST_KNOWN = 10_000;

/** How often the branches that waiting sessions need in their base are compared, ms. */
const COMPARE_MS = 5000;

/** Tracks whether the work on unpromoted branches of ended sessions still needs review. */
export interface ReviewStore {
  /** Compares the branches that waiting sessions need in their base, from now on: a person may merge one by hand. */
  start(): void;
  close(): Promise<void>;
  /** Settles the state that an earlier host left: interrupted teardowns, and missing worktrees. */
  recover(): Promise<void>;
  /** Updates the register from git, skipping unreadable repositories. @param only top folder of the one repository to update */
  reconcileRegister(only?: string): Promise<void>;
  /**
   * Calls back each time branches in a session's repository have moved and the register has been updated. Updates the
   * register before it resolves.
   */
  followBranches(sessionId: string, onMoved: (repository: string) => void): Promise<{ close(): void }>;
}

export function createReviews(deps: {
  storage: Storage;
  events: EventLog;
  sessions: Sessions;
  worktrees: Worktrees;
  setup: Pick<WorktreeSetup, 'endAbandonedCommands'>;
  /** Resumes interrupted operations. */
  actions: Pick<WorktreeActions, 'recover'>;
  /** The pull requests that were merged at their code host. */
  merged: {
    /** Reports whether that of a session was merged with this commit at its end. */
    has(sessionId: string, tip: string): boolean;
    /** Records, inside `storage.write`, that the base here has the work. */
    noteArrival(sessionId: string): void;
  };
  agentsDir: string;
  /** See `TaskOrder`. */
  listAwaitedRepositories(): string[];
  /** Called when the work of a session was found in its base. */
  onMerged(): void;
  log: { warn(data: object, text: string): void };
}): ReviewStore {
  const { storage, sessions, worktrees } = deps;
  /** Cached answers, by the commits of branch and base; for a given pair the answer never changes. */
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
    const { branch, base, repository, baseCommit, branchState } = session;
    // Its removal may be in progress.
    if (branchState === 'discarded') return branchState;
    const tip = branch === null ? undefined : tips.get(branch);
    // Deleting a branch after its work was merged leaves that work merged.
    if (branch === null || tip === undefined) return session.branchState === 'merged' ? 'merged' : 'gone';
    const into = base === null ? undefined : tips.get(base);
    const isAtHost = deps.merged.has(session.sessionId, tip);
    // The base here may not have been fetched since then.
    const otherwise = isAtHost ? 'merged' : null;
    if (base === null || into === undefined || repository === null) return otherwise;
    // At its start it counts as merged, which says nothing about unreadable work.
    if (session.commits === null && tip === baseCommit) return otherwise;
    if (!(await isMerged(repository, branch, base, `${repository} ${tip} ${into}`))) return otherwise;
    if (isAtHost)
      await storage.write(() => {
        deps.merged.noteArrival(session.sessionId);
        storage.afterCommit(deps.onMerged);
      });
    return 'merged';
  }

  async function reconcileRepository(repository: string, unpromoted: readonly Session[]): Promise<void> {
    const tips = await worktrees.listBranchTips(repository);
    for (const session of unpromoted) {
      const state = await findBranchState(session, tips);
      if (state === session.branchState) continue;
      await storage.write(() => {
        // A concurrent settlement, such as a prune that deleted the branch, is more accurate.
        const { branchState, promotedAt } = sessions.get(session.sessionId);
        if (branchState !== session.branchState || promotedAt !== null) return;
        sessions.branchBecame(session.sessionId, state);
        if (state === 'merged') storage.afterCommit(deps.onMerged);
      });
    }
  }

  async function reconcileRegister(only?: string): Promise<void> {
    const unpromoted = Map.groupBy(sessions.unpromoted(), ({ repository }) => repository);
    for (const [repository, group] of unpromoted) {
      if (repository === null || (only !== undefined && repository !== only)) continue;
      await reconcileRepository(repository, group).catch((error: unknown) =>
        deps.log.warn({ error, repository }, 'the state of its branches could not be read'),
      );
    }
  }

  let timer: NodeJS.Timeout | null = null;
  let comparing: Promise<void> | null = null;

  async function compareAwaited(): Promise<void> {
    try {
      for (const repository of deps.listAwaitedRepositories()) await reconcileRegister(repository);
    } catch (error) {
      deps.log.warn({ error }, 'the branches that tasks wait for were not compared');
    }
  }

  return {
    start() {
      timer = setInterval(() => {
        comparing ??= compareAwaited().finally(() => {
          comparing = null;
        });
      }, COMPARE_MS).unref();
    },
    async close() {
      if (timer !== null) clearInterval(timer);
      await comparing;
    },
    async recover() {
      await deps.setup.endAbandonedCommands();
      await deps.actions.recover((sessionId, error) =>
        deps.log.warn({ error, sessionId }, 'an interrupted discard or undo could not be finished'),
      );
      await forgetMissingWorktrees(deps);
    },
    reconcileRegister,
    async followBranches(sessionId, onMoved) {
      const { repository, worktree: path } = sessions.get(sessionId);
      const worktree = findLocalPath(path);
      if (repository === null) return { close: () => undefined };
      const { commonDir: common } = await worktrees.findRepository(repository);
      let isClosed = false;
      // The last move is always reported.
      const enqueue = createSerialQueue();
      const beside = worktree === null ? [] : [locatePrivateGit(deps.agentsDir, worktree).refs];
      const watching = watchRefs({ common, beside }, () => {
        enqueue(async () => {
          if (isClosed) return;
          await reconcileRegister(repository);
          if (!isClosed) onMoved(repository);
        })
          // A failure must neither suppress the next report nor end the engine as an unhandled rejection.
          .catch((error: unknown) =>
            deps.log.warn({ error, repository }, 'could not follow a move of its branches'),
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
