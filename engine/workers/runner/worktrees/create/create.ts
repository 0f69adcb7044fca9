import { existsSync, lstatSync, mkdirSync, readdirSync, realpathSync, rmdirSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { asSvcError, SvcError } from '../../../../core/base/errors.ts';
import { makeParentFolder } from '../../../../core/base/private-files.ts';
import { sentence } from '../../../../core/base/sentence.ts';
import type { KeyedQueue } from '../../../../core/base/serial-queue.ts';
import { quoteForShell } from '../../../../core/base/text.ts';
import { excludeSvcFolder } from '../../../../core/workspace/git-exclude.ts';
import { type Git, NOT_INSIDE } from '../git/git.ts';
import { endLeftGits } from '../git/left-gits.ts';
import { isUnusedBranch } from '../git/plain-checkout.ts';
import { branchRef, isAncestor, resolveBranchOrCommit, resolveCommit, SESSION_PREFIX } from '../git/refs.ts';
import {
  checkSharedWorktree,
  findRepository,
  type GitRepository,
  listWorktrees,
  samePath,
  type WorktreeEntry,
} from '../git/repository.ts';
import { locateWorktree, verifyToplevel } from '../inspect/inspect.ts';
import { addWorktree } from './add-worktree.ts';
import type { AheadFiles } from './ahead.ts';

export interface OriginRequest {
  /** Any folder in the repository. */
  repositoryPath: string;
  /** The project's folder in the repository; the worker starts in the same folder of the worktree. */
  projectPath: string;
  /** A branch, tag or commit; by default the branch checked out at `projectPath`. */
  base?: string;
}

export interface CreateRequest extends OriginRequest {
  worktreePath: string;
  /** The session's branch, e.g. `svc/s-88`. */
  branch: string;
  /** The commit to start from, if that was found before. */
  start?: WorktreeStart;
  /** Gives it up: what is begun of it is removed. */
  signal?: AbortSignal | undefined;
}

/** The start of a worktree. */
export interface WorktreeOrigin {
  /** Top folder of the checkout that `repositoryPath` is in. */
  repository: string;
  /** The name of its base; null if HEAD is detached. */
  base: string | null;
  baseCommit: string;
}

/** The start of a worktree, and where its worker works. */
export interface WorktreeStart extends WorktreeOrigin {
  /** The project's folder relative to the repository's top; empty for the top itself. */
  inside: string;
}

export interface CreatedWorktree extends WorktreeOrigin {
  path: string;
  /** The project's folder inside the worktree. */
  cwd: string;
  branch: string;
}

/**
 * Refuses a base whose checkout could not follow a promotion, because git has not recorded the location of its files.
 * Throws `conflict`.
 */
async function checkBaseLocated(git: Git, { root, commonDir }: GitRepository, base: string): Promise<void> {
  // git finds the files of a usual git folder next to it.
  if (basename(commonDir) === '.git') return;
  const entries = await listWorktrees(git, root);
  if (!entries.some(({ ref, isUnlocated }) => isUnlocated && ref === branchRef(base))) return;
  throw new SvcError(
    'conflict',
    `${base} is checked out in the main checkout of ${commonDir}, and git has not recorded where that is: nothing could be promoted into it`,
    {
      hint: `record its folder with git --git-dir=${quoteForShell(commonDir)} config core.worktree <folder>, or name another base`,
      data: { base, git_dir: commonDir },
    },
  );
}

/** Lists the branches of this name at remotes, as last fetched: `origin/x`. */
async function listRemoteBranches(git: Git, root: string, branch: string): Promise<string[]> {
  const refs = await git.text(root, ['for-each-ref', '--format=%(refname:lstrip=2)', 'refs/remotes']);
  return refs.split('\n').filter((name) => name.endsWith(`/${branch}`));
}

async function resolveBase(
  git: Git,
  { base }: OriginRequest,
  repository: GitRepository,
  project: GitRepository,
): Promise<{ name: string | null; commit: string }> {
  if (base !== undefined) {
    const commit = await resolveBranchOrCommit(git, repository.root, base);
    if (commit !== null) {
      await checkBaseLocated(git, repository, base);
      return { name: base, commit };
    }
    const [remote] = await listRemoteBranches(git, repository.root, base);
    throw new SvcError(
      'not_found',
      `there is no branch or commit ${JSON.stringify(base)} in ${repository.root}`,
      {
        hint:
          remote === undefined
            ? 'check --base and SVC_GIT_BASE'
            : `a remote has it: git branch ${quoteForShell(base)} ${quoteForShell(remote)}`,
        data: { base },
      },
    );
  }
  if (project.headCommit !== null) return { name: project.head, commit: project.headCommit };
  throw new SvcError('repository_empty', `the branch ${project.head} of ${project.root} has no commit yet`, {
    hint: 'commit something, or name a base',
  });
}

/** Finds the repository and the project's checkout: usually the same folder, so one git call is enough. */
async function findCheckouts(
  git: Git,
  { repositoryPath, projectPath }: Pick<CreateRequest, 'repositoryPath' | 'projectPath'>,
): Promise<{ repository: GitRepository; project: GitRepository }> {
  const repository = await findRepository(git, repositoryPath);
  checkSharedWorktree(repository);
  const project = projectPath === repositoryPath ? repository : await findRepository(git, projectPath);
  return { repository, project };
}

/**
 * Lists branches that prevent git from creating one of this name: branches are files in folders, so none can be below
 * another.
 * @returns their names, as written
 */
async function findConflictingBranches(git: Git, root: string, branch: string): Promise<string[]> {
  const top = branch.split('/')[0]!;
  const list = ['for-each-ref', '--ignore-case', '--format=%(refname:lstrip=2)', branchRef(top)];
  const [refs, ignoresCase] = await Promise.all([
    git.text(root, list),
    git.text(root, ['config', '--type=bool', '--default=false', '--get', 'core.ignoreCase']),
  ]);
  const asKept = (name: string): string => (ignoresCase === 'true' ? name.toLowerCase() : name);
  const wanted = asKept(branch);
  return refs.split('\n').filter((name) => {
    const kept = asKept(name);
    const isOther = name !== branch && kept === wanted;
    return name !== '' && (isOther || wanted.startsWith(`${kept}/`) || kept.startsWith(`${wanted}/`));
  });
}

/** Refuses a repository where a branch called `svc` prevents every session branch. Throws `conflict`. */
async function checkSessionPrefix(git: Git, root: string): Promise<void> {
  const [taken] = await findConflictingBranches(git, root, `${SESSION_PREFIX}new`);
  if (taken === undefined || taken.includes('/')) return;
  throw new SvcError(
    'conflict',
    `${root} has a branch named ${taken}, so git cannot create a branch ${SESSION_PREFIX}… in it: no worker can start there`,
    { hint: `give it another name: git branch -m ${taken} <another>`, data: { branch: taken } },
  );
}

async function resolveStart(
  git: Git,
  request: OriginRequest,
  { repository, project }: Awaited<ReturnType<typeof findCheckouts>>,
): Promise<WorktreeStart> {
  const { name, commit } = await resolveBase(git, request, repository, project);
  const inside = relative(project.root, realpathSync(request.projectPath));
  return { repository: repository.root, base: name, baseCommit: commit, inside };
}

/**
 * Finds where `createWorktree` would start; creates nothing. Throws `not_a_repository`, `repository_empty`,
 * `not_found` (base), and `conflict` if nothing could be promoted into the base.
 */
export const findStart = async (git: Git, request: OriginRequest): Promise<WorktreeStart> =>
  resolveStart(git, request, await findCheckouts(git, request));

/** Finds the same for a plan. Throws `conflict` too if git could not create a session's branch. */
export async function findOrigin(git: Git, request: OriginRequest): Promise<WorktreeOrigin> {
  const checkouts = await findCheckouts(git, request);
  await checkSessionPrefix(git, checkouts.repository.root);
  return resolveStart(git, request, checkouts);
}

/**
 * Removes leftovers of a killed attempt at the path. It cannot hold work: the agent starts only after a complete
 * worktree was recorded. Returns the existing checkouts.
 */
async function clearHalfMadeWorktree(git: Git, root: string, path: string): Promise<WorktreeEntry[]> {
  let entries = await listWorktrees(git, root);
  const findEntry = () => entries.find((each) => samePath(each.path, path));
  let entry = findEntry();
  // git marks a worktree that it is still creating with this lock.
  if (entry?.locked === 'initializing') {
    await endLeftGits(path);
    await git.run(root, ['worktree', 'remove', '--force', '--force', path], { allowFail: true });
    entries = await listWorktrees(git, root);
    entry = findEntry();
  }
  const isEmpty = existsSync(path) && readdirSync(path).length === 0;
  if (isEmpty) rmdirSync(path);
  if (entry && !existsSync(path)) {
    // Only this entry: `git worktree prune` would also forget a user's worktree on a disk that is not mounted.
    await git.run(root, ['worktree', 'remove', '--force', entry.path]);
    return listWorktrees(git, root);
  }
  return entries;
}

const isDone = (): boolean => true;
const isNotDone = (): boolean => false;

/** Reports whether nothing is known of a worktree's path and branch yet, as far as files tell. */
function isUnused(git: Git, root: string, { path, branch }: { path: string; branch: string }): boolean {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) return false;
  const checkout = git.readCheckout(root);
  return checkout !== null && isUnusedBranch(checkout, branchRef(branch));
}

