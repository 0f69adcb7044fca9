import { runProgram } from '../../../base/run-program.ts';
import type { Capability } from '../../platform.ts';
import { findCgroupBase, removeChildlessCgroup } from './cgroup.ts';

/** Tries to create a cgroup. */
async function canMakeCgroups(): Promise<boolean> {
  const base = await findCgroupBase('svc-trial');
  if (base !== null) removeChildlessCgroup(base);
  return base !== null;
}

/** Tries to create namespaces, by a program that util-linux and busybox have; null without it. */
async function canUnshare(path: string | undefined, ...options: string[]): Promise<boolean | null> {
  const env = path === undefined ? {} : { PATH: path };
  const args = [...options, '/bin/sh', '-c', ':'];
  const { error } = await runProgram('unshare', args, { env, timeoutMs: 5000 });
  return error?.code === 'ENOENT' ? null : error === null;
}

/** Tries the rights that containers often lack, with the programs on a search path. */
export async function tryRights(path: string | undefined): Promise<Capability[]> {
  const [cgroups, userNamespaces, ownProc] = await Promise.all([
    canMakeCgroups(),
    canUnshare(path, '-U'),
    canUnshare(path, '-Urpf', '--mount-proc'),
  ]);
  const without = 'runs have no pid namespace, and guard.profile strict is refused';
  return [
    {
      name: 'cgroups',
      way: cgroups ? 'one for each run' : null,
      otherwise: 'none may be created here; a run has a pid namespace, or marks in its environment',
    },
    {
      name: 'user namespaces',
      way: userNamespaces === null ? 'not tried: unshare is not on PATH' : userNamespaces ? 'allowed' : null,
      otherwise: `none may be created here; ${without}`,
    },
    // Says nothing more where namespaces are missing already.
    ...(userNamespaces && !ownProc
      ? [{ name: 'a new /proc', way: null, otherwise: `parts of it are masked here; ${without}` }]
      : []),
  ];
}
