import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from './workspaces/git.ts';

/** A folder in which names that differ only in case are the same file. */
export interface NoCaseFolder {
  folder: string;
  remove(): void;
}

/** Returns such a folder: the temporary folder of macOS is one; Linux needs ntfs-3g and the right to mount. Null without. */
export function makeNoCaseFolder(): NoCaseFolder | null {
  const around = temporaryFolder('svc-no-case-');
  const remove = (): void => rmSync(around, { recursive: true, force: true });
  if (process.platform === 'darwin') return { folder: around, remove };
  const [image, folder] = [join(around, 'image'), join(around, 'mount')];
  writeFileSync(image, '');
  truncateSync(image, 16 * 1024 * 1024);
  mkdirSync(folder);
  const run = (program: string, ...args: string[]): boolean =>
    spawnSync(program, args, { stdio: 'ignore' }).status === 0;
  if (run('mkntfs', '-F', '-q', image) && run('lowntfs-3g', '-o', 'ignore_case', image, folder))
    return {
      folder,
      remove() {
        execFileSync('umount', [folder]);
        remove();
      },
    };
  remove();
  return null;
}
