import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SvcError } from '../../errors.ts';
import { type Git, records } from './git.ts';
import { processesInside, type WorkingFolders } from './live.ts';
import { findNested } from './nested.ts';
import type { Queue } from './queue.ts';
import {
  branchRef,
  commitOf,
  compareAndSet,
  gitDirOf,
  isAncestor,
  listWorktrees,
  operationIn,
  sessionOf,
  verifyToplevel,
} from './repository.ts';
import { repairIndex, saveWork } from './wip.ts';

export interface FinishRequest {
  path: string;
  /** The session's branch. */
  branch: string;
  /** The commit that the worktree was made from; the counts are relative to it. */
  baseCommit: string;
  /** Of the commit that saves a dirty end. */
  message: string;
  /** Any checkout of the repository, for the counts when the worktree itself is broken. */
  repository?: string;
}

export interface FinishResult {
  /** New commits on the session's branch and the saved refs, work in progress included. */
  commits: number;
  /** Where the session's branch ended; null when it does not exist. */
  head: string | null;
  files: number;
  insertions: number;
  deletions: number;
  /** The end was dirty and was committed as work in progress. */
  wip: boolean;
  /** Refs that hold commits which the session's branch could not take in by moving forward. */
  savedRefs: string[];
  /** Git repositories inside the worktree: not saved, so the worktree is never removed by itself. */
  nested: string[];
  /** A merge, rebase, cherry-pick or revert that was left unfinished (and still is). */
  operation: string | null;
  /** Why something could not be saved, if so; the worktree must then be kept. */
  unsafe?: string;
}

const nothing: FinishResult = {
  commits: 0,
  head: null,
  files: 0,
  insertions: 0,
  deletions: 0,
  wip: false,
  savedRefs: [],
  nested: [],
  operation: null,
};

/** Added, removed and changed between two commits. */
export async function changes(
  git: Git,
  cwd: string,
  from: string,
  to: string,
): Promise<{ path: string; insertions: number; deletions: number }[]> {
  const { stdout } = await git.run(cwd, ['diff-tree', '-r', '-z', '--numstat', '--no-renames', from, to]);
  return records(stdout).map((record) => {
    const [insertions = '', deletions = '', ...path] = record.split('\t');
    // A binary file counts no lines: git prints "-".
    return { path: path.join('\t'), insertions: Number(insertions) || 0, deletions: Number(deletions) || 0 };
  });
}

