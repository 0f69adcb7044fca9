import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import type { Caller } from '../api/operation.ts';
import { SvcError } from '../base/errors.ts';
import { isInsideFolder } from '../base/paths.ts';
import { type NamedPath, resolveExistingPart, type WorkspacePaths } from './workspace-path.ts';

/** The folder of a worker session; null before it has one. All absolute. */
export interface WorkerFolders {
  worktree: string | null;
  cwd: string | null;
  /** The repository of its worktree; null outside a repository. */
  repository: string | null;
  /** The folder of its project. */
  project: string;
}

/**
 * Resolves paths in calls that the engine acts on for the caller: the engine is not confined, and must reach no
 * further than the caller itself. The Chair reaches the workspace and its projects.
 */
export interface CallerPaths {
  /**
   * Resolves a path that sessions share, such as a ledger: of the workspace or of the caller's project. Throws
   * `path_outside`, and `chair_only` for the folders of svc, git and agents.
   */
  resolveShared(path: string, caller: Caller): NamedPath;
  /** Resolves a path in one folder that the caller may read; `key` is relative to it. */
  resolveBelow(folder: string, path: string, caller: Caller): NamedPath;
  /**
   * Resolves a folder that the engine reads or writes for the caller: a worker's must be below its own worktree, and
   * a path of the repository maps to the worktree. Throws `path_outside`, and `chair_only` for the configuration of
   * programs.
   */
  resolveOwn(path: string, caller: Caller): { top: string; absolute: string };
  /** Reports whether the sources in a folder belong to the caller: for a worker, its worktree and its project. */
  isOwnFolder(folder: string, caller: Caller): boolean;
}

export interface CallerPathsDeps {
  paths: Pick<WorkspacePaths, 'resolveNamed' | 'resolveInside'>;
  /** The workspace's folder, absolute. */
  root: string;
  /** The engine's own folders, absolute: the data folder, those of sessions. */
  closed: readonly string[];
  /** Folder of the session worktrees, absolute. */
  worktrees: string;
  /** Returns absolute folders of the registered projects. */
  projects(): readonly string[];
  /** Returns null for a session without a worker. */
  foldersOf(sessionId: string): WorkerFolders | null;
  /** Reports whether a path, relative to the top of a checkout, is in a folder of svc, git or an agent. */
  isPrivate(path: string): boolean;
  /** Reports whether it configures a program: in one of those folders, or a file that is listed before a promotion. */
  isConfiguration(path: string): boolean;
}

/** The relevant forms of a path: as named, and with links resolved. */
interface Place {
  /** The caller's form. */
  given: string;
  top: string;
  /** Below `top`, or in a worktree, where it means the same file of the repository. */
  named: string;
  absolute: string;
}

