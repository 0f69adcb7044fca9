import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../../../base/backoff.ts';
import { readProgram } from '../../../base/run-program.ts';

/** How long to wait for a cgroup to become empty. */
const END_MS = 3000;
const FREEZE_MS = 500;
/** How long to wait for processes that have been killed or have read the end of their input. */
const ENDING_MS = 500;
const PAUSES = { firstMs: 1, longestMs: 50 };

/**
 * Joins the cgroup whose `cgroup.procs` is $1, then executes the rest. The process joins itself, so nothing of it
 * starts outside.
 */
export const JOIN = `printf 0 >"$1" || { echo "svc: could not enter $1" >&2; exit 97; }; shift; exec "$@"`;

/** Returns the mount point of cgroup version 2, and this process's cgroup; null without version 2. See cgroups(7), proc(5). */
export function findOwnCgroup(proc = '/proc/self'): { mount: string; path: string } | null {
  try {
    const path = /^0::(.*)$/m.exec(readFileSync(`${proc}/cgroup`, 'utf8'))?.[1];
    for (const line of readFileSync(`${proc}/mountinfo`, 'utf8').split('\n')) {
      const [before = '', after = ''] = line.split(' - ');
      const [, , , root = '', mount = ''] = before.split(' ');
      if (path === undefined || !after.startsWith('cgroup2 ')) continue;
      // A mount may show only part of the hierarchy.
      const below = root === '/' ? path : path.startsWith(root) ? path.slice(root.length) : null;
      if (below !== null && !below.split('/').includes('..'))
        return { mount: unescapeMount(mount), path: below };
    }
  } catch {
    // not such a machine
  }
  return null;
}

/** mountinfo writes blanks and backslashes as octal numbers. */
const unescapeMount = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/** Returns the folder for our cgroups below our own one, after a trial with a process; null if this user may not. */
export async function findCgroupBase(name: string, own = findOwnCgroup()): Promise<string | null> {
  if (own === null) return null;
  const base = join(own.mount, own.path, name);
  const trial = join(base, 'trial');
  try {
    makeCgroup(trial);
    const args = ['-c', JOIN, 'svc-run', join(trial, 'cgroup.procs'), '/bin/sh', '-c', ':'];
    await readProgram('/bin/sh', args, { timeoutMs: 5000 });
    return base;
  } catch {
    await removeTrial(trial);
    removeChildlessCgroup(base);
    return null;
  } finally {
    await removeTrial(trial);
  }
}

/** Removes the cgroup of a trial, in a thread: the kernel takes up to 25 ms after the end of its process. */
const removeTrial = (trial: string): Promise<void> => rmdir(trial).catch(() => undefined);

/** Creates a cgroup in one of ours. Not with `recursive`, which never ends if the kernel refuses. */
export function makeCgroup(folder: string): void {
  for (const each of [dirname(folder), folder]) {
    try {
      mkdirSync(each);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}

/** Moves this process, with all its threads, into a cgroup. */
export const moveIntoCgroup = (folder: string): void => writeFileSync(join(folder, 'cgroup.procs'), '0');

export function listCgroups(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

/** Lists the processes of a cgroup and of the cgroups below it. */
export function listPids(folder: string): number[] {
  let own: number[] = [];
  try {
    // 0 stands for a process without a number in this namespace.
    own = readFileSync(join(folder, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean).map(Number);
  } catch {
    // It is gone, or holds threads only; the cgroups below are checked anyway.
  }
  return [...own, ...listCgroups(folder).flatMap((name) => listPids(join(folder, name)))];
}

const isPopulated = (folder: string): boolean => {
  try {
    return /^populated 1$/m.test(readFileSync(join(folder, 'cgroup.events'), 'utf8'));
  } catch {
    return false;
  }
};

/**
 * Kills every process of a cgroup, even while they fork, and removes it. Returns the pids that are left.
 * @param atOnce by `cgroup.kill`, if the kernel has it
 */
export async function endCgroup(folder: string, { atOnce = true } = {}): Promise<number[]> {
  if (!existsSync(folder)) return [];
  const deadline = performance.now() + END_MS;
  for (let tries = 1; isPopulated(folder) && performance.now() < deadline; tries += 1) {
    await killCgroup(folder, atOnce);
    await delay(backoffMs(tries, PAUSES));
  }
  removeIfEmpty(folder);
  return listPids(folder);
}

async function killCgroup(folder: string, atOnce: boolean): Promise<void> {
  try {
    // One write kills all; Linux 5.14 and later.
    if (atOnce && existsSync(join(folder, 'cgroup.kill')))
      return writeFileSync(join(folder, 'cgroup.kill'), '1');
    // Frozen processes cannot fork while they are killed one by one.
    writeFileSync(join(folder, 'cgroup.freeze'), '1');
    const until = performance.now() + FREEZE_MS;
    while (
      performance.now() < until &&
      !/^frozen 1$/m.test(readFileSync(join(folder, 'cgroup.events'), 'utf8'))
    )
      await delay(5);
  } catch {
    // Kills them one by one, as often as needed.
  }
  for (const pid of listPids(folder)) {
    try {
      if (pid > 1 && pid !== process.pid) process.kill(pid, 'SIGKILL');
    } catch {
      // It has just ended.
    }
  }
  try {
    writeFileSync(join(folder, 'cgroup.freeze'), '0');
  } catch {
    // gone
  }
}

/**
 * Removes a cgroup that has none below it. Cgroups of runs are left to `endCgroup`: one that looks empty may belong
 * to a run whose wrapper is about to enter it.
 */
export function removeChildlessCgroup(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // in use, or gone
  }
}

/** Removes a cgroup as soon as the processes that are ending in it have ended. It is left if one continues. */
export async function removeWhenEmpty(folder: string): Promise<void> {
  const deadline = performance.now() + ENDING_MS;
  for (let tries = 1; isPopulated(folder) && performance.now() < deadline; tries += 1)
    await delay(backoffMs(tries, PAUSES));
  removeChildlessCgroup(folder);
}

/** Removes a cgroup and the cgroups below it; the kernel refuses to remove one that holds a process. */
export function removeIfEmpty(folder: string): void {
  for (const name of listCgroups(folder)) removeIfEmpty(join(folder, name));
  removeChildlessCgroup(folder);
}
