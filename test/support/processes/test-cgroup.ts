import { join } from 'node:path';
import {
  findOwnCgroup,
  makeCgroup,
  moveIntoCgroup,
  removeIfEmpty,
} from '../../../engine/core/platform/linux/containment/cgroup.ts';

/**
 * Moves this process, and so all that it starts, into a new cgroup. Returns a function that moves it back and removes
 * that cgroup with the empty ones below it. Does nothing on a machine whose user may not make cgroups.
 */
export function enterTestCgroup(): () => void {
  const own = findOwnCgroup();
  if (own === null) return () => undefined;
  const from = join(own.mount, own.path);
  const folder = join(from, `svc-tests-${process.pid}`);
  try {
    makeCgroup(folder);
    moveIntoCgroup(folder);
  } catch {
    removeIfEmpty(folder);
    return () => undefined;
  }
  return () => {
    moveIntoCgroup(from);
    removeIfEmpty(folder);
  };
}
