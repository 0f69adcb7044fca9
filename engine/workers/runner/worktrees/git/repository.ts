import { existsSync, realpathSync, statSync } from 'node:fs';
import { basename, isAbsolute, join, resolve, sep } from 'node:path';
import { SvcError } from '../../../../core/base/errors.ts';
import { quoteForShell } from '../../../../core/base/text.ts';
import { type Git, splitRecords } from './git.ts';
import {
  findMainCheckout,
  findTopAround,
  isCheckoutOf,
  looksLikeBareRepository,
  readGitFolders,
} from './git-folders.ts';
import { isObjectId, resolveCommit, splitLines, trimBranchPrefix } from './refs.ts';
import { readRegularFile } from './regular-file.ts';

export interface GitRepository {
  /** Top folder of the checkout that contains the path. */
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
  /** True if git reports that its folder is missing. */
  prunable: boolean;
  /** True if `path` is the git folder of a main checkout, and the location of its files is recorded nowhere. */
  isUnlocated: boolean;
}

/** One git query for everything about the repository around a folder. */
const WHOLE = [
  'rev-parse',
  '--path-format=absolute',
  '--is-bare-repository',
  '--git-common-dir',
  '--show-toplevel',
  '--is-inside-work-tree',
  'HEAD^{commit}',
  '--symbolic-full-name',
  'HEAD',
];

/**
 * Parses git's combined answer. Null if parts have to be queried one by one: bare, nothing committed yet, a newline
 * in the path, or a checkout that `core.worktree` has moved to where git finds no repository or another one.
 */
function parseRepository(stdout: string): GitRepository | null {
  const lines = splitLines(stdout);
  const [isBare, commonDir = '', root = '', isInside, headCommit, ref = ''] = lines;
  const isPlain = lines.length === 6 && isBare === 'false' && isInside === 'true' && isObjectId(headCommit);
  if (!isPlain || !(ref === 'HEAD' || ref.startsWith('refs/heads/'))) return null;
  if (!existsSync(join(root, '.git'))) return null;
  return { root, commonDir, head: ref === 'HEAD' ? null : trimBranchPrefix(ref), headCommit };
}

/** Finds the repository that contains a folder. Throws `not_a_repository`, or `repository_empty` for one without commits. */
export async function findRepository(git: Git, path: string): Promise<GitRepository> {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new SvcError('not_a_repository', `${path} is not a folder`, { data: { path } });
  }
  const plain = git.readCheckout(path, { discover: true });
  if (plain !== null) {
    const { root, commonDir, ref, head } = plain;
    return { root, commonDir, head: ref === null ? null : trimBranchPrefix(ref), headCommit: head };
  }
  const look = { allowFail: true, discover: true } as const;
  const whole = await git.run(path, WHOLE, look);
  return (whole.code === 0 ? parseRepository(whole.stdout) : null) ?? findRepositoryByParts(git, path);
}

/** With per-worktree settings, git applies the shared ones to all worktrees, including those of the main one. */
function sharedSettingError(common: string, name: string, value: string): SvcError {
  const git = `git --git-dir=${quoteForShell(common)} config`;
  return new SvcError(
    'conflict',
    `${name} of ${common} applies to all its worktrees, since extensions.worktreeConfig is on, so git cannot use any of them`,
    {
      hint: `move it to the main checkout: ${git} --unset ${name}, then ${git} --worktree ${name} ${quoteForShell(value)}`,
      data: { git_dir: common },
    },
  );
}

/**
 * Refuses a repository in which git cannot create a usable worktree, because its `core.worktree` applies to all of
 * them. Throws `conflict`.
 */
export function checkSharedWorktree({ commonDir }: Pick<GitRepository, 'commonDir'>): void {
  // git records none next to a usual git folder.
  if (basename(commonDir) === '.git') return;
  const shared = readRegularFile(join(commonDir, 'config')) ?? '';
  const [, worktree] = /^\s*worktree\s*=\s*(.+?)\s*$/m.exec(shared) ?? [];
  if (worktree !== undefined && /^\s*worktreeConfig\s*=\s*true\s*$/im.test(shared))
    throw sharedSettingError(commonDir, 'core.worktree', worktree);
}

/** A repository found a moment ago by the same operation, or a folder in it. */
export type RepositoryOrPath = GitRepository | string;

export const resolveRepository = async (git: Git, place: RepositoryOrPath): Promise<GitRepository> =>
  typeof place === 'string' ? findRepository(git, place) : place;

