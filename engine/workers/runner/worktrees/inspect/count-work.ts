import { asSvcError } from '../../../../core/base/errors.ts';
import { type Git, splitRecords } from '../git/git.ts';
import { readCommonDir } from '../git/git-folders.ts';
import { branchRef } from '../git/refs.ts';
import { verifyToplevel } from './inspect.ts';

/** The work to count. */
export interface CountRequest {
  path: string;
  /** The session's branch. */
  branch: string;
  /** The commit that the worktree was created from; the counts are relative to it. */
  baseCommit: string;
  /** Any checkout of the repository, for the counts when the worktree itself is broken. */
  repository?: string;
}

/** Lists the files that differ between two commits, with their line counts. */
export async function listChanges(
  git: Git,
  cwd: string,
  from: string,
  to: string,
): Promise<{ path: string; insertions: number; deletions: number }[]> {
  const { stdout } = await git.run(cwd, ['diff-tree', '-r', '-z', '--numstat', '--no-renames', from, to]);
  return splitRecords(stdout).map((record) => {
    const [insertions = '', deletions = '', ...path] = record.split('\t');
    // A binary file counts no lines: git prints "-".
    return { path: path.join('\t'), insertions: Number(insertions) || 0, deletions: Number(deletions) || 0 };
  });
}

export interface ChangeCounts {
  files: number;
  insertions: number;
  deletions: number;
}

const sumChanges = (files: readonly { insertions: number; deletions: number }[]): ChangeCounts => ({
  files: files.length,
  insertions: files.reduce((sum, file) => sum + file.insertions, 0),
  deletions: files.reduce((sum, file) => sum + file.deletions, 0),
});

/** Counts what differs between two commits. */
export const countChanges = async (
  git: Git,
  { repository, from, to }: { repository: string; from: string; to: string },
): Promise<ChangeCounts> =>
  from === to ? sumChanges([]) : sumChanges(await listChanges(git, repository, from, to));

export const UNREAD = { commits: null, head: null, files: null, insertions: null, deletions: null };

/** Facts found while ending a worktree, so that counting need not ask git again. */
export interface WorktreeFacts {
  /** True if the worktree was verified (R2). */
  isVerified: boolean;
  /** The commit of the session's branch, if known. */
  tip?: string | null;
  /** The files that differ between the base and that commit, if they are being compared. */
  changes?: ReturnType<typeof listChanges> | undefined;
}

/** The counted work; null for values that could not be read. */
export interface WorkCounts {
  /** New commits on the session's branch and the saved refs, work in progress included. */
  commits: number | null;
  /** The end of the session's branch; null also if it does not exist. */
  head: string | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
}

const NONE = { commits: 0, files: 0, insertions: 0, deletions: 0 };

/** Returns the commit of a branch; null if there is none. Throws if git fails. */
async function readTip(git: Git, cwd: string, branch: string): Promise<string | null> {
  return (await git.text(cwd, ['for-each-ref', '--format=%(objectname)', branchRef(branch)])) || null;
}

/** A longer line of commits is left to git, which counts them at once. */
const MOST_READ = 50;

/** Counts what is reachable from the tips and not from the base; reads commits in a line without starting a git. */
async function countCommits(
  git: Git,
  cwd: string,
  { tips, baseCommit }: { tips: readonly string[]; baseCommit: string },
): Promise<number> {
  const commonDir = tips.length === 1 ? readCommonDir(cwd) : null;
  let id = tips[0];
  for (let count = 0; commonDir !== null && id !== undefined && count <= MOST_READ; count += 1) {
    if (id === baseCommit) return count;
    const { parents } = (await git.readCommit(commonDir, id)) ?? { parents: [] };
    id = parents.length === 1 ? parents[0] : undefined;
  }
  return Number(await git.text(cwd, ['rev-list', '--count', ...tips, `^${baseCommit}`]));
}

/**
 * Counts in the worktree, or in its repository if the worktree cannot be read; finding nothing there does not prove
 * that nothing was done, so the counts are null.
 */
export async function countWork(
  git: Git,
  { path, branch, repository, baseCommit }: CountRequest,
  { isVerified, tip, changes }: WorktreeFacts,
  savedRefs: readonly string[],
): Promise<WorkCounts | (WorkCounts & { problem: string })> {
  let problem = 'what was committed could not be counted';
  for (const cwd of [...(isVerified ? [path] : []), ...(repository === undefined ? [] : [repository])]) {
    try {
      if (cwd !== path) await verifyToplevel(git, cwd);
      const head = tip === undefined ? await readTip(git, cwd, branch) : tip;
      const tips = [...(head === null ? [] : [head]), ...savedRefs];
      const isUntouched = tips.every((each) => each === baseCommit);
      if (isUntouched) return isVerified ? { ...NONE, head } : { ...UNREAD, head };
      const [commits, files] = await Promise.all([
        countCommits(git, cwd, { tips, baseCommit }),
        changes ?? listChanges(git, cwd, baseCommit, head ?? savedRefs[0]!),
      ]);
      return { commits, head, ...sumChanges(files) };
    } catch (error) {
      problem = asSvcError(error).message;
    }
  }
  return { ...UNREAD, problem };
}
