import { join } from 'node:path';
import {
  CONTAINMENTS,
  type Containment,
  type ContainmentDeps,
  type ContainmentKind,
  ENGINE_FOLDER,
  MARKS_ONLY,
  workspaceMark,
} from '../../containment.ts';
import {
  endCgroup,
  findCgroupBase,
  findOwnCgroup,
  JOIN,
  listCgroups,
  makeCgroup,
  moveIntoCgroup,
  removeChildlessCgroup,
  removeWhenEmpty,
} from './cgroup.ts';
import { openCgroupFolders } from './cgroup-folders.ts';
import { findNamespaceTool, wrapInNamespace } from './pid-namespace.ts';

/** Determines at the first run what this machine offers: a cgroup, otherwise a pid namespace, otherwise marks. */
export function createLinuxContainment({ data, env }: ContainmentDeps): Containment {
  const name = `svc-${workspaceMark(data)}`;
  // An unknown value requests nothing weaker.
  const wanted = Math.max(0, CONTAINMENTS.indexOf(env.SVC_CONTAINMENT as ContainmentKind));
  const isAllowed = (kind: ContainmentKind): boolean => CONTAINMENTS.indexOf(kind) >= wanted;
  let ways: Promise<{ base: string | null; bwrap: string | null }> | undefined;
  const findWays = () => {
    ways ??= (async () => {
      const base = isAllowed('cgroup') ? await findCgroupBase(name) : null;
      if (base !== null) made.add(base);
      const bwrap = base === null && isAllowed('pidns') ? await findNamespaceTool(env.PATH) : null;
      return { base, bwrap };
    })();
    return ways;
  };
  /** The earlier and current cgroup of this process. */
  let left: { from: string; to: string } | null = null;
  let entering: Promise<void> | undefined;
  /** Cgroup folders created by this host. */
  const made = new Set<string>();
  /** Those of earlier hosts too, which may be elsewhere in the hierarchy. */
  const folders = openCgroupFolders(data, name);
  async function enterCgroup(): Promise<void> {
    const own = findOwnCgroup();
    const { base } = await findWays();
    if (own === null || base === null) return;
    const folder = join(base, ENGINE_FOLDER);
    try {
      folders.add(base);
      makeCgroup(folder);
      moveIntoCgroup(folder);
      left = { from: join(own.mount, own.path), to: folder };
    } catch {
      // As without cgroups: processes are recognised by their mark and their descent.
    }
  }
  return {
    async contain({ runId, argv, isConfined = false }) {
      const { base, bwrap } = await findWays();
      if (base !== null) {
        try {
          const folder = join(base, runId);
          folders.add(base);
          makeCgroup(folder);
          const enter = ['/bin/sh', '-c', JOIN, 'svc-run', join(folder, 'cgroup.procs')];
          return { argv: [...enter, ...argv], kind: 'cgroup' };
        } catch {
          // The limit is reached, or the parent folder was removed: run without a cgroup.
        }
      }
      if (isConfined) return { argv: [...argv], kind: 'pidns' };
      return bwrap === null
        ? { argv: [...argv], kind: 'marks' }
        : { argv: wrapInNamespace(bwrap, argv), kind: 'pidns' };
    },
    async kind() {
      const { base, bwrap } = await findWays();
      return base !== null ? 'cgroup' : bwrap !== null ? 'pidns' : 'marks';
    },
    async endRun(runId) {
      if (runId === '') return [];
      const left = [];
      const { base } = await findWays();
      const places = new Set([...folders.list(), ...(base === null ? [] : [base])]);
      for (const folder of places) left.push(...(await endCgroup(join(folder, runId))));
      return left;
    },
    async endUnknownRuns(isKnown) {
      for (const folder of folders.list()) {
        for (const runId of listCgroups(folder))
          if (runId !== ENGINE_FOLDER && !isKnown(runId)) await endCgroup(join(folder, runId));
        removeChildlessCgroup(folder);
      }
    },
    runsOfCgroup: MARKS_ONLY.runsOfCgroup,
    isEngineCgroup: MARKS_ONLY.isEngineCgroup,
    enterEngineCgroup() {
      entering ??= enterCgroup();
      return entering;
    },
    async close() {
      // A trial or a move that has begun leaves nothing behind either.
      await (entering ?? ways);
      if (left !== null) {
        try {
          moveIntoCgroup(left.from);
        } catch {
          // Its original folder is gone.
        }
        await removeWhenEmpty(left.to);
      }
      for (const folder of made) removeChildlessCgroup(folder);
    },
  };
}