/** Like `findRepository`, with one query for each part, so that the error can name the missing one. */
async function findRepositoryByParts(git: Git, path: string): Promise<GitRepository> {
  const look = { allowFail: true, discover: true } as const;
  const found = await git.run(
    path,
    ['rev-parse', '--path-format=absolute', '--is-bare-repository', '--git-common-dir'],
    look,
  );
  const emptyRepositoryError = (what: string): SvcError =>
    new SvcError('repository_empty', `the repository at ${path} ${what}`, {
      hint: 'a worktree needs a checkout with at least one commit',
      data: { path },
    });
  if (found.code !== 0) {
    // git must not search by itself.
    const isInside = resolve(path).split(sep).includes('.git');
    if (isInside)
      throw new SvcError('not_a_repository', `${path} is inside a .git folder`, { data: { path } });
    // Decided by files: git's messages contain paths, which may contain any words.
    const top = findTopAround(realFolder(path));
    if (top !== null && !existsSync(join(top, '.git')))
      throw emptyRepositoryError('is bare: it has no checkout to work from');
    // Other failures (an owner git does not trust, a broken config) have different remedies and keep git's message.
    if (top !== null) {
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
  const around = findTopAround(realFolder(path));
  const linked = around === null ? null : readGitFolders(around);
  if (isBare === 'true' && linked !== null && linked.own !== linked.common)
    throw sharedSettingError(linked.common, 'core.bare', 'true');
  if (isBare === 'true') throw emptyRepositoryError('is bare: it has no checkout to work from');
  const top = await git.run(path, ['rev-parse', '--path-format=absolute', '--show-toplevel'], look);
  if (top.code !== 0) {
    throw new SvcError('not_a_repository', `${path} is inside a .git folder`, { data: { path } });
  }
  const root = top.stdout.replace(/\n$/, '');
  const [symbolic, headCommit] = await Promise.all([
    git.run(root, ['symbolic-ref', '--quiet', 'HEAD'], { allowFail: true }),
    resolveCommit(git, root, 'HEAD'),
  ]);
  if (headCommit === null && (await git.text(root, ['rev-list', '--all', '--max-count=1'])) === '') {
    throw emptyRepositoryError('has no commits yet');
  }
  return {
    root,
    commonDir,
    head: symbolic.code === 0 ? trimBranchPrefix(symbolic.stdout.trim()) : null,
    headCommit,
  };
}

/** Lists every checkout of the repository, the main one first. A bare repository has none. */
export async function listWorktrees(git: Git, root: string): Promise<WorktreeEntry[]> {
  const { stdout } = await git.run(root, ['worktree', 'list', '--porcelain', '-z']);
  const entries: WorktreeEntry[] = [];
  let isBare = false;
  for (const line of splitRecords(stdout)) {
    const [key = '', ...rest] = line.split(' ');
    const value = rest.join(' ');
    const entry = entries.at(-1);
    if (key === 'worktree')
      entries.push({ path: value, head: null, ref: null, locked: null, prunable: false, isUnlocated: false });
    else if (entry === undefined) continue;
    else if (key === 'HEAD') entry.head = /^0+$/.test(value) ? null : value;
    else if (key === 'branch') entry.ref = value;
    else if (key === 'locked') entry.locked = value;
    else if (key === 'prunable') entry.prunable = true;
    else if (key === 'bare') isBare = true;
  }
  const [main, ...linked] = entries;
  if (main === undefined || isBare) return linked;
  // With per-worktree settings git does not see it from a linked one.
  if (/^\s*bare\s*=\s*true\s*$/im.test(readRegularFile(join(main.path, 'config.worktree')) ?? ''))
    return linked;
  return [locateMain(main, root), ...linked];
}

/** git treats the folder above `.git` as the main checkout, otherwise the git folder itself. */
function locateMain(main: WorktreeEntry, root: string): WorktreeEntry {
  if (!looksLikeBareRepository(main.path)) return main;
  const path = isCheckoutOf(root, main.path) ? root : findMainCheckout(main.path);
  return path === null ? { ...main, isUnlocated: true } : { ...main, path };
}

/** The git folder of one worktree. */
export const readGitDir = (git: Git, path: string): Promise<string> =>
  git.text(path, ['rev-parse', '--absolute-git-dir']);

const OPERATIONS = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['MERGE_HEAD', 'merge'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
] as const;

/** Returns the unfinished operation in a worktree, or null. */
export const findOperation = (gitDir: string): string | null =>
  OPERATIONS.find(([file]) => existsSync(join(gitDir, file)))?.[1] ?? null;

/** Returns the branch that a rebase in this worktree will move when it ends, or null. */
export function readRebasedBranch(gitDir: string): string | null {
  for (const folder of ['rebase-merge', 'rebase-apply']) {
    const name = readRegularFile(join(gitDir, folder, 'head-name'));
    if (name !== null) return name.trim();
  }
  return null;
}

/** Reports whether something exists, or may exist: an inaccessible path is not gone. */
export function mayExist(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}

/** Resolves links in a folder's path; of a missing folder, in the part that exists. */
export function realFolder(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = resolve(path, '..');
    return parent === path ? path : join(realFolder(parent), path.slice(parent.length));
  }
}

/** Returns the same folder for all links that lead to it. */
export const samePath = (one: string, other: string): boolean =>
  isAbsolute(one) && (one === other || (isAbsolute(other) && realFolder(one) === realFolder(other)));
