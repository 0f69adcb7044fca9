import { basename, join } from 'node:path';
import { SvcError } from '../../../core/base/errors.ts';
import { createKeyedQueue, type KeyedQueue } from '../../../core/base/serial-queue.ts';
import { createAheadFiles } from './create/ahead.ts';
import {
  type CreatedWorktree,
  type CreateRequest,
  createWorktree,
  findOrigin,
  findStart,
  type OriginRequest,
  type WorktreeOrigin,
  type WorktreeStart,
} from './create/create.ts';
import {
  addDetachedCheckout,
  type DetachedCheckout,
  openDetachedCheckout,
  removeDetachedCheckout,
} from './create/detached-checkout.ts';
import { type FinishRequest, type FinishResult, finishWorktree } from './finish/finish.ts';
import { type SnapshotRequest, snapshotWorktree } from './finish/snapshot.ts';
import { createTakeOver } from './finish/take-over.ts';
import { readCheckedOut } from './git/checked-out.ts';
import { createGit } from './git/create-git.ts';
import { findUserIdentity, type Git } from './git/git.ts';
import { readGitFolders } from './git/git-folders.ts';
import type { GitPrograms } from './git/git-programs.ts';
import { usesLfs } from './git/lfs.ts';
import { findPrivateTip, removePrivateGit } from './git/private-git.ts';
import { branchRef, listBranchTips, resolveCommit, SESSION_PREFIX } from './git/refs.ts';
import { type GitRemote, listRemotes } from './git/remotes.ts';
import { findRepository, type GitRepository, resolveRepository } from './git/repository.ts';
import { clearTraps, releaseCheckout } from './git/traps.ts';
import { readChangedLines } from './inspect/changed-lines.ts';
import { readChangedTexts } from './inspect/changed-texts.ts';
import { listUncommitted } from './inspect/contents.ts';
import { type ChangeCounts, countChanges } from './inspect/count-work.ts';
import { type DiffRequest, diffBranch, readFileAt, type WorktreeDiff } from './inspect/diff.ts';
import { createIgnoreRules, type IgnoreRules } from './inspect/ignore-rules.ts';
import { locateWorktree, verifyToplevel } from './inspect/inspect.ts';
import { isMerged } from './inspect/merge-state.ts';
import { findOwners } from './inspect/owners.ts';
import { listRepositories, setAsideRepositories } from './inspect/planted-repositories.ts';
import { type RepositoryStatus, readWorktreeStatus, type StatusRequest } from './inspect/status.ts';
import { isTakenIn } from './inspect/taken-in.ts';
import { readWorkingFolders, type WorkingFolders } from './inspect/working-folders.ts';
import {
  draftSquashMessage,
  type PromoteRequest,
  type PromoteResult,
  promoteBranch,
} from './merge/promote.ts';
import { type MergeTrial, type TrialRequest, tryPromotion } from './merge/trial.ts';
import { type UndonePromotion, type UndoPromotionRequest, undoPromotion } from './merge/undo-promotion.ts';
import { type DiscardRequest, type DiscardResult, discardWorktree } from './remove/discard.ts';
import { type PruneResult, pruneWorktrees } from './remove/prune.ts';
import { type PruneEntry, type PrunePlan, type PruneRequest, planPrune } from './remove/prune-plan.ts';
import { returnFromAside } from './remove/remove-worktree.ts';
import { type RestoreRequest, restoreWorktree } from './remove/restore.ts';
import { deleteSavedRefs, listSavedRefs, type SavedRef } from './remove/saved-refs.ts';

