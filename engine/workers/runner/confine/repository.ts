import { lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SvcError } from '../../../core/base/errors.ts';
import { findFolderAbove } from '../../../core/base/paths.ts';
import { findRealPath, isFolder } from '../../../core/base/real-paths.ts';
import { sentence } from '../../../core/base/sentence.ts';
import { type MountedPlace, showPath } from '../../../core/platform/index.ts';
import {
  listAlternates,
  locatePrivateGit,
  type PrivateGit,
  preparePrivateGit,
  REAL_LFS,
  REAL_OBJECTS,
  readPrivateGit,
} from '../worktrees/git/private-git.ts';

/** The git folders of a checkout: its own, and the one that all worktrees share. */
export interface GitFolders {
  /** The `.git` of the checkout, a file in a worktree. */
  mark: string;
  own: string;
  common: string;
}

/** Finds a checkout's git folders; null outside a repository. */
export function findGitFolders(folder: string): GitFolders | null {
  const top = findFolderAbove(
    folder,
    (each) => statSync(join(each, '.git'), { throwIfNoEntry: false }) !== undefined,
  );
  if (top === null) return null;
  const mark = join(top, '.git');
  if (isFolder(mark)) {
    const own = findRealPath(mark) ?? mark;
    return { mark, own, common: own };
  }
  if (!statSync(mark).isFile()) return null;
  const named = /^gitdir: (.+)$/m.exec(readFileSync(mark, 'utf8'))?.[1];
  const own = named === undefined ? null : findRealPath(resolve(top, named));
  if (own === null) return null;
  const common = findRealPath(resolve(own, readTrimmedFile(join(own, 'commondir')) ?? '.'));
  return common === null ? null : { mark, own, common };
}

function readTrimmedFile(file: string): string | null {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return null;
  }
}

/**
 * Ensures `objects/info`, which is shown read-only: it names further object folders, and a worker's entries would be
 * shown to later runs.
 */
const ensureObjectsInfo = (common: string): string => ensureFolder(join(common, 'objects', 'info'));

/** Shows object folders of other repositories that this one also reads. */
const showAlternates = (common: string): MountedPlace[] =>
  listAlternates(join(common, 'objects')).flatMap((path) => showPath(path, 'read'));

function ensureFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Ensures that a file exists, so that it can be protected; an empty one mostly means nothing to git. */
function ensureFile(file: string, text = ''): string {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isFile()) return file;
  // An earlier worker may have put something there: a link would create it elsewhere, and a pipe would block us forever.
  if (found !== undefined) rmSync(file, { recursive: true, force: true });
  writeFileSync(file, text, { flag: 'wx', mode: 0o600 });
  return file;
}

/** The location of session branches. */
const BRANCHES = join('refs', 'heads', 'svc');

/** Mounts the private git folder of a worktree over the repository's own places. */
function buildPrivateRules(
  { common, own }: GitFolders,
  git: PrivateGit,
  show: 'read' | 'write',
): MountedPlace[] {
  const resolveInCommon = (path: string): string => findRealPath(join(common, path)) ?? join(common, path);
  const objects = resolveInCommon('objects');
  return [
    { path: objects, show, from: git.objects },
    { path: join(objects, 'info'), show: 'read', from: git.info },
    { path: REAL_OBJECTS, show: 'read', from: objects },
    { path: resolveInCommon(BRANCHES), show, from: git.refs },
    { path: resolveInCommon(join('logs', BRANCHES)), show, from: git.logs },
    { path: join(own, 'refs'), show, from: git.ownRefs },
    { path: join(own, 'logs'), show, from: git.ownLogs },
    ...buildLfsRules(resolveInCommon('lfs'), git, show),
  ];
}

/** Mounts the private folder of Git LFS, and the real one next to the real objects. */
function buildLfsRules(real: string, git: PrivateGit, show: 'read' | 'write'): MountedPlace[] {
  if (!isFolder(real) || !isFolder(git.lfs)) return [];
  return [
    { path: real, show, from: git.lfs },
    { path: REAL_LFS, show: 'read', from: real },
  ];
}

