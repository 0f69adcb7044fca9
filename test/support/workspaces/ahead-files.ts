import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Lists the files of future worktrees in a workspace; the name of a folder that git is still writing ends in `.new`. */
export function listAheadFiles(root: string): string[] {
  try {
    return readdirSync(join(root, '.svc', 'agents', '.ahead'));
  } catch {
    return [];
  }
}

/** Reports whether all files of a future worktree wait. */
export const hasAheadFiles = (root: string): boolean =>
  listAheadFiles(root).some((name) => !name.endsWith('.new'));