export type {
  CreatedWorktree,
  CreateRequest,
  OriginRequest,
  WorktreeOrigin,
  WorktreeStart,
} from './create/create.ts';
export type { FinishRequest, FinishResult } from './finish/finish.ts';
export { createGit, type GitAccess } from './git/create-git.ts';
export type { Git } from './git/git.ts';
export { readCommonDir } from './git/git-folders.ts';
export { watchLeftGits } from './git/left-gits.ts';
export { SESSION_PREFIX } from './git/refs.ts';
export type { GitRemote } from './git/remotes.ts';
export { type GitRepository, realFolder, samePath } from './git/repository.ts';
export type { LineRange } from './inspect/changed-lines.ts';
export { type DiffRequest, requireDiffRequest, type WorktreeDiff } from './inspect/diff.ts';
export { WORKTREE_STATES, type WorktreeState } from './inspect/states.ts';
export {
  compareNewestFirst,
  listWorktreeStates,
  type RepositoryStatus,
  type SessionWorktree,
  type StatusRequest,
} from './inspect/status.ts';
export { watchRefs } from './inspect/watch-refs.ts';
export { listAttributedFiles, listChangedFiles, listWorkingFiles } from './inspect/working-files.ts';
export type { WorkingFolders } from './inspect/working-folders.ts';
export type { PromoteRequest, PromoteResult } from './merge/promote.ts';
export { PROMOTE_STRATEGIES, type PromoteStrategy } from './merge/strategies.ts';
export type { MergeTrial, TrialRequest } from './merge/trial.ts';
export type { UndonePromotion, UndoPromotionRequest } from './merge/undo-promotion.ts';
export type { DiscardRequest, DiscardResult, SavedState } from './remove/discard.ts';
export type { PruneResult } from './remove/prune.ts';
export type { PruneEntry, PrunePlan, PruneRequest } from './remove/prune-plan.ts';
export type { RestoreRequest } from './remove/restore.ts';
export type { SavedRef } from './remove/saved-refs.ts';

type WithoutGit<Read> = Read extends (folder: string, git: Git, ...rest: infer Rest) => infer Result
  ? (folder: string, ...rest: Rest) => Result
  : never;

export interface WorktreesDeps {
  /**
   * The environment of git and of the filters that a repository configures: best an allow-listed one (R10). Variables
   * that point git elsewhere, and every SVC_ name, are always removed.
   */
  env?: NodeJS.ProcessEnv;
  /** Reads which process works in which folder; by default from this machine's process table. */
  readWorkingFolders?: WorkingFolders;
  /** Holds each session's own folder, where strict workers commit; without it there are no strict workers. */
  agentsDir?: string;
  /** Takes over what a session has committed on another machine so far, for a limited time. Never rejects. */
  fetchBranch?(branch: string): Promise<void>;
  /** Asks the machine of a session where its branch ends; null if it is here, or if no answer comes. */
  findRemoteTip?(branch: string): Promise<string | null>;
}

