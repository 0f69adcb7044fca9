import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SvcError } from '../../errors.ts';
import { filesOf } from './files.ts';
import type { Git } from './git.ts';
import { processesInside, type WorkingFolders } from './live.ts';
import { verifyToplevel } from './look.ts';
import { isMergedAfter } from './merged.ts';
import { mapLimit } from './queue.ts';
import {
  aheadBehind,
  branchOrCommit,
  branchRef,
  isId,
  listWorktrees,
  operationIn,
  type Repository,
  type RepositoryOrPath,
  repositoryAt,
  SESSION_PREFIX,
  samePath,
  type WorktreeEntry,
} from './repository.ts';

export interface StatusRequest {
  repository: RepositoryOrPath;
  /** The branch to compare with; by default the one checked out in `repository`. */
  base?: string;
  /** The folder that holds the session worktrees: what lies in it but is not known to git is listed too. */
  worktreesDir?: string;
}

export interface SessionWorktree {
  /** `svc/<session>`. */
  branch: string;
  /** The branch's commit; null when there is no such branch. */
  head: string | null;
  /** The worktree's folder; null when the branch has none. */
  path: string | null;
  /** What the worktree has checked out, when that is not the session's branch: a branch name or a commit. */
  checkedOut: string | null;
  /** Tracked files are changed, staged or in conflict. */
  dirty: boolean;
  /** Files that are neither tracked nor ignored. */
  untracked: boolean;
  /** Commits that only the branch has, and that only the base has. */
  ahead: number;
  behind: number;
  /** The base holds the branch's work, also when squashed or rebased (R3). */
  merged: boolean;
  /** Branch and worktree do not belong together any more: one of the two is missing. */
  orphan: boolean;
  /** Some process works in it; null when that cannot be known. */
  live: boolean | null;
  locked: boolean;
  /** A merge, rebase, cherry-pick or revert that was left unfinished. */
  operation: string | null;
  /** Why the worktree could not be looked at. */
  unreadable: string | null;
}

/** A session's branch and worktree as git lists them. */
export interface Pairing {
  branch: string;
  head: string | null;
  entry: WorktreeEntry | null;
  /** A folder in `worktreesDir` that git does not know. */
  stray: string | null;
  /** Another checkout of the branch, e.g. the main one while a person looks at the work. */
  elsewhere: string | null;
}

/** The base branch's name: the given one, else what is checked out. */
export function baseNameOf({ root, head }: Repository, base?: string): string {
  const name = base ?? head;
  if (name !== null) return name;
  throw new SvcError('usage', `${root} has no branch checked out, so there is nothing to compare with`, {
    hint: 'name a base branch, or set SVC_GIT_BASE',
  });
}

/** The listing with the base's commit, which there has to be. Throws `not_found`. */
export async function listingWithBase(
  git: Git,
  root: string,
  wanted: { base: string; worktreesDir?: string },
): Promise<Listing & { base: string }> {
  const { pairings, base } = await listing(git, root, wanted);
  if (base !== null) return { pairings, base };
  throw new SvcError('not_found', `there is no branch ${JSON.stringify(wanted.base)} in ${root}`);
}

/** Whether a worktree is one of those that are made in `worktreesDir`. */
export const isIn = (worktreesDir: string | undefined, path: string | null): boolean =>
  worktreesDir !== undefined && path !== null && samePath(join(path, '..'), worktreesDir);

/** What there is of sessions in a repository, and where the base ends now; null when there is no such base. */
export interface Listing {
  pairings: Pairing[];
  base: string | null;
}

/** Session branches with their worktrees, worktrees whose branch is gone, and folders that git does not know. */
export async function listing(
  git: Git,
  root: string,
  { base, worktreesDir }: { base: string; worktreesDir?: string },
): Promise<Listing> {
  const sessionRef = branchRef(SESSION_PREFIX);
  const [refs, entries] = await Promise.all([
    git.text(root, ['for-each-ref', '--format=%(objectname) %(refname)', sessionRef, branchRef(base)]),
    listWorktrees(git, root),
  ]);
  const heads = new Map(
    refs.split('\n').flatMap((line) => {
      const [id = '', ref = ''] = line.split(' ');
      return ref === '' ? [] : [[ref, id] as const];
    }),
  );
  const found = paired(heads, entries, worktreesDir);
  // A tag or a commit will do as well; what is named like a commit is that commit.
  const branch = isId(base) ? undefined : heads.get(branchRef(base));
  return { pairings: found, base: branch ?? (await branchOrCommit(git, root, base)) };
}

