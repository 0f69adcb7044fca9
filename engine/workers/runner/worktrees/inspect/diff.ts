import { rfc3339 } from '../../../../core/base/clock.ts';
import { SvcError } from '../../../../core/base/errors.ts';
import type { Session } from '../../../sessions/index.ts';
import { type Git, NO_DIFF_PROGRAMS, splitRecords } from '../git/git.ts';
import { branchRef, isAncestor, resolveCommit, resolveIds } from '../git/refs.ts';
import { listChanges } from './count-work.ts';
import { findForeignCommits } from './foreign-commits.ts';

export interface DiffRequest {
  /** Any checkout of the repository. */
  repository: string;
  /** One of the two: a branch, or a commit. */
  branch?: string;
  head?: string;
  baseCommit: string;
  /** Set to show what promoting into this branch would add there now. */
  into?: string;
}

export interface WorktreeDiff {
  /** The two compared commits. */
  from: string;
  head: string;
  /** Newest first. `at` is RFC 3339 UTC. */
  commits: { id: string; subject: string; author: string; at: string }[];
  files: { path: string; insertions: number; deletions: number }[];
  /** The change as one patch, at most this many bytes of it, ending with a whole line. */
  patch(maxBytes: number): Promise<{ text: string; truncated: boolean }>;
}

/** Returns the diff options for the work of a session. Throws `not_found` if there is nothing to compare. */
export function requireDiffRequest({
  sessionId,
  repository,
  headCommit,
  baseCommit,
  branch,
  base,
}: Pick<Session, 'sessionId' | 'repository' | 'headCommit' | 'baseCommit' | 'branch' | 'base'>): DiffRequest {
  if (repository === null || baseCommit === null || (branch === null && headCommit === null))
    throw new SvcError('not_found', `${sessionId} has nothing to compare`);
  return {
    repository,
    baseCommit,
    ...(branch === null || base === null ? {} : { into: base }),
    // The recorded commit still exists after the branch was promoted and pruned.
    ...(headCommit === null ? { branch: branch as string } : { head: headCommit }),
  };
}

/** The changes of a session since its base. */
export async function diffBranch(git: Git, request: DiffRequest): Promise<WorktreeDiff> {
  const { repository, branch, head, baseCommit, into } = request;
  const name = branch === undefined ? (head ?? '') : branchRef(branch);
  const [tip = null, began = null] =
    (await resolveIds(git, repository, [`${name}^{commit}`, `${baseCommit}^{commit}`])) ??
    (await Promise.all([resolveCommit(git, repository, name), resolveCommit(git, repository, baseCommit)]));
  const own =
    tip === null || into === undefined ? null : await findOwnWork(git, { repository, tip, began, into });
  const base = own?.from ?? began;
  if (tip === null || base === null) {
    const missing = tip === null ? (branch ?? head) : baseCommit;
    throw new SvcError('not_found', `there is no commit ${JSON.stringify(missing)} in ${repository}`);
  }
  const without = [base, ...(own === null ? [] : [own.target])].map((id) => `^${id}`);
  const [log, files] = await Promise.all([
    git.run(repository, ['log', '--format=%H%x1f%ct%x1f%an%x1f%s', '-z', tip, ...without]),
    listChanges(git, repository, base, tip),
  ]);
  const commits = splitRecords(log.stdout).map((record) => {
    const [id = '', at = '0', author = '', ...subject] = record.split('\x1f');
    return { id, subject: subject.join(' ').trimEnd(), author, at: rfc3339(Number(at) * 1000) };
  });
  return {
    from: base,
    head: tip,
    commits,
    files,
    async patch(maxBytes) {
      const options = [...NO_DIFF_PROGRAMS, '--no-color', '--src-prefix=a/', '--dst-prefix=b/'];
      const { stdout, truncated } = await git.run(
        repository,
        ['diff-tree', '-r', '-p', '--find-renames', ...options, base, tip],
        { maxBytes },
      );
      return { text: truncated ? stdout.slice(0, stdout.lastIndexOf('\n') + 1) : stdout, truncated };
    },
  };
}

/**
 * Finds where a branch's own work starts relative to the current base, and the base's commit. This differs from the
 * recorded start if the branch has merged more of the base since, or the base has moved back. Null if the recorded
 * start is valid: the base contains the branch, or is gone.
 */
async function findOwnWork(
  git: Git,
  { repository, tip, began, into }: { repository: string; tip: string; began: string | null; into: string },
): Promise<{ from: string; target: string } | null> {
  const target = await resolveCommit(git, repository, branchRef(into));
  if (target === null || (await isAncestor(git, repository, tip, target))) return null;
  const sides = { branch: into, base: into, tip, target };
  const foreign =
    began === null ? null : await findForeignCommits(git, repository, { ...sides, baseCommit: began });
  if (foreign !== null) return { from: foreign.newest, target };
  const { code, stdout } = await git.run(repository, ['merge-base', target, tip], { allowFail: true });
  return code === 0 ? { from: stdout.split('\n')[0]!, target } : null;
}

/** Reads a file of a commit; null if there is no such file, or it is longer than `maxBytes`. */
export async function readFileAt(
  git: Git,
  {
    repository,
    commit,
    path,
    maxBytes,
  }: { repository: string; commit: string; path: string; maxBytes: number },
): Promise<string | null> {
  const { code, stdout, truncated } = await git.run(repository, ['cat-file', 'blob', `${commit}:${path}`], {
    allowFail: true,
    maxBytes,
  });
  return code !== 0 || truncated ? null : stdout;
}
