import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makePrivateFolder } from '../../../../core/base/private-files.ts';
import { createSerialQueue } from '../../../../core/base/serial-queue.ts';
import { type Git, withEnvironment } from '../git/git.ts';
import { signFile } from '../git/kept-records.ts';
import type { PlainCheckout } from '../git/plain-checkout.ts';
import { branchRef } from '../git/refs.ts';
import type { GitRepository } from '../git/repository.ts';
import { isUnchanged, measureIndex } from '../inspect/unchanged.ts';

/**
 * Files of future worktrees: one folder with an index for each repository, outside of git's knowledge. No list shows
 * it and no `git worktree prune` removes it. It becomes a worktree when a session takes it.
 */
export interface AheadFiles {
  /** Writes the files for the repositories of these folders, as far as they are missing, and removes all others. Never throws. */
  prepare(folders: readonly string[]): Promise<void>;
  /**
   * Turns the files of a repository into a worktree with a new branch. False if there are none of exactly this commit,
   * or if git refuses the branch: then there is at most the branch.
   * @param worktree its path and branch are not in use
   */
  take(
    repository: Pick<GitRepository, 'root' | 'commonDir'>,
    worktree: { path: string; branch: string; commit: string },
  ): Promise<boolean>;
  /** Removes all files. */
  close(): Promise<void>;
}

/** More repositories than a person works on at the same time. */
const MOST_REPOSITORIES = 4;
/** With more files it takes too long to see that none of them has changed since. */
const MOST_FILES = 5000;
/** Disk space that may wait unused. */
const MOST_BYTES = 256 * 1024 * 1024;

interface Waiting {
  /** With `tree`, the files, and `index`. */
  folder: string;
  commit: string;
  /** The commit's tree object. */
  tree: string;
  /** Identifies the settings that the files were written with, and the index. */
  settings: string;
  index: string;
  /** A git that waits for the branch to create. */
  branching: ChildProcess;
}

/** @param folder where the files wait, on the file system of the worktrees; its content is removed */
export function createAheadFiles(git: Git, folder: string): AheadFiles {
  const enqueue = createSerialQueue();
  /** By the repository's git folder. */
  const waiting = new Map<string, Waiting>();
  /** Commits whose files could not be written. */
  const failed = new Map<string, string>();
  let isCleared = false;
  let isClosed = false;

  async function removeAll(): Promise<void> {
    for (const { branching } of waiting.values()) branching.kill('SIGKILL');
    waiting.clear();
    // A git of a killed engine may still be writing.
    await rm(folder, { recursive: true, force: true, maxRetries: 5 }).catch(() => undefined);
  }

  async function dropFiles(commonDir: string): Promise<void> {
    const dropped = waiting.get(commonDir);
    waiting.delete(commonDir);
    if (dropped !== undefined) await discardWaiting(dropped);
  }

  async function prepareMissing(folders: readonly string[]): Promise<void> {
    if (!isCleared) await removeAll();
    isCleared = true;
    const wanted = listCheckouts(git, folders);
    for (const [commonDir, { commit, settings }] of [...waiting]) {
      const checkout = wanted.get(commonDir);
      const isFresh = checkout?.head === commit && (await git.signSettings(checkout.root)) === settings;
      if (!isFresh) await dropFiles(commonDir);
    }
    for (const [commonDir, checkout] of wanted) {
      if (isClosed || waiting.has(commonDir) || failed.get(commonDir) === checkout.head) continue;
      const written = await writeFiles(git, checkout, join(folder, randomUUID())).catch(() => null);
      if (written === null) failed.set(commonDir, checkout.head);
      else waiting.set(commonDir, written);
    }
  }

  return {
    prepare: (folders) => enqueue(() => prepareMissing(folders)).catch(() => undefined),
    async take({ root, commonDir }, worktree) {
      const found = waiting.get(commonDir);
      if (found?.commit !== worktree.commit) return false;
      waiting.delete(commonDir);
      try {
        return await becomeWorktree(git, { root, commonDir }, found, worktree);
      } catch {
        return false; // changed in between, or another file system
      } finally {
        void discardWaiting(found);
      }
    },
    async close() {
      isClosed = true;
      await enqueue(removeAll);
    },
  };
}

function discardWaiting({ folder, branching }: Waiting): Promise<void> {
  branching.kill('SIGKILL');
  return removeFolder(folder);
}

const removeFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true }).catch(() => undefined);

/** Finds the checkouts of folders, one for each repository; leaves out those that only git can read. */
function listCheckouts(git: Git, folders: readonly string[]): Map<string, PlainCheckout> {
  const found = new Map<string, PlainCheckout>();
  for (const folder of folders) {
    if (found.size === MOST_REPOSITORIES) break;
    try {
      const checkout = git.readCheckout(folder, { discover: true });
      if (checkout !== null && !found.has(checkout.commonDir)) found.set(checkout.commonDir, checkout);
    } catch {
      // In another repository than at its first use.
    }
  }
  return found;
}

/** Files in a git folder with which git would write other files into a new worktree: keys, and a selection. */
const DECIDES_FILES = ['git-crypt', join('info', 'sparse-checkout')];

