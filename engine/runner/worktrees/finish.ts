import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { asSvcError, SvcError } from '../../base/errors.ts';
import type { KeyedQueue } from '../../base/serial-queue.ts';
import { counted } from '../../base/text.ts';
import { type Contents, contentsOf } from './files.ts';
import { type Git, records } from './git.ts';
import { processesInside, type WorkingFolders } from './live.ts';
import { type Look, lookAt, verifyToplevel } from './look.ts';
import { commonDirAt, ownGitDir } from './own-git-dir.ts';
import {
  branchRef,
  commitOf,
  compareAndSet,
  isAncestor,
  listWorktrees,
  operationIn,
  sessionOf,
} from './repository.ts';
import type { TakenOver } from './take-over.ts';
import { textIn } from './traps.ts';
import { repairIndex, type SavedWork, saveWork } from './wip.ts';

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
  /** New commits on the session's branch and the saved refs, work in progress included; null when they could not be read. */
  commits: number | null;
  /** Where the session's branch ended; null when it does not exist, or could not be read. */
  head: string | null;
  /** What was changed; null when it could not be read. */
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  /** The end was dirty and was committed as work in progress. */
  wip: boolean;
  /** Refs that hold commits which the session's branch could not take in by moving forward. */
  savedRefs: string[];
  /** Git repositories inside the worktree: not saved, so the worktree is never removed by itself. */
  nested: string[];
  /** A merge, rebase, cherry-pick or revert that was left unfinished (and still is). */
  operation: string | null;
  /** Why something could not be read or saved, if so; the worktree must then be kept. */
  unsafe?: string;
}

const UNREAD = { commits: null, head: null, files: null, insertions: null, deletions: null };