/** Names in our own form need no check by git. */
const isBranchName = async (git: Git, root: string, branch: string): Promise<boolean> =>
  /^svc\/[a-z0-9-]+$/.test(branch) || git.succeeds(root, ['check-ref-format', '--branch', branch]);

/**
 * Creates the session's branch and worktree; a second call for the same session reuses the result of an earlier one.
 * Submodules are not initialised and large files (LFS) stay pointers: both would need the network. Throws
 * `not_a_repository`, `repository_empty`, `not_found` (base), `exists`, `git_failed`.
 */
export async function createWorktree(
  git: Git,
  queue: KeyedQueue,
  request: CreateRequest,
  ahead: Pick<AheadFiles, 'take'> | null,
): Promise<CreatedWorktree> {
  const { worktreePath: path, branch, signal } = request;
  const checkouts = await findCheckouts(git, request);
  const { repository } = checkouts;
  const { root, commonDir } = repository;
  if (!(await isBranchName(git, root, branch))) {
    throw new SvcError('usage', `${JSON.stringify(branch)} is not a branch name`, { data: { branch } });
  }
  const existsError = (what: string): SvcError =>
    new SvcError('exists', `${what} already exists and holds something else`, {
      hint: sentence`see {worktree.status}`,
      data: { path, branch },
    });

  const createInTurn = async () => {
    const start = request.start ?? (await resolveStart(git, request, checkouts));
    const base = { name: start.base, commit: start.baseCommit, inside: start.inside };
    excludeSvcFolder(commonDir);
    const addNewWorktree = (from: string, ...options: string[]) =>
      addWorktree(git, repository, { path, options, from, signal });
    const addNewBranch = () => addNewWorktree(base.commit, '--no-track', '-b', branch);
    // git refuses a path or branch that is in use after all: only then all of them are inspected.
    if (isUnused(git, root, { path, branch })) {
      makeParentFolder(path);
      if (await ahead?.take(repository, { path, branch, commit: base.commit })) return base;
      if (await addNewBranch().then(isDone, isNotDone)) return base;
      if (signal?.aborted) {
        // git has removed the worktree, but not the branch that it had made for it.
        await git.run(root, ['update-ref', '-d', branchRef(branch), base.commit], { allowFail: true });
        throw new SvcError('cancelled', `the worktree ${path} was cancelled`);
      }
    }
    const entries = await clearHalfMadeWorktree(git, root, path);
    const entry = entries.find((candidate) => samePath(candidate.path, path));
    // Another workspace in this repository may have a session of that number.
    const isElsewhere = entries.some((other) => other !== entry && other.ref === branchRef(branch));
    if (isElsewhere) throw existsError(`the branch ${branch}`);
    // git refuses a branch that exists: only then inspect it.
    let refused: SvcError | null = null;
    if (!entry) {
      // A dangling link counts as existing.
      if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw existsError(path);
      makeParentFolder(path);
      refused = await addNewBranch().then(() => null, asSvcError);
      if (refused === null) return base;
    }
    if (refused !== null) {
      await checkSessionPrefix(git, root);
      const [other] = await findConflictingBranches(git, root, branch);
      if (other !== undefined)
        throw existsError(`the branch ${other}, next to which git cannot create ${branch},`);
    }
    const branchCommit = await resolveCommit(git, root, branchRef(branch));
    // An earlier attempt may have started from an older commit of the base; it cannot have its own work.
    const holdsNoWork = branchCommit === null || (await isAncestor(git, root, branchCommit, base.commit));
    if (!holdsNoWork) throw existsError(`the branch ${branch}`);
    const begun = { ...base, commit: branchCommit ?? base.commit };
    if (entry) {
      const isOurs = entry.ref === branchRef(branch);
      if (!isOurs) throw existsError(`a worktree at ${path}`);
      await verifyToplevel(git, path);
      if ((await git.text(path, ['status', '--porcelain', '--untracked-files=all', NOT_INSIDE])) !== '') {
        throw existsError(`a worktree with changes at ${path}`);
      }
      return begun;
    }
    if (branchCommit === null || existsSync(path)) throw refused;
    await addNewWorktree(branch);
    return begun;
  };
  const made = await queue(commonDir, createInTurn, signal);

  // R4: verify before reporting success.
  if ((await locateWorktree(git, path)).head !== made.commit) {
    throw new SvcError('git_failed', `the new worktree ${path} is not at the requested commit`);
  }
  const cwd = join(path, made.inside);
  mkdirSync(cwd, { recursive: true }); // a project folder without a tracked file is not in the checkout
  return { path, cwd, branch, base: made.name, baseCommit: made.commit, repository: root };
}