export interface Worktrees {
  /** Finds the repository that contains a folder. Throws `not_a_repository`, `repository_empty`, `worktree_unsafe`. */
  findRepository(path: string): Promise<GitRepository>;
  /**
   * Returns variables that give a worker's git the identity that the user has configured for a folder; see
   * `findUserIdentity` in git.ts.
   */
  findUserIdentity(folder: string): Promise<Record<string, string>>;
  /**
   * Returns the branch checked out at a folder, or the commit of a detached HEAD; null outside of a repository.
   * @param folder links followed
   */
  findCheckedOut(folder: string): string | null;
  /** Pins a project's folder to its current repository. Returns that repository's top folder; null for none. */
  repinRepository(folder: string): string | null;
  /** Records the repositories below a folder, before a confined run in the folder itself; see `setAsideRepositories`. */
  listRepositories(folder: string, kept: string, data: string): Promise<void>;
  /**
   * Moves repositories that appeared below the folder during the run into the session's own folder `kept`, so that no
   * git reads their configuration. Returns a sentence for each. Calls no git.
   */
  setAsideRepositories(folder: string, kept: string, data: string): Promise<string[]>;
  /** Finds where `create` would start; creates nothing. */
  findStart(request: OriginRequest): Promise<WorktreeStart>;
  /** Finds the same, and checks that `create` could create a branch there. */
  findOrigin(request: OriginRequest): Promise<WorktreeOrigin>;
  /** Creates a session's branch and worktree, or reuses those of an earlier attempt. */
  create(request: CreateRequest): Promise<CreatedWorktree>;
  /** Checks a commit out in a separate folder, on no branch. Throws `git_failed` for an unknown commit. */
  addDetachedCheckout(checkout: DetachedCheckout & { commit: string }): Promise<void>;
  /** Checks the newest commit of a branch out for a person; see `openDetachedCheckout`. Throws `not_found` too. */
  openCheckout(wanted: DetachedCheckout & { branch: string }): Promise<{ commit: string; isNew: boolean }>;
  /** Removes such a checkout with everything in it, even a half-created one. */
  removeDetachedCheckout(checkout: DetachedCheckout): Promise<void>;
  /** R2: throws `worktree_unsafe` unless git in this folder of a session refers to this folder, and its git folder is its own. */
  verifyToplevel(path: string): Promise<void>;
  /**
   * Removes pipes and links that a worker left in the repository's git folders, where git would wait or follow.
   * Returns their paths. Call it after the worker's processes are gone.
   */
  clearTraps(path: string): string[];
  /**
   * Copies what a strict worker committed or staged in its sandbox into the repository, so that work on the worktree
   * can continue outside. Call it after the worker's processes are gone. Never throws; returns a description of
   * uncopied work, or null.
   */
  takeOverWorktree(path: string): Promise<string | null>;
  /** Removes the private git folder of a worktree that is gone, unless it holds work that could not be taken over. */
  forgetWorktree(path: string): void;
  /** Removes the file that protected a main checkout while a worker ran in it. */
  releaseCheckout(path: string): void;
  /**
   * Records which programs git runs for the person in a folder's repository, and what it ignores there, before a
   * worker starts. `isQuiet`: no other worker is running. Programs that are configured later are not run by the
   * engine's own calls, and files that are ignored by later rules may be work.
   */
  rememberPrograms(path: string, options: { isQuiet: boolean }): Promise<void>;
  /** See `GitPrograms`; empty outside a repository. */
  findPlantedSettings: GitPrograms['findPlantedSettings'];
  /** See `GitPrograms`. */
  compareSettings: GitPrograms['compareSettings'];
  /** See `GitPrograms`. */
  acceptSettings: GitPrograms['acceptSettings'];
  /** See `GitPrograms`. */
  listUntrustedSettings: GitPrograms['listUntrustedSettings'];
  /** See `GitPrograms`. */
  listTrustedSettings: GitPrograms['listTrustedSettings'];
  /** Reports whether pushing this commit requires pushing objects of Git LFS first. */
  usesLfs(repository: string, commit: string): Promise<boolean>;
  /** Saves the files of a worktree while its worker changes them; see `snapshotWorktree`. */
  snapshot(request: SnapshotRequest): Promise<string | null>;
  /** Saves uncommitted work that a worker left and counts what it did. Call it after the worker's processes are gone. */
  finish(request: FinishRequest): Promise<FinishResult>;
  readStatus(request: StatusRequest): Promise<RepositoryStatus>;
  /** Maps each folder of session worktrees to the git folder of its repository; see `findOwners` in owners.ts. */
  findOwners(worktreesDir: string, commonDirs: readonly string[]): Map<string, string>;
  /** R3: by ancestry, by tree, by patch ids, by the patch id of the whole. */
  isMerged(repository: string, branch: string, base: string): Promise<boolean>;
  /** Reports whether a commit is in a branch or tag that is not a session's. False when in doubt. */
  isTakenIn(repository: string, commit: string): Promise<boolean>;
  promote(request: PromoteRequest): Promise<PromoteResult>;
  /** Writes the message that a squash would use, with the branch's commit that it is about. */
  draftSquashMessage(
    request: Parameters<typeof draftSquashMessage>[1],
  ): ReturnType<typeof draftSquashMessage>;
  /** Reports whether `promote` by merge would succeed; writes nothing. */
  tryPromotion(request: TrialRequest): Promise<MergeTrial>;
  /** The dry run of `prune`. */
  planPrune(request: PruneRequest): Promise<PrunePlan>;
  /** Executes a plan. `before` runs ahead of each removal; its leftovers are checked like everything else. */
  prune(plan: PrunePlan, before?: (entry: PruneEntry) => Promise<void>): Promise<PruneResult>;
  /** Removes a branch and worktree with unmerged work, once all of it is saved; see `discardWorktree`. */
  discard(request: Omit<DiscardRequest, 'keptIn'>): Promise<DiscardResult>;
  /** Restores a removed branch; see `restoreWorktree`. */
  restore(request: Omit<RestoreRequest, 'keptIn'>): Promise<void>;
  /** Lists saved commits of removed branches; of one branch, or of all. */
  listSavedRefs(repository: string, branch?: string): Promise<SavedRef[]>;
  /** Deletes saved refs that still hold what was read, all of them or none. */
  deleteSavedRefs(repository: string, refs: readonly SavedRef[]): Promise<void>;
  /** Moves a worktree back whose removal was interrupted before anything was deleted. */
  returnFromAside(path: string): void;
  /** Undoes a promotion while its base has not moved; see `undoPromotion` in undo-promotion.ts. */
  undoPromotion(request: UndoPromotionRequest): Promise<UndonePromotion>;
  diffBranch(request: DiffRequest): Promise<WorktreeDiff>;
  /** Reads a file of a commit; null if there is no such file, or it is longer than `maxBytes`. */
  readFileAt(file: {
    repository: string;
    commit: string;
    path: string;
    maxBytes: number;
  }): Promise<string | null>;
  /** Lists every branch with its commit. Throws if one of them cannot be read. */
  listBranchTips(repository: string): Promise<Map<string, string>>;
  /** Lists the commits of branches, including new commits of confined workers. */
  listSessionTips(repository: string, branches: readonly string[]): Promise<Map<string, string>>;
  countChanges(range: { repository: string; from: string; to: string }): Promise<ChangeCounts>;
  /** Lists the push targets of the repository. */
  listRemotes(repository: string): Promise<GitRemote[]>;
  /** Returns the commit at the end of a branch, or of HEAD for null; null if there is no such commit. */
  findHead(repository: string, branch: string | null): Promise<string | null>;
  /** Returns the same as its worker sees it: of a confined worker, or on another machine, it may not be here yet. */
  findWorkerHead(repository: string, branch: string | null): Promise<string | null>;
  /**
   * Reports whether git ignores a path of a worktree, relative to its top; false when in doubt. Throws
   * `worktree_unsafe`.
   */
  isIgnored(path: string, file: string): Promise<boolean>;
  /** Counts files of a worktree that are changed or new and in no commit. Throws `worktree_unsafe`. */
  countUncommitted(path: string): Promise<number>;
  /** See `readChangedLines`. */
  readChangedLines: WithoutGit<typeof readChangedLines>;
  /** See `readChangedTexts`. */
  readChangedTexts: WithoutGit<typeof readChangedTexts>;
  /**
   * Writes the files of the next worktree of these projects ahead, one for each repository, and removes those of all
   * others; see `AheadFiles`.
   */
  prepareAhead(projectPaths: readonly string[]): Promise<void>;
  /** Ends git processes that wait for further questions, and removes files that were written ahead. */
  close(): Promise<void>;
}

