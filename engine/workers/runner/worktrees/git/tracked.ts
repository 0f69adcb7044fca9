import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asSvcError } from '../../../../core/base/errors.ts';
import { createGit } from './create-git.ts';
import { type Git, LOOKUP, splitRecords } from './git.ts';

/** Finds the nearest existing folder around a path. */
function findNearestFolder(path: string): string {
  for (let at = dirname(path); ; at = dirname(at)) {
    if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory() || at === dirname(at)) return at;
  }
}

/** Matches literally and ignoring case, since some file systems do. */
const formatPathspec = (folder: string, path: string): string =>
  `:(literal,icase)${path.slice(folder.length).replace(/^\/+/, '')}`;

const MOST_NAMED = 1000;

async function listTrackedAt(git: Git, path: string): Promise<string[]> {
  const folder = findNearestFolder(path);
  const args = ['ls-files', '-z', '--', formatPathspec(folder, path)];
  let stdout: string;
  try {
    const ran = await git.run(folder, args, LOOKUP);
    if (ran.code !== 0) return [];
    stdout = ran.stdout;
  } catch (error) {
    // Without git nothing is checked out here.
    if (asSvcError(error).code === 'tool_missing') return [];
    throw error;
  }
  return splitRecords(stdout)
    .slice(0, MOST_NAMED)
    .map((name) => join(folder, name));
}

/**
 * Lists tracked files at or below the paths, absolute: a checkout, merge or pull may write them at any time, even if
 * git otherwise ignores everything. None outside a repository.
 */
export async function listTrackedFiles(paths: readonly string[], env: NodeJS.ProcessEnv): Promise<string[]> {
  const { git } = createGit({ env, agentsDir: null });
  return (await Promise.all(paths.map((path) => listTrackedAt(git, path)))).flat();
}

/** Removes files from git's index and leaves them on disk. */
export async function untrackFiles(path: string, env: NodeJS.ProcessEnv): Promise<void> {
  const folder = realpathSync(findNearestFolder(path));
  const args = [
    'rm',
    '-r',
    '--cached',
    '--quiet',
    '--ignore-unmatch',
    '--',
    formatPathspec(folder, join(folder, basename(path))),
  ];
  await createGit({ env, agentsDir: null }).git.run(folder, args, { discover: true });
}
