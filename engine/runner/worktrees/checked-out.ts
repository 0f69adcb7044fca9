import { lstatSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Git } from './git.ts';
import { isObjectId } from './refs.ts';
import { readHeadByGit } from './run-git.ts';
import { readRegularFile } from './traps.ts';

/** What HEAD holds when refs are stored as reftable. */
const IN_TABLES = 'refs/heads/.invalid';

/**
 * The git folder of the checkout around a folder; null outside a repository, undefined where git itself has to be
 * asked.
 */
function findGitFolderAround(folder: string): string | null | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const mark = join(at, '.git');
    const found = lstatSync(mark, { throwIfNoEntry: false });
    if (found?.isDirectory()) return mark;
    if (found?.isFile()) {
      const named = /^gitdir: (.+)$/m.exec(readRegularFile(mark) ?? '')?.[1];
      return named === undefined ? undefined : isAbsolute(named) ? named : resolve(at, named);
    }
    if (found !== undefined) return undefined;
    if (dirname(at) === at) return null;
  }
}

/**
 * What is checked out at a folder: a branch, or the commit of a detached HEAD; null outside a repository.
 * Synchronous, and runs no program as long as git keeps refs in plain files, which is the default.
 * @param folder absolute, links followed
 */
export function readCheckedOut(git: Pick<Git, 'env'>, folder: string): string | null {
  const own = findGitFolderAround(folder);
  if (own === null) return null;
  const head = own === undefined ? null : (readRegularFile(join(own, 'HEAD'))?.trimEnd() ?? null);
  const ref = /^ref: (refs\/heads\/.+)$/.exec(head ?? '')?.[1];
  if (ref !== undefined && ref !== IN_TABLES) return ref.slice('refs/heads/'.length);
  if (isObjectId(head)) return head;
  return readHeadByGit(git.env, folder);
}
