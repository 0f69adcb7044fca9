import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { runProgramSync } from '../core/base/run-program.ts';

const PATIENCE_MS = 5000;

/** The repository's author also wrote its git configuration: a mere lookup must not run anything that it names. */
const HARMLESS = [
  ['core.fsmonitor', 'false'],
  ['core.hooksPath', '/dev/null'],
  ['core.untrackedCache', 'false'],
  ['core.quotePath', 'false'],
  ['protocol.allow', 'never'], // of a partial clone, whose missing objects git would fetch
].flatMap(([name, value]) => ['-c', `${name}=${value}`]);

/**
 * Reports whether a repository around the file has it in its index; also true if that is unknown, because git is
 * missing or does not answer. Both the file and its link target are checked, in every enclosing repository.
 */
export function isTrackedByGit(file: string, env: NodeJS.ProcessEnv): boolean {
  const places = new Set([join(realpathSync(dirname(file)), basename(file)), realpathSync(file)]);
  return [...places].some((place) =>
    listRepositoriesAbove(dirname(place)).some((top) => isInIndex(top, place, env)),
  );
}

/** Returns folders that contain a `.git`, nearest first. */
function listRepositoriesAbove(folder: string): string[] {
  const found = existsSyncOrLink(join(folder, '.git')) ? [folder] : [];
  return folder === dirname(folder) ? found : [...found, ...listRepositoriesAbove(dirname(folder))];
}

const existsSyncOrLink = (path: string): boolean =>
  existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined;

/**
 * Reports whether git has a path in its index. Both folders are passed to git, so that neither its search nor the
 * repository's `core.worktree` decides which one is used.
 */
function isInIndex(top: string, place: string, { PATH, HOME }: NodeJS.ProcessEnv): boolean {
  const { exitCode, stderr } = runProgramSync(
    'git',
    [
      ...HARMLESS,
      `--git-dir=${join(top, '.git')}`,
      `--work-tree=${top}`,
      '--literal-pathspecs',
      'ls-files',
      '--error-unmatch',
      '--',
      relative(top, place),
    ],
    {
      cwd: top,
      env: {
        ...(PATH === undefined ? {} : { PATH }),
        ...(HOME === undefined ? {} : { HOME }),
        LC_ALL: 'C',
        GIT_NO_LAZY_FETCH: '1',
        GIT_OPTIONAL_LOCKS: '0',
        GIT_TERMINAL_PROMPT: '0',
      },
      timeoutMs: PATIENCE_MS,
    },
  );
  return exitCode !== 1 || !stderr.includes('did not match any file(s) known to git');
}
