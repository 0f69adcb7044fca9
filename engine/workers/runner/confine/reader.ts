import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isInsideFolder } from '../../../core/base/paths.ts';
import { checkConfinement } from './confinement.ts';
import { buildKernelArgs } from './kernel.ts';
import { realOf } from './paths.ts';
import { chooseUserInside } from './user.ts';

/** A program that only reads a folder, and answers over the pipes that it was started with. */
export interface ReaderSpec {
  argv: readonly string[];
  /** The folder that it reads and starts in. Absolute, links followed. */
  folder: string;
  /** Folders in it that it does not see. */
  without: readonly string[];
  /** Further files that it needs: its own. */
  files: readonly string[];
}

/** Paths that system programs need to run. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/nix/store', '/run/current-system'];
const LOADER = ['/etc/ld.so.cache', '/etc/ld.so.conf', '/etc/ld.so.conf.d', '/etc/alternatives'];

/**
 * Builds the command that runs a program that may only read one folder: without network, environment, other processes
 * or writable files, ending with the thread that started it. Throws as `checkConfinement` does.
 */
export async function confineReader(
  { argv, folder, without, files }: ReaderSpec,
  env: NodeJS.ProcessEnv,
): Promise<string[]> {
  const { program, canShutUserns } = await checkConfinement(env);
  const uid = String(process.getuid?.() === 0 ? chooseUserInside() : (process.getuid?.() ?? 0));
  const hidden = listOutermost(without.flatMap((path) => realOf(path) ?? [])).filter(
    (path) => path !== folder && isInsideFolder(folder, path),
  );
  return [
    program,
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

/** A program of Node with the files it needs in addition to the system's own folders. */
export const listNodeFiles = (node: string, program: string): string[] => [
  realpathSync(node),
  node,
  dirname(program),
  join(dirname(program), '..', '..', 'package.json'),
];
