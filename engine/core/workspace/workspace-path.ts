import { realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { SvcError } from '../base/errors.ts';
import { isInsideFolder } from '../base/paths.ts';
import { foldName, ignoresCase, joinFolder, spellAsListed } from './name-case.ts';

/** A named path, resolved to its file or folder. */
export interface NamedPath {
  /** Real and absolute; a missing file is placed below a real folder. */
  absolute: string;
  /** Relative to the workspace's folder with `/`, `.` for the folder itself; absolute in a project elsewhere. */
  key: string;
}

export interface WorkspacePaths {
  /**
   * Resolves `./x`, an absolute path, `a/../x`, a symlink and the same file in a session's worktree to one result.
   * Relative paths start at the workspace's folder. Throws `path_outside` for a path in neither the workspace nor a
   * project.
   */
  resolveNamed(path: string): NamedPath;
  /**
   * Resolves a path within another folder only, also through symlinks; `key` is relative to it. Throws
   * `path_outside`.
   */
  resolveInside(folder: string, path: string): NamedPath;
  /**
   * Returns the source folder of a path, absolute with links resolved: its session worktree, otherwise the innermost
   * project, otherwise the workspace. Null if it is in none of them.
   */
  findSourceFolder(path: string): { folder: string; absolute: string } | null;
  /** Brings keys that are the same path to one spelling; null where each spelling is another path. */
  foldKey: ((key: string) => string) | null;
  /** Stats a path; null also on failure, as for a symlink to itself. */
  statOf(absolute: string): Stats | null;
}

/** The systems' limit. A longer path cannot exist, and each of its folders would be checked. */
const MAX_BYTES = 4096;
const MAX_NAME_BYTES = 255;

function statOrNull(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** Resolves the existing part of a path and keeps the rest. */
export function resolveExistingPart(path: string): string {
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(realpathSync.native(at), ...rest);
    } catch {
      if (at === dirname(at)) return path;
      rest.unshift(basename(at));
    }
  }
}

export function createWorkspacePaths(deps: {
  /** The workspace's folder, absolute. */
  root: string;
  /** Folder of the session worktrees, absolute. */
  worktrees: string;
  /** Returns absolute folders of the registered projects. */
  projects(): string[];
  /** Returns the repository of a worktree, by its folder's name; null if no session had it. */
  repositoryOf(worktreeName: string): string | null;
  /** Ends the path of the folder of session worktrees on other machines. */
  remoteWorktrees?: string;
}): WorkspacePaths {
  /**
   * Maps a path in a worktree of another machine to the one that it shares with the repository here, by its words alone:
   * no file of this machine is looked at.
   */
  function mapFromMachine(path: string): string {
    const { remoteWorktrees } = deps;
    const at = remoteWorktrees === undefined ? -1 : path.indexOf(`${remoteWorktrees}${sep}`);
    if (remoteWorktrees === undefined || at < 0) return path;
    const [name = '', ...rest] = path.slice(at + remoteWorktrees.length + 1).split(sep);
    const repository = deps.repositoryOf(name);
    return repository === null ? path : join(repository, ...rest);
  }

  /**
   * Maps a path out of a worktree: a session's worktree is another copy of the repository, and the path that both
   * share is the repository's.
   */
  function mapOutOfWorktree(path: string): string {
    const worktrees = resolveExistingPart(deps.worktrees);
    if (!isInsideFolder(worktrees, path)) return path;
    const [name = '', ...rest] = relative(worktrees, path).split(sep);
    const repository = name === '' ? null : deps.repositoryOf(name);
    return repository === null ? path : resolveReal(join(repository, ...rest));
  }

  function checkPath(path: string): void {
    if (path.trim() === '' || path.includes('\0')) {
      throw new SvcError('fields_invalid', `invalid path ${JSON.stringify(path.slice(0, 200))}`);
    }
    const isLong = path.split(sep).some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES);
    if (isLong || Buffer.byteLength(path) > MAX_BYTES) {
      throw new SvcError(
        'fields_invalid',
        `a path has at most ${MAX_BYTES} bytes, and each name in it ${MAX_NAME_BYTES}`,
      );
    }
  }

  const hasNoCase = ignoresCase(deps.root);

  /** Resolves a path, and its case where that makes no difference: not every system's own call does. */
  function resolveReal(path: string): string {
    const real = resolveExistingPart(path);
    if (!hasNoCase) return real;
    const root = resolveExistingPart(deps.root);
    const joined = joinFolder(root, real);
    return isInsideFolder(root, joined) ? spellAsListed(root, joined) : joined;
  }

  const formatPathKey = (folder: string, absolute: string): string =>
    relative(folder, absolute).split(sep).join('/') || '.';

  return {
    statOf: statOrNull,
    foldKey: hasNoCase ? foldName : null,
    findSourceFolder(path) {
      const absolute = resolveReal(path);
      const worktrees = resolveExistingPart(deps.worktrees);
      if (isInsideFolder(worktrees, absolute)) {
        const [name = ''] = relative(worktrees, absolute).split(sep);
        return name === '' ? null : { folder: join(worktrees, name), absolute };
      }
      const folders = [deps.root, ...deps.projects()].map(resolveExistingPart);
      const around = folders.filter((folder) => isInsideFolder(folder, absolute));
      const [innermost] = around.sort((one, other) => other.length - one.length);
      return innermost === undefined ? null : { folder: innermost, absolute };
    },
    resolveInside(folder, path) {
      checkPath(path);
      const root = resolveExistingPart(folder);
      const absolute = resolveExistingPart(resolve(root, path));
      if (isInsideFolder(root, absolute)) return { absolute, key: formatPathKey(root, absolute) };
      throw new SvcError('path_outside', `${JSON.stringify(path)} is outside the worktree`, {
        hint: `paths are relative to ${folder}`,
      });
    },
    resolveNamed(path) {
      checkPath(path);
      const root = resolveExistingPart(deps.root);
      const absolute = mapOutOfWorktree(resolveReal(mapFromMachine(resolve(root, path))));
      if (isInsideFolder(root, absolute)) {
        return { absolute, key: formatPathKey(root, absolute) };
      }
      if (deps.projects().some((folder) => isInsideFolder(resolveExistingPart(folder), absolute)))
        return { absolute, key: absolute };
      throw new SvcError('path_outside', `${JSON.stringify(path)} is outside the workspace`, {
        hint: `paths are relative to ${root}`,
      });
    },
  };
}
