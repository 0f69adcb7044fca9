import { basename, join } from 'node:path';
import { createKeyedQueue } from '../../base/serial-queue.ts';
import { removePrivateGit } from '../private-git.ts';
import {
  type CreatedWorktree,
  type CreateRequest,
  create,
  type Origin,
  type OriginRequest,
  origin,
} from './create.ts';
import { addDetached, type DetachedCheckout, removeDetached } from './detached.ts';
import { type Diff, type DiffRequest, diff } from './diff.ts';
import { filesOf } from './files.ts';
import { type FinishRequest, type FinishResult, finish } from './finish.ts';
import { createGit, userIdentity } from './git.ts';
import { checkedOutAt } from './head.ts';
import { type WorkingFolders, workingFolders } from './live.ts';
import { lookAt, verifyToplevel } from './look.ts';
import { isMerged } from './merged.ts';
import { ownersOf } from './owners.ts';
import { createRepositoryPins } from './pins.ts';
import { listRepositories, setAsideRepositories } from './planted.ts';
import { createGitPrograms } from './programs.ts';
import { type PromoteRequest, type PromoteResult, promote } from './promote.ts';
import {
  type PruneEntry,
  type PrunePlan,
  type PruneRequest,
  type PruneResult,
  prune,
  prunePlan,
} from './prune.ts';
import {
  branchRef,
  branchTips,
  commitOf,
  type Repository,
  repositoryAt,
  repositoryOf,
  SESSION_PREFIX,
} from './repository.ts';
import { type RepositoryStatus, type StatusRequest, status } from './status.ts';
import { createTakeOver } from './take-over.ts';
import { clearTraps, foldersNamed, releaseCheckout } from './traps.ts';
import { type Trial, type TrialRequest, trial } from './trial.ts';
import { isTakenIn } from './whose.ts';

export type { CreatedWorktree, CreateRequest, Origin, OriginRequest } from './create.ts';
export type { Diff, DiffRequest } from './diff.ts';
export type { FinishRequest, FinishResult } from './finish.ts';
export type { WorkingFolders } from './live.ts';
export { commonDirAt } from './own-git-dir.ts';
export type { PromoteRequest, PromoteResult } from './promote.ts';
export type { PruneEntry, PrunePlan, PruneRequest, PruneResult } from './prune.ts';
export { type Repository, realFolder, SESSION_PREFIX, samePath } from './repository.ts';
export { WORKTREE_STATES, type WorktreeState } from './states.ts';
export {
  type RepositoryStatus,
  type SessionWorktree,
  type StatusRequest,
  statesOf,
} from './status.ts';
export type { Trial, TrialRequest } from './trial.ts';
export { watchRefs } from './watch-refs.ts';

export interface WorktreesDeps {
  /**
   * What git and the filters that a repository configures may see: best an allow-listed environment (R10). What
   * would lead git astray, and every SVC_ name, is taken out of it in any case.
   */
  env?: NodeJS.ProcessEnv;
  /** Who works where; by default this machine's process table. */
  workingFolders?: WorkingFolders;
  /** The folder of the sessions' own folders, where strict workers commit; without it there are none. */
  agentsDir?: string;
}