/** The folder for files of future worktrees, in that of the sessions. */
const AHEAD = '.ahead';

/** Owns the git worktrees of sessions, through the git command line; loses no work (R1 to R4). */
export function createWorktrees({
  env,
  readWorkingFolders: folders = readWorkingFolders,
  agentsDir,
  fetchBranch,
  findRemoteTip,
}: WorktreesDeps = {}): Worktrees {
  const { git, programs, pins, close } = createGit({ env: env ?? process.env, agentsDir: agentsDir ?? null });
  // Changes to one repository's refs and worktree list go one at a time: git itself answers a second one with "index.lock
  // exists" or "cannot lock ref" instead of waiting. Reads do not queue.
  const queue = createKeyedQueue();
  const rules = createIgnoreRules(
    agentsDir === undefined ? null : join(agentsDir, '.ignore-rules.json'),
    git.env,
  );
  const looks = { folders, rules };
  const ahead = agentsDir === undefined ? null : createAheadFiles(git, join(agentsDir, AHEAD));
  // Branches are read in the repository, so new commits of their workers are copied there first.
  const takeOver = agentsDir === undefined ? null : createTakeOver(git, agentsDir);
  const followBranch = async (branch: string | null | undefined): Promise<void> => {
    if (branch == null) return;
    await takeOver?.takeOverBranch(branch);
    await fetchBranch?.(branch);
  };
  return {
    async findRepository(path) {
      pins.checkPin(path);
      return findRepository(git, path);
    },
    findUserIdentity: (folder) => findUserIdentity(git, folder),
    findCheckedOut: (folder) => readCheckedOut(git, folder),
    async findStart(request) {
      pins.checkPin(request.projectPath);
      return findStart(git, request);
    },
    async findOrigin(request) {
      pins.checkPin(request.projectPath);
      return findOrigin(git, request);
    },
    async create(request) {
      pins.checkPin(request.projectPath);
      return createWorktree(git, queue, request, ahead);
    },
    addDetachedCheckout: (checkout) => addDetachedCheckout(git, queue, checkout),
    async openCheckout({ branch, ...checkout }) {
      await followBranch(branch);
      const commit = await resolveCommit(git, checkout.repository, branchRef(branch));
      if (commit === null)
        throw new SvcError('not_found', `there is no branch ${branch} in ${checkout.repository}`);
      return { commit, isNew: await openDetachedCheckout(git, queue, { ...checkout, commit }) };
    },
    removeDetachedCheckout: (checkout) => removeDetachedCheckout(git, queue, checkout),
    repinRepository: pins.repinRepository,
    listRepositories,
    setAsideRepositories,
    verifyToplevel: async (path) => void (await locateWorktree(git, path)),
    clearTraps(path) {
      const named = readGitFolders(path);
      return named === null ? [] : clearTraps(named, { links: true });
    },
    releaseCheckout(path) {
      const named = readGitFolders(path);
      if (named !== null) releaseCheckout(named);
    },
    readChangedLines: (folder, ...rest) => readChangedLines(folder, git, ...rest),
    readChangedTexts: (folder, ...rest) => readChangedTexts(folder, git, ...rest),
    async rememberPrograms(path, options) {
      rules.rememberRules(path, options);
      await programs.rememberPrograms(path, options);
    },
    findPlantedSettings: programs.findPlantedSettings,
    compareSettings: programs.compareSettings,
    acceptSettings: programs.acceptSettings,
    listUntrustedSettings: programs.listUntrustedSettings,
    listTrustedSettings: programs.listTrustedSettings,
    usesLfs: (repository, commit) => usesLfs(git, repository, commit),
    async takeOverWorktree(path) {
      return (await takeOver?.takeOverAtEnd(path, { index: true }))?.problem ?? null;
    },
    forgetWorktree(path) {
      if (agentsDir !== undefined) removePrivateGit(agentsDir, path);
    },
    async snapshot({ branch, ...request }) {
      await followBranch(branch);
      return snapshotWorktree(git, request);
    },
    async finish(request) {
      return finishWorktree(
        git,
        looks,
        queue,
        request,
        (await takeOver?.takeOverAtEnd(request.path)) ?? null,
      );
    },
    async readStatus(request) {
      await takeOver?.takeOverAllBranches();
      return readWorktreeStatus(git, folders, request);
    },
    findOwners,
    ...createRemovals(git, looks, queue, { agentsDir, followBranch }),
    ...createBranchReads(git, followBranch, async (branch) => {
      const inside = agentsDir === undefined ? null : findPrivateTip(agentsDir, branch);
      return inside ?? (await findRemoteTip?.(branch)) ?? null;
    }),
    ...createMerges(git, queue),
    async isIgnored(path, file) {
      await verifyToplevel(git, path);
      return git.succeeds(path, ['check-ignore', '--quiet', '--', file]);
    },
    async countUncommitted(path) {
      await followBranch(`${SESSION_PREFIX}${basename(path)}`);
      const { gitDir } = await locateWorktree(git, path);
      const { changed, untracked } = await listUncommitted(git, path, gitDir);
      return changed.length + untracked.length;
    },
    async prepareAhead(projectPaths) {
      await ahead?.prepare(projectPaths);
    },
    async close() {
      await ahead?.close();
      close();
    },
  };
}