/** Reports whether the files of a checkout may wait: few and small ones, that any worktree would have. */
function mayWait({ gitDir, commonDir }: PlainCheckout): boolean {
  const size = measureIndex(gitDir);
  if (size === null || size.files > MOST_FILES || size.bytes > MOST_BYTES) return false;
  return [gitDir, commonDir].every((folder) =>
    DECIDES_FILES.every((name) => !existsSync(join(folder, name))),
  );
}

/** Writes the files and the index of a checkout's commit. Null for one whose files may not wait. */
async function writeFiles(git: Git, checkout: PlainCheckout, folder: string): Promise<Waiting | null> {
  const { root, commonDir, head: commit } = checkout;
  const settings = await git.signSettings(root);
  const tree = (await git.readCommit(commonDir, commit))?.tree;
  if (settings === null || tree === undefined || !mayWait(checkout)) return null;
  const making = `${folder}.new`;
  try {
    makePrivateFolder(dirname(dirname(folder)), making);
    mkdirSync(join(making, 'tree'));
    const own = {
      GIT_DIR: commonDir,
      GIT_WORK_TREE: join(making, 'tree'),
      GIT_INDEX_FILE: join(making, 'index'),
    };
    // The form of the index that is read without git.
    const plain = ['-c', 'core.splitIndex=false', '-c', 'index.version=2'];
    await withEnvironment(git, own).run(root, [...plain, 'read-tree', '--reset', '-u', commit]);
    if (!isUnchanged(join(making, 'tree'), making, tree, () => false))
      throw new Error('git wrote other files');
    const branching = await openBranching(git, commonDir);
    renameSync(making, folder);
    return { folder, commit, tree, settings, index: signFile(join(folder, 'index')), branching };
  } catch (error) {
    await removeFolder(making);
    throw error;
  }
}

/** Starts a git that will create one branch: the start of a process takes longer than all else that a take has to wait for. */
async function openBranching(git: Git, commonDir: string): Promise<ChildProcess> {
  const reason = ['--create-reflog', '-m', 'svc: created for a session'];
  const child = await git.open(commonDir, ['update-ref', '--no-deref', ...reason, '--stdin']);
  for (const each of [child, child.stdin, child.stdout, child.stderr]) each?.on('error', () => undefined);
  for (const handle of [child, ...child.stdio] as { unref(): void }[]) handle.unref();
  return child;
}

/** How long the creation of a branch may take. */
const BRANCH_MS = 10_000;

/** Has a waiting git create a branch. False if it refuses, or has ended. */
async function createBranchBy(child: ChildProcess, ref: string, commit: string): Promise<boolean> {
  if (child.exitCode !== null || child.signalCode !== null) return false;
  child.ref();
  const limit = setTimeout(() => child.kill('SIGKILL'), BRANCH_MS);
  const closed = once(child, 'close');
  child.stdin?.end(`create ${ref} ${commit}\n`);
  const [code] = await closed;
  clearTimeout(limit);
  return code === 0;
}

/** Makes the files a worktree, after all of them were compared with the index once more. */
async function becomeWorktree(
  git: Git,
  { root, commonDir }: Pick<GitRepository, 'root' | 'commonDir'>,
  { folder, tree, settings, index, branching }: Waiting,
  { path, branch, commit }: { path: string; branch: string; commit: string },
): Promise<boolean> {
  const own = join(commonDir, 'worktrees', basename(path));
  if (existsSync(own) || signFile(join(folder, 'index')) !== index) return false;
  if ((await git.signSettings(root)) !== settings) return false;
  const branched = createBranchBy(branching, branchRef(branch), commit);
  // While git works.
  const isExact = isUnchanged(join(folder, 'tree'), folder, tree, () => false);
  if (!(await branched) || !isExact) return false;
  moveIntoPlace({ folder, commonDir, own, path, branch });
  return true;
}

/**
 * Registers a worktree as git does. Until it is whole it has the lock of one that git is creating, so that nothing
 * removes it, and a later start knows that it holds no work.
 */
function moveIntoPlace({
  folder,
  commonDir,
  own,
  path,
  branch,
}: Record<'folder' | 'commonDir' | 'own' | 'path' | 'branch', string>): void {
  const made = join(folder, 'git');
  // Not with its parents: a data folder that was deleted must not come back.
  mkdirSync(made);
  mkdirSync(join(made, 'logs'));
  writeFileSync(join(made, 'locked'), 'initializing');
  writeFileSync(join(made, 'HEAD'), `ref: ${branchRef(branch)}\n`);
  writeFileSync(join(made, 'commondir'), '../..\n');
  writeFileSync(join(made, 'gitdir'), `${join(path, '.git')}\n`);
  // HEAD begins where its branch does.
  const log = join(commonDir, 'logs', branchRef(branch));
  if (existsSync(log)) copyFileSync(log, join(made, 'logs', 'HEAD'));
  renameSync(join(folder, 'index'), join(made, 'index'));
  writeFileSync(join(folder, 'tree', '.git'), `gitdir: ${own}\n`);
  mkdirSync(dirname(own), { recursive: true });
  renameSync(made, own);
  try {
    renameSync(join(folder, 'tree'), path);
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    throw error;
  }
  rmSync(join(own, 'locked'));
}
