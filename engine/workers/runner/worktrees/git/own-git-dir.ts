import { existsSync, lstatSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { SvcError } from '../../../../core/base/errors.ts';
import { readRegularFile } from './regular-file.ts';
import { samePath } from './repository.ts';
import { findTraps } from './traps.ts';

const unsafeGitDirError = (path: string, reason: string): SvcError =>
  new SvcError('worktree_unsafe', `${path} ${reason}`, {
    hint: 'inspect it by hand; svc changes and removes nothing there',
    data: { path },
  });

/**
 * Returns the git folder of a worktree if its repository created it: a worker can write the `.git` of its worktree,
 * and git would trust it. Only reads files, so it works even if git cannot read the repository.
 * @param commonDir the git folder of the repository that the worktree has to belong to
 * @throws `worktree_unsafe`
 */
export function verifyOwnGitDir(path: string, commonDir: string): string {
  const mark = join(path, '.git');
  const found = lstatSync(mark, { throwIfNoEntry: false });
  if (found === undefined)
    throw unsafeGitDirError(path, 'is not a git worktree any more: its .git file is gone');
  if (found.isDirectory())
    throw unsafeGitDirError(
      path,
      'is a separate repository now: its .git was replaced, and its content cannot be determined',
    );
  const named = /^gitdir: (.+)\n?$/.exec(readRegularFile(mark) ?? '')?.[1];
  if (named === undefined)
    throw unsafeGitDirError(path, 'is not a git worktree any more: its .git file names no git folder');
  const own = resolve(path, named);
  if (!samePath(dirname(own), join(commonDir, 'worktrees')))
    throw unsafeGitDirError(path, `uses a git folder that does not belong to its repository: ${own}`);
  if (!existsSync(own)) throw unsafeGitDirError(path, `has lost its git folder ${own}`);
  const trap = findTraps(own, { links: true })[0];
  if (trap !== undefined) throw unsafeGitDirError(path, `has a link or pipe in its git folder: ${trap}`);
  const back = readRegularFile(join(own, 'gitdir'))?.trimEnd();
  const shared = readRegularFile(join(own, 'commondir'))?.trimEnd();
  const isItsOwn =
    back !== undefined &&
    shared !== undefined &&
    samePath(dirname(resolve(own, back)), path) &&
    samePath(resolve(own, shared), commonDir);
  if (!isItsOwn) throw unsafeGitDirError(path, `uses a git folder that was not made for it: ${own}`);
  return own;
}
