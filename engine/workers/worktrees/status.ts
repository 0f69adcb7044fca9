import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { SvcError } from '../../errors.ts';
import { type Git, NOT_INSIDE, records } from './git.ts';
import { processesInside, type WorkingFolders } from './live.ts';
import { isMerged } from './merged.ts';
import { mapLimit } from './queue.ts';
import {
  aheadBehind,
  branchOrCommit,
  branchRef,
  gitDirOf,
  listWorktrees,
  operationIn,
  repositoryOf,
  SESSION_PREFIX,
  samePath,
  verifyToplevel,
  type WorktreeEntry,
} from './repository.ts';

export interface StatusRequest {
  repository: string;
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
export async function baseOf(git: Git, repository: string, base?: string): Promise<string> {
  const name = base ?? (await repositoryOf(git, repository)).head;
  if (name === null) {
    throw new SvcError(
      'usage',
      `${repository} has no branch checked out, so there is nothing to compare with`,
      {
        hint: 'name a base branch, or set SVC_GIT_BASE',
      },
    );
  }
  if ((await branchOrCommit(git, repository, name)) === null) {
    throw new SvcError('not_found', `there is no branch ${JSON.stringify(name)} in ${repository}`);
  }
  return name;
}

/** Whether a worktree is one of those that are made in `worktreesDir`. */
export const isIn = (worktreesDir: string | undefined, path: string | null): boolean =>
  worktreesDir !== undefined && path !== null && samePath(join(path, '..'), worktreesDir);

/** Session branches with their worktrees, worktrees whose branch is gone, and folders that git does not know. */
export async function pairings(git: Git, root: string, worktreesDir?: string): Promise<Pairing[]> {
  const [refs, entries] = await Promise.all([
    git.text(root, [
      'for-each-ref',
      '--format=%(refname:lstrip=2) %(objectname)',
      `refs/heads/${SESSION_PREFIX}`,
    ]),
    listWorktrees(git, root),
  ]);
  const found = new Map<string, Pairing>();
  for (const line of refs.split('\n').filter(Boolean)) {
    const [branch = '', head = ''] = line.split(' ');
    found.set(branch, { branch, head, entry: null, stray: null, elsewhere: null });
  }
  const sessionRef = branchRef(SESSION_PREFIX);
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

/** What git says of the files in a worktree. */
export async function filesOf(git: Git, path: string): Promise<{ changed: string[]; untracked: string[] }> {
  const { stdout } = await git.run(path, [
    'status',
    '--porcelain=v1',
    '-z',
    '--untracked-files=all',
    '--no-renames',
    NOT_INSIDE,
  ]);
  const lines = records(stdout);
  const named = (isWanted: (record: string) => boolean): string[] =>
    lines.filter(isWanted).map((record) => record.slice(3));
  return {
    changed: named((record) => !record.startsWith('?? ')),
    untracked: named((record) => record.startsWith('?? ')),
  };
}

/** Every session branch and worktree of a repository, in the order of their numbers. */
export async function status(
  git: Git,
  workingFolders: WorkingFolders,
  request: StatusRequest,
): Promise<SessionWorktree[]> {
  const { root } = await repositoryOf(git, request.repository);
  const base = await baseOf(git, root, request.base);
  const target = (await branchOrCommit(git, root, base)) ?? base;
  const folders = workingFolders();
  const list = await pairings(git, root, request.worktreesDir);
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
    Object.assign(result, await aheadBehind(git, root, base, head));
    result.merged = await isMerged(git, root, head, base);
  }
  if (stray !== null) result.unreadable = 'git does not know this folder as a worktree';
  if (entry !== null && isThere) {
    try {
      await verifyToplevel(git, entry.path);
      const files = await filesOf(git, entry.path);
      result.dirty = files.changed.length > 0;
      result.untracked = files.untracked.length > 0;
      result.operation = operationIn(await gitDirOf(git, entry.path));
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      result.unreadable = error.message;
    }
  }
  return result;
}
