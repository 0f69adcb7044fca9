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
  /** Ignored files and folders. */
  ignored: string[];
  /** git printed no warnings, so it could read everything. */
  isWhole: boolean;
}

// With every untracked file listed, an untracked folder appears only where git does not look inside: a repository.
const STATUS = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', NOT_INSIDE];

/** The paths of the records that begin with one of these marks, or with none of them. */
const filterPaths = (lines: readonly string[], isWanted: (mark: string) => boolean): string[] =>
  lines.flatMap((record) => (isWanted(record.slice(0, 2)) ? [record.slice(3)] : []));

const parseUncommitted = (lines: readonly string[]): Uncommitted => ({
  changed: filterPaths(lines, (mark) => mark !== '??' && mark !== '!!'),
  untracked: filterPaths(lines, (mark) => mark === '??'),
});

/**
 * Lists the changed and untracked files of a worktree.
 * @param gitDir the worktree's own git folder; git then does not search for another
 */
export async function listUncommitted(git: Git, path: string, gitDir?: string): Promise<Uncommitted> {
  const env = gitDir === undefined ? {} : gitDirEnvironment(path, gitDir);
  return parseUncommitted(splitRecords((await git.run(path, STATUS, { env })).stdout));
}

/** The environment that binds a folder to a git folder as its worktree, whatever git would find otherwise (R2). */
export const gitDirEnvironment = (worktree: string, gitDir: string): Record<string, string> => ({
  GIT_DIR: gitDir,
  GIT_WORK_TREE: worktree,
});

/** Lists everything in a worktree that is in no commit: files, ignored files and nested repositories. */
export async function readContents(git: Git, path: string, gitDir?: string): Promise<Contents> {
  const env = gitDir === undefined ? {} : gitDirEnvironment(path, gitDir);
  const [status, staged] = await Promise.all([
    // An ignored folder is listed by name only, whatever it holds.
    git.run(path, [...STATUS, '--ignored=matching'], { env }),
    git.run(path, ['ls-files', '-z', '--stage'], { env }),
  ]);
  const lines = splitRecords(status.stdout);
  const files = parseUncommitted(lines);
  const ignored = filterPaths(lines, (mark) => mark === '!!');
  const nested = findNestedRepositories(path, { ...files, ignored, staged: splitRecords(staged.stdout) });
  return { ...files, nested, ignored, isWhole: status.stderr === '' };
}