export interface Worktrees {
  /** The repository that contains a folder. Throws `not_a_repository`, `repository_empty`, `worktree_unsafe`. */
  repositoryOf(path: string): Promise<Repository>;
  /** Variables that give a worker's git the identity that the user has configured in a folder; see `userIdentity`. */
  userIdentity(folder: string): Promise<Record<string, string>>;
  /** The branch checked out at a folder, or the commit of a detached HEAD; null outside of a repository. @param folder links followed */
  checkedOut(folder: string): string | null;
  /** The repository that a project's folder is in now counts for it from here on. Returns its top; null for none. */
  repin(folder: string): string | null;
  /** Before a confined run in a folder itself; see `setAsideRepositories`. */
  listRepositories(folder: string, kept: string, data: string): Promise<void>;
  /**
   * After it: repositories that have appeared below the folder are moved into the session's own folder `kept`, so that nobody's
   * git is led by them. Returns a sentence for each. Calls no git.
   */
  setAsideRepositories(folder: string, kept: string, data: string): Promise<string[]>;
  /** Where `create` would begin; makes nothing. */
  origin(request: OriginRequest): Promise<Origin>;
  /** Makes, or takes up again, a session's branch and worktree. */
  create(request: CreateRequest): Promise<CreatedWorktree>;
  /** Checks a commit out in a folder of its own, on no branch. Throws `git_failed` when there is no such commit. */
  addDetached(checkout: DetachedCheckout & { commit: string }): Promise<void>;
  /** Removes such a checkout with everything in it, also one that was only half made. */
  removeDetached(checkout: DetachedCheckout): Promise<void>;
  /** R2: throws `worktree_unsafe` unless git in this folder of a session means this folder, and its git folder is its own. */
  verifyToplevel(path: string): Promise<void>;
  /**
   * Takes away what a worker has left in the repository's folders for git to wait at or to follow. Returns what that was.
   * Call it after the worker's processes are gone.
   */
  clearTraps(path: string): string[];
  /**
   * Brings into the repository what a strict worker has committed or staged in its sandbox, for whoever goes on with its
   * worktree. Call it after the worker's processes are gone. Never throws; returns what could not be, if so.
   */
  settle(path: string): Promise<string | null>;
  /** What a strict worker had beside a worktree that is gone goes too, but for what could not be taken over. */
  forgetWorktree(path: string): void;
  /** Takes out of a main checkout what protected it while a worker was in it. */
  releaseCheckout(path: string): void;
  /**
   * Before a worker starts in a folder's repository: which programs git runs there for the person. `isQuiet`: no other worker
   * is at work. What is written after that is not run by the engine's own calls.
   */
  rememberPrograms(path: string, options: { isQuiet: boolean }): Promise<void>;
  /** After a run: settings of git that name programs and were written since; empty outside of a repository. */
  plantedPrograms(path: string): Promise<string[]>;
  /** Saves what a worker left and counts what it did. Call it after the worker's processes are gone. */
  finish(request: FinishRequest): Promise<FinishResult>;
  status(request: StatusRequest): Promise<RepositoryStatus>;
  /** The git folders of the repositories that know each folder in the one of the session worktrees; see `ownersOf`. */
  ownersOf(worktreesDir: string, commonDirs: readonly string[]): Map<string, string>;
  /** R3: by ancestry, by tree, by patch ids, by the patch id of the whole. */
  isMerged(repository: string, branch: string, base: string): Promise<boolean>;
  /** Whether a commit is in a branch or tag that is not a session's. False when in doubt. */
  isTakenIn(repository: string, commit: string): Promise<boolean>;
  promote(request: PromoteRequest): Promise<PromoteResult>;
  /** Whether `promote` by merge would go through; writes nothing. */
  trial(request: TrialRequest): Promise<Trial>;
  /** The dry run of `prune`. */
  prunePlan(request: PruneRequest): Promise<PrunePlan>;
  /** Carries a plan out; `before` runs ahead of each removal, and what it leaves is looked at like anything else. */
  prune(plan: PrunePlan, before?: (entry: PruneEntry) => Promise<void>): Promise<PruneResult>;
  diff(request: DiffRequest): Promise<Diff>;
  /** Every branch with the commit that it ends at. Throws when one of them cannot be read. */
  branchTips(repository: string): Promise<Map<string, string>>;
  /** Where a branch ends, or what is checked out for null; null when there is no such commit. */
  head(repository: string, branch: string | null): Promise<string | null>;
  /** Whether git ignores a path of a worktree, relative to its top. In doubt it does not. Throws `worktree_unsafe`. */
  isIgnored(path: string, file: string): Promise<boolean>;
  /** How many files of a worktree are changed or new and in no commit. Throws `worktree_unsafe`. */
  uncommitted(path: string): Promise<number>;
}