type FollowBranch = (branch: string | null | undefined) => Promise<void>;

/** Removes worktrees and branches, and restores them. */
function createRemovals(
  git: Git,
  looks: { folders: WorkingFolders; rules: IgnoreRules },
  queue: KeyedQueue,
  { agentsDir, followBranch }: { agentsDir: string | undefined; followBranch: FollowBranch },
): Pick<
  Worktrees,
  'planPrune' | 'prune' | 'discard' | 'restore' | 'returnFromAside' | 'listSavedRefs' | 'deleteSavedRefs'
> {
  const findKeptFolder = (worktree: string): string | null =>
    agentsDir === undefined ? null : join(agentsDir, basename(worktree), 'ignored');
  return {
    planPrune: (request) => planPrune(git, looks, request),
    async prune(plan, before) {
      const result = await pruneWorktrees(git, looks, queue, plan, { before, findKeptFolder });
      if (agentsDir !== undefined)
        for (const { path } of result.removed) if (path !== null) removePrivateGit(agentsDir, path);
      return result;
    },
    async discard(request) {
      await followBranch(request.branch);
      const { worktree } = request;
      const keptIn = worktree === null ? null : findKeptFolder(worktree);
      const result = await discardWorktree(git, looks, queue, { ...request, keptIn });
      if (agentsDir !== undefined && worktree !== null) removePrivateGit(agentsDir, worktree);
      return result;
    },
    restore: (request) =>
      restoreWorktree(git, queue, {
        ...request,
        keptIn: request.saved.path === null ? null : findKeptFolder(request.saved.path),
      }),
    listSavedRefs: (repository, branch) => listSavedRefs(git, repository, branch),
    async deleteSavedRefs(path, refs) {
      const { root, commonDir } = await findRepository(git, path);
      await queue(commonDir, () => deleteSavedRefs(git, root, refs));
    },
    returnFromAside,
  };
}

