import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { SvcError } from '../../errors.ts';
import { type Git, records } from './git.ts';

export interface Repository {
  /** Top folder of the checkout that holds the path. */
  root: string;
  /** The git folder that all worktrees of the repository share. */
  commonDir: string;
  /** The branch checked out there; null when HEAD is detached. */
  head: string | null;
  /** Null only when a new branch without a commit is checked out. */
  headCommit: string | null;
}

export interface WorktreeEntry {
  path: string;
  /** Null when nothing is committed yet. */
  head: string | null;
  /** Full ref name, or null when detached. */
  ref: string | null;
  /** The reason of the lock (may be empty), or null when not locked. */
  locked: string | null;
  /** git found its folder missing. */
  prunable: boolean;
}

export const SESSION_PREFIX = 'svc/';
export const branchRef = (branch: string): string => `refs/heads/${branch}`;

/** `svc/s-88` → `s-88`: the name that saved refs are kept under. */
export const sessionOf = (branch: string): string =>
  branch.startsWith(SESSION_PREFIX) ? branch.slice(SESSION_PREFIX.length) : branch;

/** The commit that a revision names, or null. */
export async function commitOf(git: Git, cwd: string, revision: string): Promise<string | null> {
  if (revision === '' || revision.startsWith('-')) return null;
  const { code, stdout } = await git.run(cwd, ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`], {
    allowFail: true,
  });
  return code === 0 ? stdout.trim() : null;
}

/** The commit of a branch, or else of a tag or commit of that name; or null. */
export async function branchOrCommit(git: Git, cwd: string, name: string): Promise<string | null> {
  const isId = /^[0-9a-f]{40,64}$/.test(name);
  return (isId ? null : await commitOf(git, cwd, branchRef(name))) ?? (await commitOf(git, cwd, name));
}

export const isAncestor = (git: Git, cwd: string, ancestor: string, commit: string): Promise<boolean> =>
  git.succeeds(cwd, ['merge-base', '--is-ancestor', ancestor, commit]);

/** Commits that only the one has (`ahead`), and that only the base has. */
export async function aheadBehind(
  git: Git,
  cwd: string,
  base: string,
  commit: string,
): Promise<{ ahead: number; behind: number }> {
  const counts = await git.text(cwd, ['rev-list', '--left-right', '--count', `${base}...${commit}`, '--']);
  const [behind = '0', ahead = '0'] = counts.split('\t');
  return { ahead: Number(ahead), behind: Number(behind) };
}

/** The repository that contains a folder. Throws `not_a_repository`, or `repository_empty` for one without commits. */
export async function repositoryOf(git: Git, path: string): Promise<Repository> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new SvcError('not_a_repository', `${path} is not a folder`, { data: { path } });
  }
  const look = { allowFail: true, discover: true } as const;
  const found = await git.run(
    path,
    ['rev-parse', '--path-format=absolute', '--is-bare-repository', '--git-common-dir'],
    look,
  );
  if (found.code !== 0) {
    // Anything else (an owner git does not trust, a broken config) has a remedy of its own and keeps git's words.
    if (!/not a git repository/i.test(found.stderr)) {
      throw new SvcError(
        'git_failed',
        `git rev-parse: ${found.stderr.split('\n')[0]?.replace(/^fatal: /, '')}`,
      );
    }
    throw new SvcError('not_a_repository', `${path} is not in a git repository`, {
      hint: 'run `git init` and commit something, or dispatch with --inplace',
      data: { path },
    });
  }
  const [isBare, commonDir = ''] = found.stdout.trimEnd().split('\n');
  const empty = (what: string): SvcError =>
    new SvcError('repository_empty', `the repository at ${path} ${what}`, {
      hint: 'a worktree needs a checkout with at least one commit',
      data: { path },
    });
  if (isBare === 'true') throw empty('is bare: it has no checkout to work from');
  const top = await git.run(path, ['rev-parse', '--path-format=absolute', '--show-toplevel'], look);
  if (top.code !== 0) {
    throw new SvcError('not_a_repository', `${path} is inside a .git folder`, { data: { path } });
  }
  const root = top.stdout.replace(/\n$/, '');
  const [symbolic, headCommit] = await Promise.all([
    git.run(root, ['symbolic-ref', '--quiet', '--short', 'HEAD'], { allowFail: true }),
    commitOf(git, root, 'HEAD'),
  ]);
  if (headCommit === null && (await git.text(root, ['rev-list', '--all', '--max-count=1'])) === '') {
    throw empty('has no commits yet');
  }
  return { root, commonDir, head: symbolic.code === 0 ? symbolic.stdout.trim() : null, headCommit };
}

/**
 * A link among the files that git writes for a worktree: git makes none, and would follow it to a file of somebody
 * else. A worker can write that folder, also a confined one. Null without one, and for a main checkout.
 */
function linkIn(gitDir: string): string | null {
  if (basename(dirname(gitDir)) !== 'worktrees') return null;
  for (const folder of [gitDir, join(gitDir, 'logs')]) {
    if (!existsSync(folder)) continue;
    const found = readdirSync(folder, { withFileTypes: true }).find((entry) => entry.isSymbolicLink());
    if (found !== undefined) return join(folder, found.name);
  }
  return null;
}

/** R2: git in this folder must mean this folder. Throws `worktree_unsafe`. */
export async function verifyToplevel(git: Git, path: string): Promise<void> {
  const unsafe = (reason: string): SvcError =>
    new SvcError('worktree_unsafe', `${path} ${reason}`, { hint: 'look at it by hand', data: { path } });
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    throw unsafe('does not exist or cannot be read');
  }
  const look = ['rev-parse', '--show-toplevel', '--absolute-git-dir'];
  const { code, stdout } = await git.run(path, look, { allowFail: true });
  if (code !== 0) throw unsafe('is not a git worktree any more');
  // A path may hold a newline.
  const lines = stdout.replace(/\n$/, '').split('\n');
  const first = (count: number): string => lines.slice(0, count).join('\n');
  const isSame = (folder: string): boolean => existsSync(folder) && realpathSync(folder) === real;
  const end = lines.findIndex((_, at) => isSame(first(at + 1)));
  if (end === -1) throw unsafe(`belongs to the checkout ${lines[0]}`);
  const gitDir = lines.slice(end + 1).join('\n');
  const link = linkIn(gitDir);
  if (link !== null) throw unsafe(`has a link in its git folder: ${link}`);
}

/** Every checkout of the repository, the main one first. */
export async function listWorktrees(git: Git, root: string): Promise<WorktreeEntry[]> {
  const { stdout } = await git.run(root, ['worktree', 'list', '--porcelain', '-z']);
  const entries: WorktreeEntry[] = [];
  for (const line of records(stdout)) {
    const [key = '', ...rest] = line.split(' ');
    const value = rest.join(' ');
    const entry = entries.at(-1);
    if (key === 'worktree')
      entries.push({ path: value, head: null, ref: null, locked: null, prunable: false });
    else if (entry === undefined) continue;
    else if (key === 'HEAD') entry.head = /^0+$/.test(value) ? null : value;
    else if (key === 'branch') entry.ref = value;
    else if (key === 'locked') entry.locked = value;
    else if (key === 'prunable') entry.prunable = true;
  }
  return entries;
}

/** The git folder of one worktree. */
export const gitDirOf = (git: Git, path: string): Promise<string> =>
  git.text(path, ['rev-parse', '--absolute-git-dir']);

const OPERATIONS = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
] as const;

/** The operation that was left unfinished in a worktree, or null. */
export const operationIn = (gitDir: string): string | null =>
  OPERATIONS.find(([file]) => existsSync(join(gitDir, file)))?.[1] ?? null;

/** The branch that a rebase in this worktree will move when it ends, or null. */
export function rebasedBranch(gitDir: string): string | null {
  for (const folder of ['rebase-merge', 'rebase-apply']) {
    try {
      return readFileSync(join(gitDir, folder, 'head-name'), 'utf8').trim();
    } catch {
      // no such rebase
    }
  }
  return null;
}

/** Refs of sessions: a worker can make one of them another name of a branch of the user, which must not follow. */
const OURS = /^refs\/(?:heads\/)?svc\//;

/** Sets a ref only if it still has the value that was read; `null` stands for "does not exist". */
export const compareAndSet = (
  git: Git,
  cwd: string,
  ref: string,
  next: string,
  before: string | null,
  reason: string,
): Promise<boolean> =>
  git.succeeds(cwd, [
    'update-ref',
    ...(OURS.test(ref) ? ['--no-deref'] : []),
    '--create-reflog',
    '-m',
    `svc: ${reason}`,
    ref,
    next,
    before ?? '0'.repeat(next.length),
  ]);

/** The same folder, whatever links lead to it. */
export function samePath(one: string, other: string): boolean {
  const real = (path: string): string => {
    try {
      return realpathSync(path);
    } catch {
      // A folder that is gone: resolve the part that is left.
      const parent = resolve(path, '..');
      return parent === path ? path : join(real(parent), path.slice(parent.length));
    }
  };
  return isAbsolute(one) && isAbsolute(other) && real(one) === real(other);
}
