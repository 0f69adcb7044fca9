import { lstat, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SvcError } from '../../errors.ts';

/**
 * Writes a file where a worker may have written before: a link that it left there must not lead us to a file of
 * somebody else. The folder is made when it is missing. Throws `worktree_unsafe`.
 */
export async function writeAnew(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (!(await lstat(folder)).isDirectory()) {
    throw new SvcError('worktree_unsafe', `${folder} is a link, and svc writes nothing through it`, {
      hint: 'take it out of the branch, or begin from another one',
      data: { path: folder },
    });
  }
  await rm(file, { force: true });
  await writeFile(file, text, { mode: 0o600, flag: 'wx' });
}
