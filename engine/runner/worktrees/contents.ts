import { type Git, NOT_INSIDE, splitRecords } from './git.ts';
import { findNestedRepositories } from './nested.ts';

/** The files of a worktree that are in no commit, as paths relative to it. */
export interface Uncommitted {
  changed: string[];
  untracked: string[];
}

export interface Contents extends Uncommitted {
  /** Git repositories inside; see `nestedIn`. */
  nested: string[];
  /** Files and folders that git ignores. */
  ignored: string[];
  /** git had nothing to remark: it could read all that there is. */
  isWhole: boolean;
}

// With every untracked file listed, a folder is listed only where git does not look inside: a repository.
const STATUS = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', NOT_INSIDE];

/** The paths of the records that begin with one of these marks, or with none of them. */
const filterPaths = (lines: readonly string[], isWanted: (mark: string) => boolean): string[] =>
  lines.flatMap((record) => (isWanted(record.slice(0, 2)) ? [record.slice(3)] : []));

const parseUncommitted = (lines: readonly string[]): Uncommitted => ({
  changed: filterPaths(lines, (mark) => mark !== '??' && mark !== '!!'),
  untracked: filterPaths(lines, (mark) => mark === '??'),
});

/**
 * What git says of the files in a worktree.
 * @param gitDir the worktree's own git folder: git then looks for no other
 */
export async function listUncommitted(git: Git, path: string, gitDir?: string): Promise<Uncommitted> {
  const env = gitDir === undefined ? {} : gitDirEnvironment(path, gitDir);
  return parseUncommitted(splitRecords((await git.run(path, STATUS, { env })).stdout));
}

/** The environment by which git takes a folder for the worktree of a git folder, whatever else it would find (R2). */
export const gitDirEnvironment = (worktree: string, gitDir: string): Record<string, string> => ({
  GIT_DIR: gitDir,
  GIT_WORK_TREE: worktree,
});

/** The same, and what repositories are in there. */
export async function readContents(git: Git, path: string, gitDir?: string): Promise<Contents> {
  const env = gitDir === undefined ? {} : gitDirEnvironment(path, gitDir);
  const [status, staged] = await Promise.all([
    // Of an ignored folder its name, whatever it holds.
    git.run(path, [...STATUS, '--ignored=matching'], { env }),
    git.run(path, ['ls-files', '-z', '--stage'], { env }),
  ]);
  const lines = splitRecords(status.stdout);
  const files = parseUncommitted(lines);
  const ignored = filterPaths(lines, (mark) => mark === '!!');
  const nested = findNestedRepositories(path, { ...files, ignored, staged: splitRecords(staged.stdout) });
  return { ...files, nested, ignored, isWhole: status.stderr === '' };
}
