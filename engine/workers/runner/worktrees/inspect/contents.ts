import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Git, NOT_INSIDE, splitRecords } from '../git/git.ts';
import {
  type FlaggedEntry,
  listFlagged,
  nameOfRecord,
  selectFlagged,
  withoutFlags,
} from '../git/index-flags.ts';
import { findNestedRepositories } from './nested.ts';
import { listPlainEntries } from './unchanged.ts';

/** The files of a worktree that are in no commit, as paths relative to it. */
export interface UncommittedFiles {
  changed: string[];
  untracked: string[];
}

export interface WorktreeContents extends UncommittedFiles {
  /** Git repositories inside; see `nestedIn`. */
  nested: string[];
  /** Ignored files and folders. */
  ignored: string[];
  /** The .gitignore files that are tracked, or would be added. */
  ruleFiles: string[];
  /** Entries of the index whose marks hide changes from git. */
  flagged: FlaggedEntry[];
  /** True if git printed no warnings, so it could read everything. */
  isWhole: boolean;
}

// With every untracked file listed, an untracked folder appears only where git does not look inside: a repository.
const STATUS = ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', NOT_INSIDE];

/** Lists the paths of the records that start with one of these marks, or with none of them. */
const filterPaths = (lines: readonly string[], isWanted: (mark: string) => boolean): string[] =>
  lines.flatMap((record) => (isWanted(record.slice(0, 2)) ? [record.slice(3)] : []));

const parseUncommitted = (lines: readonly string[]): UncommittedFiles => ({
  changed: filterPaths(lines, (mark) => mark !== '??' && mark !== '!!'),
  untracked: filterPaths(lines, (mark) => mark === '??'),
});

/**
 * Makes git check each file whose time or size indicates a change, regardless of a worker's configuration. Read with
 * the command line's own settings, which override a repository's.
 */
export function carefulEnvironment(worktree: string): Record<string, string> {
  const settings = [
    ['core.trustctime', 'true'],
    ['core.checkstat', 'default'],
    ['core.ignorestat', 'false'],
    ['core.untrackedcache', 'false'],
    // Marks are then the index's own, not git's interpretation in a sparse checkout.
    ['sparse.expectfilesoutsideofpatterns', 'true'],
    // Only a file system that ignores case may have git do so: elsewhere a new file would pass for a tracked one.
    ...(existsSync(join(worktree, '.GIT')) ? [] : [['core.ignorecase', 'false']]),
  ];
  return { GIT_CONFIG_PARAMETERS: settings.map(([name, value]) => `'${name}'='${value}'`).join(' ') };
}

/** Lists the changed and untracked files of a worktree. @param gitDir the worktree's own git folder */
export async function listUncommitted(git: Git, path: string, gitDir: string): Promise<UncommittedFiles> {
  const env = { ...gitDirEnvironment(path, gitDir), ...carefulEnvironment(path) };
  const place = { path, gitDir };
  const status = await withoutFlags(git, place, await listFlagged(git, place, env), env, (own) =>
    git.run(path, STATUS, { env: own }),
  );
  return parseUncommitted(splitRecords(status.stdout));
}

/**
 * Returns the environment that binds a folder to a git folder as its worktree, regardless of what git would find
 * otherwise (R2).
 */
export const gitDirEnvironment = (worktree: string, gitDir: string): Record<string, string> => ({
  GIT_DIR: gitDir,
  GIT_WORK_TREE: worktree,
});

/** Lists everything in a worktree that is in no commit: files, ignored files and nested repositories. */
export async function readContents(git: Git, path: string, gitDir: string): Promise<WorktreeContents> {
  const env = { ...gitDirEnvironment(path, gitDir), ...carefulEnvironment(path) };
  // An ignored folder is listed by name only, regardless of its contents.
  const readStatus = (own: Readonly<Record<string, string>>) =>
    git.run(path, [...STATUS, '--ignored=matching'], { env: own });
  const [seen, { staged, links, flagged }] = await Promise.all([
    readStatus(env),
    readStaged(git, { path, gitDir }, env),
  ]);
  const status =
    flagged.length === 0 ? seen : await withoutFlags(git, { path, gitDir }, flagged, env, readStatus);
  const lines = splitRecords(status.stdout);
  const files = parseUncommitted(lines);
  const ignored = filterPaths(lines, (mark) => mark === '!!');
  const nested = findNestedRepositories(path, { ...files, ignored, staged, links });
  const ruleFiles = [...staged, ...files.untracked].filter((name) => /(?:^|\/)\.gitignore$/.test(name));
  return { ...files, nested, ignored, ruleFiles, flagged, isWhole: status.stderr === '' };
}

/** Reports whether there is nothing to commit as far as git can tell; nested repositories are not ours to commit. */
export const hasNothingToCommit = ({ changed, untracked, nested, isWhole }: WorktreeContents): boolean =>
  isWhole && changed.length === 0 && untracked.every((name) => nested.includes(name.replace(/\/$/, '')));

/** The entries of an index. */
interface StagedFiles {
  staged: string[];
  /** Entries for repositories. */
  links: string[];
  flagged: FlaggedEntry[];
}

/** Reads the index of a worktree; starts git only for one with more than plain files. */
async function readStaged(
  git: Git,
  { path, gitDir }: { path: string; gitDir: string },
  env: Readonly<Record<string, string>>,
): Promise<StagedFiles> {
  // In the usual format ids have 20 bytes.
  const plain = git.readCheckout(path)?.gitDir === gitDir ? listPlainEntries(gitDir, 20) : null;
  if (plain !== null) return { staged: plain, links: [], flagged: [] };
  const { stdout } = await git.run(path, ['ls-files', '-v', '-z', '--stage'], { env });
  const records = splitRecords(stdout);
  const entries = records.map((record) => record.slice(2));
  return {
    staged: entries.map(nameOfRecord),
    links: entries.filter((entry) => entry.startsWith('160000 ')).map(nameOfRecord),
    flagged: selectFlagged(path, records),
  };
}
