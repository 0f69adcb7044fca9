import { existsSync, realpathSync } from 'node:fs';
import { isInsideFolder } from '../../../base/paths.ts';
import { findRealPath } from '../../../base/real-paths.ts';
import type { SandboxReader } from '../../sandbox/index.ts';
import { buildKernelArgs } from './kernel.ts';
import { chooseUserInside } from './user.ts';

/** Paths that system programs need to run. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/nix/store', '/run/current-system'];
const LOADER = ['/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/alternatives'];

/** Builds bubblewrap's arguments for a program that only reads a folder and ends with the thread that started it. */
export function buildReaderArgs(
  { argv, folder, without, files }: SandboxReader,
  canShutUserns: boolean,
): string[] {
  const uid = String(process.getuid?.() === 0 ? chooseUserInside() : (process.getuid?.() ?? 0));
  const hidden = listOutermost(without.flatMap((path) => findRealPath(path) ?? [])).filter(
    (path) => path !== folder && isInsideFolder(folder, path),
  );
  return [
    ...['--unshare-all', '--unshare-user', '--uid', uid, '--gid', uid, '--cap-drop', 'ALL'],
    ...(canShutUserns ? ['--disable-userns'] : []),
    ...['--die-with-parent', '--new-session', '--clearenv'],
    ...[...SYSTEM, ...LOADER].flatMap((path) => ['--ro-bind-try', path, path]),
    ...['--dev', '/dev', '--proc', '/proc', ...buildKernelArgs(), '--tmpfs', '/tmp'],
    ...files.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', realpathSync(path), path]),
    ...['--ro-bind', folder, folder],
    ...hidden.flatMap((path) => ['--tmpfs', path, '--remount-ro', path]),
    ...['--remount-ro', '/tmp', '--remount-ro', '/', '--chdir', folder, '--', ...argv],
  ];
}

/** Hidden folders cannot contain anything else. */
const listOutermost = (paths: readonly string[]): string[] =>
  [...new Set(paths)].filter((path) => !paths.some((other) => other !== path && isInsideFolder(other, path)));
