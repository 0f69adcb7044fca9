import { SvcError } from '../../../../core/base/errors.ts';
import type { Git } from './git.ts';

export const SESSION_PREFIX = 'svc/';
export const branchRef = (branch: string): string => `refs/heads/${branch}`;

/** Converts `svc/s-88` to `s-88`: the name that saved refs are kept under. */
export const sessionNameOf = (branch: string): string =>
  branch.startsWith(SESSION_PREFIX) ? branch.slice(SESSION_PREFIX.length) : branch;

/** A full object id. */
export const isObjectId = (text: string | null | undefined): text is string =>
  text != null && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);

/** Resolves several revisions with one git call; null unless all of them exist. */
export async function resolveIds(
  git: Git,
  cwd: string,
  revisions: readonly string[],
): Promise<string[] | null> {
  if (revisions.some((revision) => revision.startsWith('-'))) return null;
  const { code, stdout } = await git.run(cwd, ['rev-parse', ...revisions], { allowFail: true });
  const ids = splitLines(stdout);
  // A range gives several ids, and a file with that name its name.
  return code === 0 && ids.length === revisions.length && ids.every(isObjectId) ? ids : null;
}

/** Returns the commit that a revision names, or null. */
export async function resolveCommit(git: Git, cwd: string, revision: string): Promise<string | null> {
  if (revision === '' || revision.startsWith('-')) return null;
  const { code, stdout } = await git.run(cwd, ['rev-parse', '--verify', '--quiet', `${revision}^{commit}`], {
    allowFail: true,
  });
  return code === 0 ? stdout.trim() : null;
}

/** Returns the commit of a branch, otherwise of a tag or commit with that name; or null. */
export async function resolveBranchOrCommit(git: Git, cwd: string, name: string): Promise<string | null> {
  return (
    (isObjectId(name) ? null : await resolveCommit(git, cwd, branchRef(name))) ??
    (await resolveCommit(git, cwd, name))
  );
}

/** Maps every branch to its commit. Throws `git_failed` if one of them cannot be read. */
export async function listBranchTips(git: Git, cwd: string): Promise<Map<string, string>> {
  const format = '--format=%(objectname) %(refname)';
  const { stdout, stderr } = await git.run(cwd, ['for-each-ref', format, 'refs/heads']);
  // git skips a broken ref and only warns.
  if (stderr !== '') throw new SvcError('git_failed', `git for-each-ref: ${stderr.split('\n')[0]}`);
  const lines = stdout.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => [trimBranchPrefix(line.slice(line.indexOf(' ') + 1)), line.split(' ')[0] ?? '']),
  );
}

export const isAncestor = (git: Git, cwd: string, ancestor: string, commit: string): Promise<boolean> =>
  git.succeeds(cwd, ['merge-base', '--is-ancestor', ancestor, commit]);

/** Counts commits that only the one has (`ahead`), and commits that only the base has. */
export async function countAheadBehind(
  git: Git,
  cwd: string,
  base: string,
  commit: string,
): Promise<{ ahead: number; behind: number }> {
  const counts = await git.text(cwd, ['rev-list', '--left-right', '--count', `${base}...${commit}`, '--']);
  const [behind = '0', ahead = '0'] = counts.split('\t');
  return { ahead: Number(ahead), behind: Number(behind) };
}

export const splitLines = (text: string): string[] => text.replace(/\n$/, '').split('\n');
export const trimBranchPrefix = (ref: string): string => ref.replace(/^refs\/heads\//, '');

/** Refs of sessions. A worker can make one of them an alias of a user's branch, which must not move along. */
const OURS = /^refs\/(?:heads\/)?svc\//;

/** Sets a ref only if it still has the value that was read; `null` stands for "does not exist". */
export const compareAndSetRef = (
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

/** Reports whether git may receive a range of commits from outside: one that starts with a dash would be an option. */
export const isPassableRange = (range: string): boolean => !/^-|[\0-\x1f]/.test(range);
