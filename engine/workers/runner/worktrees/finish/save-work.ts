import { randomUUID } from 'node:crypto';
import { accessSync, constants, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../../../core/base/errors.ts';
import { commitTree } from '../git/commit-tree.ts';
import { type Git, NOT_INSIDE, splitRecords, withEnvironment } from '../git/git.ts';
import { clearFlags, copyIndex, type FlaggedEntry } from '../git/index-flags.ts';
import { compareAndSetRef } from '../git/refs.ts';
import { carefulEnvironment } from '../inspect/contents.ts';

/**
 * Replaces a missing or damaged index with that of the last commit. The files themselves are not touched, so
 * differences show as changed. Not done if the index is unreadable for another reason. Returns whether it was done.
 */
export async function repairIndex(
  git: Git,
  path: string,
  gitDir: string,
  head: string | null,
): Promise<boolean> {
  const index = join(gitDir, 'index');
  if (head === null) return false;
  if (existsSync(index)) {
    const list = ['ls-files', '--stage', '--unmerged'];
    const isDamaged =
      isReadable(index) &&
      !(await git.succeeds(path, list)) &&
      // Without the index the command works, so the index is the cause.
      (await git.succeeds(path, list, { env: { GIT_INDEX_FILE: `${index}.svc-none` } }));
    if (!isDamaged) return false;
    renameSync(index, `${index}.svc-damaged`);
  }
  await readCommitIntoIndex(git, path, head, {});
  return true;
}

/** Makes the index that of a commit. In a sparse checkout, absent files are outside of it rather than deleted. */
export async function readCommitIntoIndex(
  git: Git,
  path: string,
  commit: string,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  await git.run(path, ['read-tree', commit], { env });
  const isSparse = await git.text(path, ['config', '--type=bool', '--get', 'core.sparseCheckout'], {
    allowFail: true,
  });
  if (isSparse !== 'true') return;
  const { stdout: input } = await git.run(path, ['ls-files', '-z', '--deleted'], { env });
  await git.run(path, ['update-index', '-z', '--skip-worktree', '--stdin'], { env, input });
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

export interface SavedWork {
  /** HEAD afterwards; null if nothing was ever committed and there was nothing to commit. */
  head: string | null;
  /** A commit was made. */
  wip: boolean;
  /** Paths that git could not add. */
  failed: string[];
}

/** At most this many paths are tried one by one. */
const MAX_SINGLE = 5000;

const formatExclusions = (paths: readonly string[]): string =>
  paths.map((path) => `:(exclude,literal)${path}\0`).join('');

/**
 * Commits everything that is changed, new or deleted and not ignored. Works on a copy of the index with git's
 * plumbing: hooks, a half-done merge or rebase and a dead git's lock cannot interfere, and the worktree's own index
 * is replaced only once the commit exists.
 * @param head the commit checked out, or null
 * @param headTree its tree
 * @param onBranch full name of the ref that may move; otherwise HEAD is detached at the new commit, so that a branch
 * the agent merely switched to does not move
 */
export async function saveWork(
  git: Git,
  request: {
    path: string;
    gitDir: string;
    head: string | null;
    headTree: string | null;
    onBranch: string | null;
    nested: readonly string[];
    /** Entries of the index whose marks hide changes from git. */
    flagged: readonly FlaggedEntry[];
    message: string;
    /** True if the index cannot be trusted: read every file again. */
    isAnew?: boolean;
    /** The environment for reading and writing objects, if not the repository; `takeCommit` then copies the commit there. */
    env?: Readonly<Record<string, string>>;
    takeCommit?(commit: string): Promise<void>;
    /** Receives the tree of the commit that is about to be made. */
    onTree?(tree: string): void;
  },
): Promise<SavedWork> {
  const { path, gitDir, head, headTree, onBranch, nested, flagged, message } = request;
  const index = join(gitDir, 'index');
  const copy = join(gitDir, `index.svc-${randomUUID()}`);
  const env = { ...carefulEnvironment(path), ...request.env, GIT_INDEX_FILE: copy };
  try {
    if (request.isAnew && head !== null) await readCommitIntoIndex(git, path, head, env);
    else if (existsSync(index)) {
      copyIndex(index, copy);
      await clearFlags(git, path, flagged, env);
    }
    const { tree, failed } = await writeFilesTree(git, path, env, nested);
    const isEmpty = headTree === null && (await git.text(path, ['ls-tree', tree], { env })) === '';
    if (tree === headTree || isEmpty) return { head, wip: false, failed };

    request.onTree?.(tree);
    const parents = head === null ? [] : [head];
    const commit = await commitTree(withEnvironment(git, request.env ?? {}), path, {
      tree,
      parents,
      message,
    });
    await request.takeCommit?.(commit);
    const isMoved =
      onBranch !== null
        ? await compareAndSetRef(git, path, onBranch, commit, head, 'work in progress')
        : await git.succeeds(path, [
            'update-ref',
            '--no-deref',
            '-m',
            'svc: work in progress',
            'HEAD',
            commit,
          ]);
    if (!isMoved) {
      throw new SvcError('conflict', `${onBranch ?? 'HEAD'} moved while the work in ${path} was saved`, {
        data: { path, commit },
      });
    }
    renameSync(copy, index);
    return { head: commit, wip: true, failed };
  } finally {
    rmSync(copy, { force: true });
    rmSync(`${copy}.lock`, { force: true });
  }
}

/** Writes a tree of all files that are not ignored. @param env names an index that may be changed */
export async function writeFilesTree(
  git: Git,
  path: string,
  env: Record<string, string>,
  nested: readonly string[],
): Promise<{ tree: string; failed: string[] }> {
  const failed = await addAllFiles(git, path, env, nested);
  return { tree: await git.text(path, ['write-tree'], { env }), failed };
}

/** `git add -A` without the nested repositories; file by file when one of them stops git. Returns what failed. */
async function addAllFiles(
  git: Git,
  path: string,
  env: Record<string, string>,
  nested: readonly string[],
): Promise<string[]> {
  const options = { env, allowFail: true } as const;
  // With --sparse also files outside of a sparse checkout.
  const add = [
    'add',
    '--all',
    '--sparse',
    '--ignore-errors',
    '--pathspec-from-file=-',
    '--pathspec-file-nul',
  ];
  const all = await git.run(path, add, { ...options, input: `.\0${formatExclusions(nested)}` });
  if (all.code === 0) return [];
  const status = await git.run(
    path,
    ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', NOT_INSIDE],
    { env },
  );
  const left = splitRecords(status.stdout)
    .filter((record) => record[1] !== ' ')
    .map((record) => record.slice(3))
    .filter((name) => !nested.includes(name.replace(/\/$/, '')));
  const failed: string[] = [];
  for (const [count, name] of left.entries()) {
    const isAdded =
      count < MAX_SINGLE && (await git.succeeds(path, add, { ...options, input: `:(literal)${name}\0` }));
    if (!isAdded) failed.push(name);
  }
  return failed;
}