/**
 * Builds the rules for git in a worktree: a private folder replaces the objects and the branches below `svc/`, and
 * the worktree's own git folder is writable. All else is read-only, so others never read anything that the worker
 * wrote. Files that would lead another git in this worktree to a configuration of the worker are read-only too: it
 * could name programs. Throws `confinement_unavailable`.
 * @param agentsDir the folder of the sessions' own folders
 */
export function buildWorktreeRules(folders: GitFolders, agentsDir: string): MountedPlace[] {
  const { mark, own, common } = folders;
  const worktree = dirname(mark);
  if (isFolder(join(common, 'reftable')))
    throw new SvcError('confinement_unavailable', `${common} keeps its refs as reftable`, {
      hint: 'svc cannot share one file between them: git refs migrate --ref-format=files, or set guard.profile to lite',
    });
  // git removes an empty refs folder, even one that is mounted elsewhere: this file keeps it, and is not a ref to git.
  ensureFile(join(ensureFolder(join(common, BRANCHES)), 'confined.lock'));
  ensureFolder(join(common, 'logs', BRANCHES));
  for (const folder of [join(common, 'objects', 'info'), join(own, 'refs'), join(own, 'logs')])
    ensureFolder(folder);
  const git = preparePrivateGit(agentsDir, worktree, common);
  if (git === null)
    throw new SvcError('confinement_unavailable', `the branch of ${worktree} is gone from ${common}`, {
      hint: sentence`{task.run} starts again, on a new branch`,
    });
  return [
    ...showPath(common, 'read'),
    ...showAlternates(common),
    ...showPath(own, 'write'),
    ...buildPrivateRules(folders, git, 'write'),
    ...[
      mark,
      join(own, 'commondir'),
      join(own, 'gitdir'),
      ensureFile(join(own, 'config.worktree')),
      ensureFolder(join(own, 'modules')),
    ].flatMap((path) => showPath(path, 'read')),
  ];
}

/** Content of a main checkout's `commondir` during a run: that folder itself. */
export const NO_OTHER = '.\n';

/** Builds the rules for a worker in the project's folder itself: it commits on the branch that is checked out there. */
export function buildInplaceRules({ mark, own, common }: GitFolders): MountedPlace[] {
  const folders = [
    ensureFolder(join(common, 'hooks')),
    ensureFolder(join(common, 'modules')),
    join(common, 'info'),
    ensureObjectsInfo(common),
  ];
  // Even in a main checkout git would use configuration and hooks of another folder named here; this names none.
  const ofCommon = ensureFile(join(own, 'commondir'), NO_OTHER);
  const files = [join(common, 'config'), ensureFile(join(own, 'config.worktree')), ofCommon];
  return [
    ...showPath(common, 'write'),
    ...showPath(own, 'write'),
    ...showAlternates(common),
    // `.git` is also a file where the project is a submodule.
    ...(isFolder(mark) ? [] : showPath(mark, 'read')),
    ...[...folders, ...files, join(own, 'gitdir')].flatMap((path) => showPath(path, 'read')),
    // The metadata of the sessions' worktrees, but not of this one.
    ...(dirname(own) === join(common, 'worktrees') ? [] : showPath(join(common, 'worktrees'), 'read')),
  ];
}

/** Builds read-only rules for the repository, as the worktree's worker sees it. */
export function buildReadOnlyRules(folders: GitFolders, agentsDir: string): MountedPlace[] {
  const { mark, common } = folders;
  const git = locatePrivateGit(agentsDir, dirname(mark));
  const isThere = mark !== common && readPrivateGit(git) !== null && isFolder(join(common, BRANCHES));
  return [
    ...showPath(common, 'read'),
    ...showAlternates(common),
    ...showPath(mark, 'read'),
    ...(isThere ? buildPrivateRules(folders, git, 'read') : []),
  ];
}
