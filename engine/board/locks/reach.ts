import { dirname, sep } from 'node:path';
import { isInsideFolder } from '../../base/paths.ts';
import type { NamedPath } from '../../workspace/workspace-path.ts';

/** Which locks concern a path, by the keys that they have. */
export interface Reach {
  key: string;
  /** The path itself and every folder above it. */
  above: string[];
  /** What is below it: keys from `low` up to, but without, `high`. */
  low: string;
  high: string;
  /** Everything of the workspace is below it; the keys there are the ones that do not begin with `/`. */
  holdsWorkspace: boolean;
}

/** `root` is the workspace's folder, real and absolute. */
export function reachOf({ absolute, key }: NamedPath, root: string): Reach {
  const inside = root === sep ? sep : root + sep;
  const keyOf = (path: string): string => {
    if (path === root) return '.';
    return path.startsWith(inside) ? path.slice(inside.length) : path;
  };
  const above: string[] = [];
  for (let at = absolute; ; at = dirname(at)) {
    above.push(keyOf(at));
    if (at === dirname(at)) break;
  }
  // A project may lie around the workspace.
  const holdsWorkspace = isInsideFolder(absolute, root);
  const stem = key === sep ? '' : key;
  // `0` is the character after `/`.
  return { key, above, low: `${stem}/`, high: `${stem}0`, holdsWorkspace };
}
