import { statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { SvcError } from '../base/errors.ts';
import { checkWorkspaceOwner } from './owner.ts';

// Separate from loading, because every command must find its workspace and few must read the configuration.

/** A workspace's folder and its svc.yaml. */
interface Found {
  root: string;
  file: string;
}

/**
 * Finds svc.yaml and its folder: SVC_CONFIG, otherwise the nearest one upwards from `cwd`. Throws `no_workspace`, and
 * `owner_untrusted` for one that another user can change.
 */
export function findWorkspace(from: { cwd: string; env: NodeJS.ProcessEnv }): Found {
  const found = findNearestWorkspace(from);
  checkWorkspaceOwner(found.root, found.file, from.env);
  return found;
}

function findNearestWorkspace({ cwd, env }: { cwd: string; env: NodeJS.ProcessEnv }): Found {
  const named = env.SVC_CONFIG;
  if (named) {
    const path = resolve(cwd, named);
    const file = isFile(path) ? path : join(path, 'svc.yaml');
    if (isFile(file)) return { root: dirname(file), file };
    throw new SvcError('no_workspace', `SVC_CONFIG names ${path}, which is not a configuration file`, {
      hint: 'correct SVC_CONFIG, or unset it to use the svc.yaml of the current folder',
    });
  }
  for (let root = resolve(cwd); ; root = dirname(root)) {
    const file = join(root, 'svc.yaml');
    // A copy in a session's worktree is not a separate workspace.
    if (isFile(file) && !root.split(sep).includes('.svc')) return { root, file };
    if (root === dirname(root)) break;
  }
  throw new SvcError('no_workspace', `no svc.yaml in ${resolve(cwd)} or above it`, { hint: 'run svc init' });
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