function paired(
  heads: ReadonlyMap<string, string>,
  entries: readonly WorktreeEntry[],
  worktreesDir: string | undefined,
): Pairing[] {
  const sessionRef = branchRef(SESSION_PREFIX);
  const found = new Map<string, Pairing>();
  for (const [ref, head] of heads) {
    if (!ref.startsWith(sessionRef)) continue;
    const branch = ref.slice('refs/heads/'.length);
    found.set(branch, { branch, head, entry: null, stray: null, elsewhere: null });
  }
  for (const entry of entries.slice(1)) {
    // An agent may have switched its worktree to another branch; the folder still tells whose it is.
    const own = entry.ref?.startsWith(sessionRef) ? entry.ref.slice('refs/heads/'.length) : null;
    const branch = own ?? `${SESSION_PREFIX}${basename(entry.path)}`;
    const pairing = found.get(branch);
    if (pairing && (pairing.entry === null || own !== null)) pairing.entry = entry;
    else if (!pairing && (own !== null || isIn(worktreesDir, entry.path))) {
      found.set(branch, { branch, head: null, entry, stray: null, elsewhere: null });
    }
  }
  for (const { ref, path } of entries) {
    const pairing = ref?.startsWith(sessionRef) ? found.get(ref.slice('refs/heads/'.length)) : undefined;
    if (pairing && pairing.entry?.path !== path) pairing.elsewhere = path;
  }
  for (const name of worktreesDir === undefined ? [] : foldersIn(worktreesDir)) {
    const path = join(worktreesDir!, name);
    if (entries.some((entry) => samePath(entry.path, path))) continue;
    const branch = `${SESSION_PREFIX}${name}`;
    const pairing = found.get(branch) ?? { branch, head: null, entry: null, stray: null, elsewhere: null };
    if (pairing.entry === null) found.set(branch, { ...pairing, stray: path });
  }
  return [...found.values()];
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isDirectory() ? [entry.name] : [],
    );
  } catch {
    return [];
  }
}

/** Every session branch and worktree of a repository, in the order of their numbers. */
export async function status(
  git: Git,
  workingFolders: WorkingFolders,
  request: StatusRequest,
): Promise<SessionWorktree[]> {
  const repository = await repositoryAt(git, request.repository);
  const { root } = repository;
  const { worktreesDir } = request;
  const wanted = {
    base: baseNameOf(repository, request.base),
    ...(worktreesDir === undefined ? {} : { worktreesDir }),
  };
  const { pairings: list, base: target } = await listingWithBase(git, root, wanted);
  const folders = workingFolders();
  list.sort((one, other) => one.branch.localeCompare(other.branch, 'en', { numeric: true }));
  return mapLimit(list, 4, (pairing) => describe(git, root, target, pairing, folders));
}

async function describe(
  git: Git,
  root: string,
  base: string,
  { branch, head, entry, stray }: Pairing,
  folders: Map<number, string> | null,
): Promise<SessionWorktree> {
  const path = entry?.path ?? stray;
  const isThere = path !== null && statSync(path, { throwIfNoEntry: false }) !== undefined;
  const inside = isThere ? processesInside(path, folders) : [];
  const isOwn = entry === null || entry.ref === branchRef(branch);
  const result: SessionWorktree = {
    branch,
    head,
    path,
    checkedOut: isOwn ? null : (entry.ref?.replace(/^refs\/heads\//, '') ?? entry.head),
    dirty: false,
    untracked: false,
    ahead: 0,
    behind: 0,
    merged: false,
    orphan: head === null || entry === null || !isThere,
    live: inside === null ? null : inside.length > 0,
    locked: entry?.locked != null,
    operation: null,
    unreadable: null,
  };
  if (head !== null) {
    const counts = await aheadBehind(git, root, base, head);
    Object.assign(result, counts);
    result.merged = await isMergedAfter(git, root, { tip: head, target: base, ...counts });
  }
  if (stray !== null) result.unreadable = 'git does not know this folder as a worktree';
  if (entry !== null && isThere) {
    try {
      const gitDir = await verifyToplevel(git, entry.path);
      const files = await filesOf(git, entry.path);
      result.dirty = files.changed.length > 0;
      result.untracked = files.untracked.length > 0;
      result.operation = operationIn(gitDir);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      result.unreadable = error.message;
    }
  }
  return result;
}