/** Owns the git worktrees of sessions, through the git command line; loses no work (R1 to R4). */
export function createWorktrees({
  env,
  workingFolders: folders = workingFolders,
  agentsDir,
}: WorktreesDeps = {}): Worktrees {
  const asked = createGit(env);
  const programs = createGitPrograms(
    agentsDir === undefined ? null : join(agentsDir, '.git-programs.json'),
    (cwd, args) => asked.text(cwd, args, { discover: true }),
    asked.env,
  );
  const pins = createRepositoryPins(agentsDir === undefined ? null : join(agentsDir, '.repositories.json'));
  const git = createGit(env, { settingsAgainst: programs.settingsAgainst });
  // Changes to one repository's refs and worktree list go one at a time: git itself answers a second one with "index.lock
  // exists" or "cannot lock ref" instead of waiting. Reads do not queue.
  const queue = createKeyedQueue();
  // What is read of a branch is read in the repository: first comes there what its worker has committed meanwhile.
  const takeOver = agentsDir === undefined ? null : createTakeOver(git, agentsDir);
  const followed = async (branch: string | null | undefined): Promise<void> => {
    if (branch != null) await takeOver?.follow(branch);
  };
  return {
    async repositoryOf(path) {
      pins.check(path);
      return repositoryOf(git, path);
    },
    userIdentity: (folder) => userIdentity(git, folder),
    checkedOut: (folder) => checkedOutAt(git, folder),
    async origin(request) {
      pins.check(request.projectPath);
      return origin(git, request);
    },
    async create(request) {
      pins.check(request.projectPath);
      return create(git, queue, request);
    },
    addDetached: (checkout) => addDetached(git, queue, checkout),
    removeDetached: (checkout) => removeDetached(git, queue, checkout),
    repin: pins.repin,
    listRepositories,
    setAsideRepositories,
    verifyToplevel: async (path) => void (await lookAt(git, path)),
    clearTraps(path) {
      const named = foldersNamed(path);
      return named === null ? [] : clearTraps(named, { links: true });
    },
    releaseCheckout(path) {
      const named = foldersNamed(path);
      if (named !== null) releaseCheckout(named);
    },
    rememberPrograms: programs.remember,
    plantedPrograms: programs.findPlanted,
    async settle(path) {
      return (await takeOver?.settle(path, { index: true }))?.problem ?? null;
    },
    forgetWorktree(path) {
      if (agentsDir !== undefined) removePrivateGit(agentsDir, path);
    },
    async finish(request) {
      return finish(git, folders, queue, request, (await takeOver?.settle(request.path)) ?? null);
    },
    async status(request) {
      await takeOver?.followAll();
      return status(git, folders, request);
    },
    ownersOf,
    isMerged: (repository, branch, base) => isMerged(git, repository, branch, base),
    isTakenIn: (repository, commit) => isTakenIn(git, repository, commit),
    async promote(request) {
      const repository = await repositoryAt(git, request.repository);
      return queue(repository.commonDir, () => promote(git, { ...request, repository }));
    },
    trial: (request) => trial(git, request),
    prunePlan: (request) => prunePlan(git, folders, request),
    async prune(plan, before) {
      const asideOf = (worktree: string): string | null =>
        agentsDir === undefined ? null : join(agentsDir, basename(worktree), 'ignored');
      const result = await prune(git, folders, queue, plan, { before, asideOf });
      if (agentsDir !== undefined)
        for (const { path } of result.removed) if (path !== null) removePrivateGit(agentsDir, path);
      return result;
    },
    async diff(request) {
      await followed(request.branch);
      return diff(git, request);
    },
    branchTips: (repository) => branchTips(git, repository),
    async head(repository, branch) {
      await followed(branch);
      return commitOf(git, repository, branch === null ? 'HEAD' : branchRef(branch));
    },
    async isIgnored(path, file) {
      await verifyToplevel(git, path);
      return git.succeeds(path, ['check-ignore', '--quiet', '--', file]);
    },
    async uncommitted(path) {
      await followed(`${SESSION_PREFIX}${basename(path)}`);
      await lookAt(git, path);
      const { changed, untracked } = await filesOf(git, path);
      return changed.length + untracked.length;
    },
  };
}
