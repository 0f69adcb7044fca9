import { lstatSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { SvcError } from './errors.ts';
import { makeFoldersWithin } from './private-files.ts';

/**
 * Writes a file where a worker may have written before: a link left there must not redirect the write. `top` must
 * exist; missing folders below it are created. Throws `worktree_unsafe`.
 */
export async function writeFreshFile(top: string, file: string, text: string): Promise<void> {
  const inTheWay = makeFoldersWithin(top, dirname(file));
  if (inTheWay !== null) {
    throw new SvcError('worktree_unsafe', `${inTheWay} is a link or a file, so svc does not write there`, {
      hint: 'remove it from the branch, or start from another branch',
      data: { path: inTheWay },
    });
  }
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined)
    await rm(file, { recursive: true, force: true });
  // Handing such a small write to another thread takes longer.
  writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
}
