import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asSvcError, SvcError } from '../../../../core/base/errors.ts';
import type { KeyedQueue } from '../../../../core/base/serial-queue.ts';
import { formatCount } from '../../../../core/base/text.ts';
import { type Git, withSignal } from '../git/git.ts';
import { readCommonDir } from '../git/git-folders.ts';
import { verifyOwnGitDir } from '../git/own-git-dir.ts';
import { branchRef, compareAndSetRef, isAncestor, resolveCommit, sessionNameOf } from '../git/refs.ts';
import { readRegularFile } from '../git/regular-file.ts';
import { findOperation, listWorktrees } from '../git/repository.ts';
import { hasNothingToCommit, readContents, type WorktreeContents } from '../inspect/contents.ts';
import {
  type CountRequest,
  countWork,
  listChanges,
  UNREAD,
  type WorkCounts,
  type WorktreeFacts,
} from '../inspect/count-work.ts';
import type { IgnoreRules } from '../inspect/ignore-rules.ts';
import { inspectWorktree, type WorktreeInspection } from '../inspect/inspect.ts';
import { isUnchanged } from '../inspect/unchanged.ts';
import { findProcessesInside, type WorkingFolders } from '../inspect/working-folders.ts';
import { repairIndex, type SavedWork, saveWork } from './save-work.ts';
import type { TakenOver } from './take-over.ts';

export interface FinishRequest extends CountRequest {
  /** Of the commit that saves a dirty end. */
  message: string;
  /** Gives up what is not saved yet: a filter may wait for ever. */
  signal?: AbortSignal;
}

export interface FinishResult extends WorkCounts {
  /** True if the end was dirty and was committed as work in progress. */
  wip: boolean;
  /** Refs with commits that could not be put on the session's branch by fast-forward. */
  savedRefs: string[];
  /** Git repositories inside the worktree: not saved, so the worktree is never removed by itself. */
  nested: string[];
  /** Files that only the worker's own ignore rules hide: not saved, and kept with the worktree. */
  hidden: string[];
  /** A merge, rebase, cherry-pick or revert that was left unfinished (and still is). */
  operation: string | null;
  /** The reason why something could not be read or saved; the worktree must then be kept. */
  unsafe?: string;
}

const nothing: FinishResult = {
  ...UNREAD,
  wip: false,
  savedRefs: [],
  nested: [],
  hidden: [],
  operation: null,
};

/** With more files git finds out sooner, and does not keep the engine from other work. */
const MOST_COMPARED = 1000;

/** The contents of a worktree that matches its commit, besides the folder of the engine's own files. */
const UNCHANGED: WorktreeContents = {
  changed: [],
  untracked: [],
  nested: [],
  ignored: [],
  ruleFiles: [],
  flagged: [],
  isWhole: true,
};

/** Removes locks left by a git that died with its worker. Only while no process works in the worktree. */
function removeStaleLocks({ gitDir, commonDir }: WorktreeInspection, branch: string): void {
  for (const file of [
    join(gitDir, 'index.lock'),
    join(gitDir, 'HEAD.lock'),
    join(commonDir, `${branchRef(branch)}.lock`),
  ]) {
    rmSync(file, { force: true });
  }
}

/** Ensures that a ref holds the commits at HEAD. Returns refs that had to be created in addition to the branch. */
async function saveHead(
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
  const tip = await resolveCommit(git, path, ref);
  const attachHead = async (): Promise<void> => {
    const isElsewhere = (await listWorktrees(git, path)).some((entry) => entry.ref === ref);
    // During a rebase HEAD has to stay detached.
    if (!isBusy && !isElsewhere)
      await git.run(path, ['symbolic-ref', '-m', 'svc: back on its branch', 'HEAD', ref]);
  };
  if (tip === head) {
    await attachHead();
    return [];
  }
  if (tip !== null && (await isAncestor(git, path, head, tip))) return [];
  if (tip === null || (await isAncestor(git, path, tip, head))) {
    if (await compareAndSetRef(git, path, ref, head, tip, 'commits made beside the branch')) {
      await attachHead();
      return [];
    }
  }
  return [await saveCommit(git, path, `refs/svc/${sessionNameOf(branch)}/head`, head)];
}

/** Saves a commit under a ref without moving an existing one to another value. Returns the ref's name. */
async function saveCommit(git: Git, cwd: string, ref: string, commit: string): Promise<string> {
  for (const name of [ref, `${ref}-${commit.slice(0, 12)}`]) {
    const held = await resolveCommit(git, cwd, name);
    if (held === commit) return name;
    if (held !== null && !(await isAncestor(git, cwd, held, commit))) continue;
    if (await compareAndSetRef(git, cwd, name, commit, held, 'kept')) return name;
  }
  throw new SvcError('git_failed', `the commit ${commit} could not be saved under ${ref}`, {
    data: { commit },
  });
}