const nothing: FinishResult = {
  ...UNREAD,
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
function removeStaleLocks({ gitDir, commonDir }: Look, branch: string): void {
  for (const file of [
    join(gitDir, 'index.lock'),
    join(gitDir, 'HEAD.lock'),
    join(commonDir, `${branchRef(branch)}.lock`),
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
  const commits = (textIn(join(gitDir, 'MERGE_HEAD')) ?? '').split('\n').filter(Boolean);
  const saved: string[] = [];
  for (const commit of commits) {
    const holder = await git.text(path, ['for-each-ref', '--count=1', '--contains', commit]);
    if (holder === '')
      saved.push(await saveCommit(git, path, `refs/svc/${sessionOf(branch)}/merge-head`, commit));
  }
  return saved;
}

/** What is in a worktree, with its index repaired where that is what stands in the way. */
async function contentsAtEnd(git: Git, path: string, { gitDir, head }: Look): Promise<Contents> {
  const repair = () => repairIndex(git, path, gitDir, head);
  // Without one all files would merely be new.
  if (!existsSync(join(gitDir, 'index'))) await repair();
  try {
    return await contentsOf(git, path);
  } catch (error) {
    if (!(await repair())) throw error;
    return contentsOf(git, path);
  }
}

/** Nothing that could be committed, as far as git can tell; repositories inside are not for us to commit. */
const isClean = ({ changed, untracked, nested, isWhole }: Contents): boolean =>
  isWhole && changed.length === 0 && untracked.every((name) => nested.includes(name.replace(/\/$/, '')));

/**
 * Ends a session's worktree: a dirty end is committed on the session's branch, and commits that the agent has made
 * elsewhere in its worktree are held by a ref. Called after the worker and all its processes are gone. Never throws
 * for the state of the worktree: what could not be saved is told in `unsafe`.
 * @param taken what was found in the worktree's private folder, if it has one
 */
export async function finish(
  git: Git,
  folders: WorkingFolders,
  queue: KeyedQueue,
  request: FinishRequest,
  taken: TakenOver | null,
): Promise<FinishResult> {
  const { path, branch, message } = request;
  let result = { ...nothing, savedRefs: taken?.savedRefs ?? [] };
  let unsafe: string | null = taken?.problem ?? null;
  let seen: Seen = { isVerified: false };
  try {
    const expected = request.repository === undefined ? null : commonDirAt(request.repository);
    if (expected !== null) ownGitDir(path, expected);
    const look = await lookAt(git, path);
    const { gitDir, commonDir, ref } = look;
    const inside = processesInside(path, folders());
    if (inside !== null && inside.length === 0) removeStaleLocks(look, branch);
    const operation = operationIn(gitDir);
    const contents = await contentsAtEnd(git, path, look);
    const { nested } = contents;
    result = { ...result, operation, nested };

    const isOnBranch = ref === branchRef(branch);
    const saved: SavedWork = isClean(contents)
      ? { head: look.head, wip: false, failed: [] }
      : await saveWork(git, {
          path,
          gitDir,
          head: look.head,
          headTree: look.tree,
          onBranch: isOnBranch ? ref : null,
          nested,
          message,
          ...(taken === null ? {} : { env: taken.env, takeCommit: taken.takeCommit, isAnew: !taken.isWhole }),
        });
    if (saved.failed.length > 0) {
      unsafe ??= `${counted(saved.failed.length, 'path')} could not be read into git, first ${saved.failed[0]}`;
    }
    // A commit of ours on a foreign branch has left HEAD detached.
    const refNow = saved.wip && !isOnBranch ? null : ref;
    result = { ...result, wip: saved.wip };
    const savedRefs = await queue(commonDir, async () => {
      const { head } = saved;
      const isBusy = operation !== null;
      const held = head === null ? [] : await holdHead(git, { path, branch, head, headRef: refNow, isBusy });
      return [...held, ...(await saveMergeHead(git, path, gitDir, branch))];
    });
    result = { ...result, savedRefs: [...result.savedRefs, ...savedRefs] };
    seen = { isVerified: true, ...(isOnBranch ? { tip: saved.head } : {}) };
  } catch (error) {
    unsafe = [unsafe, asSvcError(error).message].filter((each) => each !== null).join('; ');
  }
  const found = await count(git, request, seen, result.savedRefs);
  if ('problem' in found) unsafe = [unsafe, found.problem].filter((each) => each !== null).join('; ');
  const { problem: _, ...counts } = { problem: null, ...found };
  return { ...result, ...counts, ...(unsafe === null ? {} : { unsafe }) };
}

/** What the end has found out that its counting need not ask again. */
interface Seen {
  /** The worktree is its own (R2). */
  isVerified: boolean;
  /** Where the session's branch ends, if that is known. */
  tip?: string | null;
}

type Counts = Pick<FinishResult, 'commits' | 'head' | 'files' | 'insertions' | 'deletions'>;

const NONE = { commits: 0, files: 0, insertions: 0, deletions: 0 };

/** Where a branch ends; null where there is none. Throws where git cannot say. */
async function tipOf(git: Git, cwd: string, branch: string): Promise<string | null> {
  return (await git.text(cwd, ['for-each-ref', '--format=%(objectname)', branchRef(branch)])) || null;
}

/**
 * Counts in the worktree, or in its repository when the worktree cannot be read: nothing there is then no proof that nothing was
 * done, and the counts are null.
 */
async function count(
  git: Git,
  { path, branch, repository, baseCommit }: FinishRequest,
  { isVerified, tip }: Seen,
  savedRefs: readonly string[],
): Promise<Counts | (Counts & { problem: string })> {
  let problem = 'what was committed could not be counted';
  for (const cwd of [...(isVerified ? [path] : []), ...(repository === undefined ? [] : [repository])]) {
    try {
      if (cwd !== path) await verifyToplevel(git, cwd);
      const head = tip === undefined ? await tipOf(git, cwd, branch) : tip;
      const tips = [...(head === null ? [] : [head]), ...savedRefs];
      const isUntouched = tips.every((each) => each === baseCommit);
      if (isUntouched) return isVerified ? { ...NONE, head } : { ...UNREAD, head };
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
      problem = asSvcError(error).message;
    }
  }
  return { ...UNREAD, problem };
}