export function createCallerPaths(deps: CallerPathsDeps): CallerPaths {
  const { paths, root } = deps;

  const toKey = (top: string, path: string): string => relative(top, path).split(sep).join('/');

  /** Returns the path without its worktree, which is itself in a closed folder. */
  function nameKey(top: string, named: string): string {
    const isOfWorktree = isInsideFolder(deps.worktrees, named) && !isInsideFolder(deps.worktrees, top);
    if (!isOfWorktree) return toKey(top, named);
    return toKey(deps.worktrees, named).split('/').slice(1).join('/');
  }

  /** Throws `chair_only`. */
  function checkOpen({ given, top, named, absolute }: Place, isClosed: (path: string) => boolean): void {
    const closed = deps.closed.map(resolveExistingPart).filter((folder) => !isInsideFolder(folder, top));
    const isRefused =
      [nameKey(top, named), toKey(resolveExistingPart(top), absolute)].some(isClosed) ||
      closed.some((folder) => isInsideFolder(folder, absolute)) ||
      isInGitFolder(resolveExistingPart(top), absolute);
    if (isRefused)
      throw new SvcError(
        'chair_only',
        `${JSON.stringify(given)} belongs to svc, git or an agent, and only the Chair may name it`,
        { hint: 'name another path, or ask the Chair to do it' },
      );
  }

  /** Returns a location in the workspace or a project, as a path that starts at the workspace's folder. */
  function placeNamed(path: string, absolute: string): Place {
    const tops = [root, ...deps.projects()];
    const top = tops.find((folder) => isInsideFolder(resolveExistingPart(folder), absolute)) ?? root;
    return { given: path, top, named: resolve(root, path), absolute };
  }

  function findFolders({ seat, sessionId }: Caller): WorkerFolders | null {
    return seat === 'worker' && sessionId !== null ? deps.foldersOf(sessionId) : null;
  }

  /** Returns the folder of a worker, with its path. Throws `path_outside`. */
  function placeInWorktree(path: string, caller: Caller): { top: string; named: string } {
    const folders = findFolders(caller);
    const top = folders?.worktree ?? folders?.cwd ?? null;
    if (folders === null || top === null)
      throw new SvcError('path_outside', `${caller.sessionId ?? 'this worker'} has no folder to work in`);
    const { repository, cwd } = folders;
    const isOfRepository = (at: string): boolean => repository !== null && isInsideFolder(repository, at);
    const fromRoot = resolve(root, path);
    const named = isAbsolute(path) || isOfRepository(fromRoot) ? fromRoot : resolve(cwd ?? top, path);
    if (isInsideFolder(top, named) || !isOfRepository(named)) return { top, named };
    return { top, named: join(top, relative(repository as string, named)) };
  }

  return {
    resolveShared(path, caller) {
      const found = paths.resolveNamed(path);
      if (caller.seat === 'chair') return found;
      checkOpen(placeNamed(path, found.absolute), deps.isPrivate);
      const folders = findFolders(caller);
      const own = [root, ...(folders === null ? [] : [folders.project])];
      if (
        caller.seat !== 'worker' ||
        own.some((folder) => isInsideFolder(resolveExistingPart(folder), found.absolute))
      )
        return found;
      throw new SvcError('path_outside', `${JSON.stringify(path)} is outside the project of this worker`, {
        hint: `paths are relative to ${root}`,
      });
    },
    resolveBelow(folder, path, caller) {
      const found = paths.resolveInside(folder, path);
      if (caller.seat !== 'chair')
        checkOpen(
          { given: path, top: folder, named: resolve(folder, path), absolute: found.absolute },
          deps.isPrivate,
        );
      return found;
    },
    resolveOwn(path, caller) {
      if (caller.seat !== 'worker') {
        const { absolute } = paths.resolveNamed(path);
        const place = placeNamed(path, absolute);
        if (caller.seat !== 'chair') checkOpen(place, deps.isConfiguration);
        return { top: resolveExistingPart(place.top), absolute };
      }
      const { top, named } = placeInWorktree(path, caller);
      const { absolute } = paths.resolveInside(top, named);
      checkOpen({ given: path, top, named, absolute }, deps.isConfiguration);
      if (absolute !== resolveExistingPart(top)) return { top: resolveExistingPart(top), absolute };
      throw new SvcError('path_outside', 'a worker names a folder below its worktree, not the worktree', {
        hint: 'name a folder, such as notes',
      });
    },
    isOwnFolder(folder, caller) {
      if (caller.seat !== 'worker') return true;
      const folders = findFolders(caller);
      const own = folders === null ? [] : [folders.worktree, folders.cwd, folders.project];
      return own.some((each) => each !== null && resolveExistingPart(each) === folder);
    },
  };
}

/** Reports whether a path is inside a git folder of any name. */
function isInGitFolder(top: string, path: string): boolean {
  for (let at = path; isInsideFolder(top, at); at = dirname(at)) {
    if (['HEAD', 'objects', 'refs'].every((name) => existsSync(join(at, name)))) return true;
    if (at === dirname(at)) return false;
  }
  return false;
}