/** Reads branches and their commits. */
function createBranchReads(
  git: Git,
  followBranch: FollowBranch,
  findTipElsewhere: (branch: string) => Promise<string | null>,
): Pick<
  Worktrees,
  | 'diffBranch'
  | 'readFileAt'
  | 'listBranchTips'
  | 'listSessionTips'
  | 'countChanges'
  | 'listRemotes'
  | 'findHead'
  | 'findWorkerHead'
> {
  async function findHead(repository: string, branch: string | null): Promise<string | null> {
    await followBranch(branch);
    return resolveCommit(git, repository, branch === null ? 'HEAD' : branchRef(branch));
  }

  return {
    async diffBranch(request) {
      await followBranch(request.branch);
      return diffBranch(git, request);
    },
    readFileAt: (file) => readFileAt(git, file),
    listBranchTips: (repository) => listBranchTips(git, repository),
    async listSessionTips(repository, branches) {
      for (const branch of branches) await followBranch(branch);
      return listBranchTips(git, repository);
    },
    countChanges: (range) => countChanges(git, range),
    listRemotes: (repository) => listRemotes(git, repository),
    findHead,
    async findWorkerHead(repository, branch) {
      const elsewhere = branch === null ? null : await findTipElsewhere(branch);
      return elsewhere ?? findHead(repository, branch);
    },
  };
}

/** Promotes branches, and reports what is merged. */
function createMerges(
  git: Git,
  queue: KeyedQueue,
): Pick<
  Worktrees,
  'isMerged' | 'isTakenIn' | 'promote' | 'draftSquashMessage' | 'tryPromotion' | 'undoPromotion'
> {
  return {
    isMerged: (repository, branch, base) => isMerged(git, repository, branch, base),
    isTakenIn: (repository, commit) => isTakenIn(git, repository, commit),
    async promote(request) {
      const repository = await resolveRepository(git, request.repository);
      return queue(repository.commonDir, () => promoteBranch(git, { ...request, repository }));
    },
    draftSquashMessage: (request) => draftSquashMessage(git, request),
    tryPromotion: (request) => tryPromotion(git, request),
    async undoPromotion(request) {
      const repository = await resolveRepository(git, request.repository);
      return queue(repository.commonDir, () => undoPromotion(git, { ...request, repository }));
    },
  };
}
