import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asSvcError } from '../../base/errors.ts';
import { createGit, type Git, splitRecords } from './git.ts';

/** The nearest folder around a path that is there. */
function findNearestFolder(path: string): string {
  for (let at = dirname(path); ; at = dirname(at)) {
    if (lstatSync(at, { throwIfNoEntry: false })?.isDirectory() || at === dirname(at)) return at;
  }
}

/** In any case, since some file systems tell no two apart; and not as a pattern. */
const formatPathspec = (folder: string, path: string): string =>
  `:(literal,icase)${path.slice(folder.length).replace(/^\/+/, '')}`;

const MOST_NAMED = 1000;

async function listTrackedAt(git: Git, path: string): Promise<string[]> {
  const folder = findNearestFolder(path);
  const args = ['ls-files', '-z', '--', formatPathspec(folder, path)];
  let stdout: string;
  try {
    const ran = await git.run(folder, args, { allowFail: true, discover: true });
    if (ran.code !== 0) return [];
    stdout = ran.stdout;
  } catch (error) {
    // Without git nothing is checked out here either.
    if (asSvcError(error).code === 'tool_missing') return [];
    throw error;
  }
  return splitRecords(stdout)
    .slice(0, MOST_NAMED)
    .map((name) => join(folder, name));
}

/**
 * Files at or below the paths that git tracks, absolute: a checkout, a merge or a pull may write them at any time, also
 * where git otherwise ignores everything. None outside a repository.
 */
export async function listTrackedFiles(paths: readonly string[], env: NodeJS.ProcessEnv): Promise<string[]> {
  const git = createGit(env);
  return (await Promise.all(paths.map((path) => listTrackedAt(git, path)))).flat();
}

/** Takes them out of git's index, and leaves them where they are. */
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
  await createGit(env).run(folder, args, { discover: true });
}
