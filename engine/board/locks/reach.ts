import { dirname, relative, sep } from 'node:path';
import { isInsideFolder } from '../../core/base/paths.ts';
import type { NamedPath } from '../../core/workspace/workspace-path.ts';

/** The keys of the locks that concern a path. */
export interface LockReach {
  key: string;
  /** The path itself and every folder above it. */
  above: string[];
  /** The keys below it: from `low` up to, but excluding, `high`. */
  low: string;
  high: string;
  /** True if the whole workspace is below it: the keys that do not start with `/`. */
  holdsWorkspace: boolean;
}

/** Computes which locks concern a path. `root` is the workspace's folder, real and absolute. */
export function computeReach({ absolute, key }: NamedPath, root: string): LockReach {
  const nameKey = (path: string): string => (isInsideFolder(root, path) ? relative(root, path) || '.' : path);
  const above: string[] = [];
  for (let at = absolute; ; at = dirname(at)) {
    above.push(nameKey(at));
    if (at === dirname(at)) break;
  }
  // A project may contain the workspace.
  const holdsWorkspace = isInsideFolder(absolute, root);
  const stem = key === sep ? '' : key;
  // `0` is the character after `/`.
  return { key, above, low: `${stem}/`, high: `${stem}0`, holdsWorkspace };
}