/** Removes the locks of a git that died with its worker. Only while nothing works in the worktree. */
async function removeStaleLocks(git: Git, path: string, gitDir: string, branch: string): Promise<void> {
  const common = await git.text(path, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
  for (const file of [
    join(gitDir, 'index.lock'),
    join(gitDir, 'HEAD.lock'),
    join(common, `${branchRef(branch)}.lock`),
  ]) {
    rmSync(file, { force: true });
  }
}

/** Makes sure that a ref holds the commits at HEAD. Returns the refs that had to be made beside the branch. */
async function holdHead(
  git: Git,
  {
    path,
    branch,
    head,
    headRef,
    isBusy,
  }: {
    path: string;
    branch: string;
    head: string;
    headRef: string | null;
    isBusy: boolean;
  },
): Promise<string[]> {
  const ref = branchRef(branch);
  if (headRef === ref) return [];
  const tip = await commitOf(git, path, ref);
  const attach = async (): Promise<void> => {
    const isElsewhere = (await listWorktrees(git, path)).some((entry) => entry.ref === ref);
    // In the middle of a rebase HEAD has to stay detached.
    if (!isBusy && !isElsewhere)
      await git.run(path, ['symbolic-ref', '-m', 'svc: back on its branch', 'HEAD', ref]);
  };
  if (tip === head) {
    await attach();
    return [];
  }
  if (tip !== null && (await isAncestor(git, path, head, tip))) return [];
  if (tip === null || (await isAncestor(git, path, tip, head))) {
    if (await compareAndSet(git, path, ref, head, tip, 'commits made beside the branch')) {
      await attach();
      return [];
    }
  }
  return [await saveCommit(git, path, `refs/svc/${sessionOf(branch)}/head`, head)];
}

/** Keeps a commit under a ref, never moving one that holds something else. Returns the ref's name. */
async function saveCommit(git: Git, cwd: string, ref: string, commit: string): Promise<string> {
  for (const name of [ref, `${ref}-${commit.slice(0, 12)}`]) {
    const held = await commitOf(git, cwd, name);
    if (held === commit) return name;
    if (held !== null && !(await isAncestor(git, cwd, held, commit))) continue;
    if (await compareAndSet(git, cwd, name, commit, held, 'kept')) return name;
  }
  throw new SvcError('git_failed', `the commit ${commit} could not be saved under ${ref}`, {
    data: { commit },
  });
}

/** The other side of an unfinished merge may be on no branch at all, e.g. when it was fetched by hand. */
async function saveMergeHead(git: Git, path: string, gitDir: string, branch: string): Promise<string[]> {
  let commits: string[];
  try {
    commits = readFileSync(join(gitDir, 'MERGE_HEAD'), 'utf8').split('\n').filter(Boolean);
  } catch {
    return [];
  }
  const saved: string[] = [];
  for (const commit of commits) {
    const holder = await git.text(path, ['for-each-ref', '--count=1', '--contains', commit]);
    if (holder === '')
      saved.push(await saveCommit(git, path, `refs/svc/${sessionOf(branch)}/merge-head`, commit));
  }
  return saved;
}

/**
 * Ends a session's worktree: a dirty end is committed on the session's branch, and commits that the agent has made
 * elsewhere in its worktree are held by a ref. Called after the worker and all its processes are gone. Never throws
 * for the state of the worktree: what could not be saved is told in `unsafe`.
 */
export async function finish(
  git: Git,
  folders: WorkingFolders,
  queue: Queue,
  request: FinishRequest,
): Promise<FinishResult> {
  const { path, branch, baseCommit, message } = request;
  let result = nothing;
  let unsafe: string | null = null;
  try {
    await verifyToplevel(git, path);
    const gitDir = await gitDirOf(git, path);
    const inside = processesInside(path, folders());
    if (inside !== null && inside.length === 0) await removeStaleLocks(git, path, gitDir, branch);
    const operation = operationIn(gitDir);
    const before = await commitOf(git, path, 'HEAD');
    await repairIndex(git, path, gitDir, before);
    const nested = await findNested(git, path);
    const common = await git.text(path, ['rev-parse', '--path-format=absolute', '--git-common-dir']);
    result = { ...result, operation, nested };

    const symbolic = await git.run(path, ['symbolic-ref', '--quiet', 'HEAD'], { allowFail: true });
    const headRef = symbolic.code === 0 ? symbolic.stdout.trim() : null;
    const saved = await saveWork(git, {
      path,
      gitDir,
      head: before,
      onBranch: headRef === branchRef(branch) ? headRef : null,
      nested,
      message,
    });
    if (saved.failed.length > 0) {
      unsafe = `${saved.failed.length} path(s) could not be read into git, first ${saved.failed[0]}`;
    }
    // A commit of ours on a foreign branch has left HEAD detached.
    const refNow = saved.wip && headRef !== branchRef(branch) ? null : headRef;
    result = { ...result, wip: saved.wip };
    const savedRefs = await queue(common, async () => {
      const { head } = saved;
      const isBusy = operation !== null;
      const held = head === null ? [] : await holdHead(git, { path, branch, head, headRef: refNow, isBusy });
      return [...held, ...(await saveMergeHead(git, path, gitDir, branch))];
    });
    result = { ...result, savedRefs };
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    unsafe = error.message;
  }
  return {
    ...result,
    ...(await count(git, request, baseCommit, result.savedRefs)),
    ...(unsafe === null ? {} : { unsafe }),
  };
}

async function count(
  git: Git,
  { path, branch, repository }: FinishRequest,
  baseCommit: string,
  savedRefs: readonly string[],
): Promise<Pick<FinishResult, 'commits' | 'head' | 'files' | 'insertions' | 'deletions'>> {
  // The worktree is preferred; the repository still answers when the worktree is broken.
  for (const cwd of repository === undefined ? [path] : [path, repository]) {
    try {
      await verifyToplevel(git, cwd);
      const head = await commitOf(git, cwd, branchRef(branch));
      const tips = [...(head === null ? [] : [head]), ...savedRefs];
      if (tips.length === 0) return { commits: 0, head, files: 0, insertions: 0, deletions: 0 };
      const commits = await git.text(cwd, ['rev-list', '--count', ...tips, `^${baseCommit}`]);
      const files = await changes(git, cwd, baseCommit, head ?? savedRefs[0]!);
      return {
        commits: Number(commits),
        head,
        files: files.length,
        insertions: files.reduce((sum, file) => sum + file.insertions, 0),
        deletions: files.reduce((sum, file) => sum + file.deletions, 0),
      };
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
    }
  }
  return { commits: 0, head: null, files: 0, insertions: 0, deletions: 0 };
}
