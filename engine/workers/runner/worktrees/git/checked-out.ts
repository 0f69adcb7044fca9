import { join } from 'node:path';
import type { Git } from './git.ts';
import { findCheckoutAround, readGitFolders } from './git-folders.ts';
import { isObjectId } from './refs.ts';
import { readRegularFile } from './regular-file.ts';
import { readHeadByGit } from './run-git.ts';

/** The contents of HEAD when refs are stored as reftable. */
const IN_TABLES = 'refs/heads/.invalid';

/**
 * Returns what is checked out at a folder: a branch, or the commit of a detached HEAD; null outside a repository.
 * Synchronous, and runs no program as long as git keeps refs in plain files, which is the default.
 * @param folder absolute, links followed
 */
export function readCheckedOut(git: Pick<Git, 'env'>, folder: string): string | null {
  const checkout = findCheckoutAround(folder);
  if (checkout === null) return null;
  const named = readGitFolders(checkout);
  const head = named === null ? null : (readRegularFile(join(named.own, 'HEAD'))?.trimEnd() ?? null);
  const ref = /^ref: (refs\/heads\/.+)$/.exec(head ?? '')?.[1];
  if (ref !== undefined && ref !== IN_TABLES) return ref.slice('refs/heads/'.length);
  if (isObjectId(head)) return head;
  return readHeadByGit(git.env, folder);
}