/** The other side of an unfinished merge may be on no branch at all, e.g. when it was fetched by hand. */
async function saveMergeHead(git: Git, path: string, gitDir: string, branch: string): Promise<string[]> {
  const commits = (readRegularFile(join(gitDir, 'MERGE_HEAD')) ?? '').split('\n').filter(Boolean);
  const saved: string[] = [];
  for (const commit of commits) {
    const holder = await git.text(path, ['for-each-ref', '--count=1', '--contains', commit]);
    if (holder === '')
      saved.push(await saveCommit(git, path, `refs/svc/${sessionNameOf(branch)}/merge-head`, commit));
  }
  return saved;
}

/** Reads the contents of a worktree, repairing its index if that is the obstacle. */
async function readContentsAtEnd(
  git: Git,
  path: string,
  { gitDir, head }: WorktreeInspection,
): Promise<WorktreeContents> {
  const repair = () => repairIndex(git, path, gitDir, head);
  // Without an index every file would look new.
  if (!existsSync(join(gitDir, 'index'))) await repair();
  try {
    return await readContents(git, path, gitDir);
  } catch (error) {
    if (!(await repair())) throw error;
    return readContents(git, path, gitDir);
  }
}

/**
 * Ends a session's worktree: uncommitted work is committed on the session's branch, and commits that the agent made
 * elsewhere in its worktree are held by a ref. Called after the worker and all its processes are gone. Never throws
 * for the state of the worktree: unsaved work is reported in `unsafe`.
 * @param taken what was found in the worktree's private git folder, if it has one
 */
export async function finishWorktree(
  anyGit: Git,
  { folders, rules }: { folders: WorkingFolders; rules: IgnoreRules },
  queue: KeyedQueue,
  request: FinishRequest,
  taken: TakenOver | null,
): Promise<FinishResult> {
  const { path, branch, message, signal } = request;
  const git = signal === undefined ? anyGit : withSignal(anyGit, signal);
  let result = { ...nothing, savedRefs: taken?.savedRefs ?? [] };
  let unsafe: string | null = taken?.problem ?? null;
  let seen: WorktreeFacts = { isVerified: false };
  let changes: WorktreeFacts['changes'];
  /** Compares while git makes the commit, which the comparison does not need. */
  function beginCount(tree: string): void {
    if (request.baseCommit === '') return;
    changes = listChanges(git, path, request.baseCommit, tree);
    changes.catch(() => undefined);
  }
  try {
    const expected = request.repository === undefined ? null : readCommonDir(request.repository);
    if (expected !== null) verifyOwnGitDir(path, expected);
    const look = await inspectWorktree(git, path);
    const { gitDir, commonDir, ref } = look;
    const inside = findProcessesInside(path, folders());
    if (inside !== null && inside.length === 0) removeStaleLocks(look, branch);
    const operation = findOperation(gitDir);
    const contents = isUnchanged(path, gitDir, look.tree ?? '', (name) => name === '.svc', MOST_COMPARED)
      ? UNCHANGED
      : await readContentsAtEnd(git, path, look);
    const { nested, flagged } = contents;
    rules.checkRules(commonDir);
    const place = { path, gitDir, commonDir };
    const hidden =
      request.baseCommit === ''
        ? await rules.listSelfHidden(git, place, contents)
        : await rules.listHiddenFrom(git, place, contents, request.baseCommit);
    result = { ...result, operation, nested, hidden };

    const isOnBranch = ref === branchRef(branch);
    const saved: SavedWork = hasNothingToCommit(contents)
      ? { head: look.head, wip: false, failed: [] }
      : await saveWork(git, {
          path,
          gitDir,
          head: look.head,
          headTree: look.tree,
          onBranch: isOnBranch ? ref : null,
          nested,
          flagged,
          message,
          ...(taken === null
            ? { onTree: beginCount }
            : { env: taken.env, takeCommit: taken.takeCommit, isAnew: !taken.isWhole }),
        });
    if (saved.failed.length > 0) {
      unsafe ??= `${formatCount(saved.failed.length, 'path')} could not be read into git, first ${saved.failed[0]}`;
    }
    // Our commit on a foreign branch has left HEAD detached.
    const refNow = saved.wip && !isOnBranch ? null : ref;
    result = { ...result, wip: saved.wip };
    const saveHeads = async (): Promise<string[]> => {
      const { head } = saved;
      const isBusy = operation !== null;
      const held = head === null ? [] : await saveHead(git, { path, branch, head, headRef: refNow, isBusy });
      return [...held, ...(await saveMergeHead(git, path, gitDir, branch))];
    };
    const savedRefs = await queue(commonDir, saveHeads, signal);
    result = { ...result, savedRefs: [...result.savedRefs, ...savedRefs] };
    seen = { isVerified: true, ...(isOnBranch ? { tip: saved.head, changes } : {}) };
  } catch (error) {
    unsafe = [unsafe, asSvcError(error).message].filter((each) => each !== null).join('; ');
  }
  const found = await countWork(git, request, seen, result.savedRefs);
  if ('problem' in found) unsafe = [unsafe, found.problem].filter((each) => each !== null).join('; ');
  const { problem: _, ...counts } = { problem: null, ...found };
  return { ...result, ...counts, ...(unsafe === null ? {} : { unsafe }) };
}
