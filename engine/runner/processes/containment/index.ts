import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  endCgroup,
  findCgroupBase,
  findCgroupFolders,
  JOIN,
  listCgroups,
  listPids,
  makeCgroup,
  removeIfEmpty,
} from './cgroup.ts';
import { findNamespaceTool, wrapInNamespace } from './pid-namespace.ts';

/** How the processes of a run are held together, the surest first. */
export const CONTAINMENTS = ['cgroup', 'pidns', 'marks'] as const;
export type ContainmentKind = (typeof CONTAINMENTS)[number];

export interface ContainedStart {
  runId: string;
  /** The program by its absolute path, and its arguments. */
  argv: readonly string[];
  /** It makes a pid namespace itself. */
  isConfined?: boolean;
}

/** Holds what a run starts together, so that it is found and ended whatever it does to its environment and parents. */
export interface Containment {
  /** What is to be started instead, so that nothing of the run begins outside. */
  contain(start: ContainedStart): Promise<{ argv: string[]; kind: ContainmentKind }>;
  /** What runs get here; found out once. */
  kind(): Promise<ContainmentKind>;
  /** Ends everything in the cgroups of a run; returns the pids that are left. */
  endRun(runId: string): Promise<number[]>;
  /** Ends what an earlier host has left of runs that nobody knows any more. */
  endUnknownRuns(isKnown: (runId: string) => boolean): Promise<void>;
  /** The runs that a cgroup belongs to, of this workspace or another one, the innermost first. */
  runsOfCgroup(path: string): string[];
  /** Removes what is empty of ours; runs that go on keep theirs. */
  close(): void;
}

export interface ContainmentDeps {
  /** The workspace's data folder: no two engines use the same. */
  data: string;
  env: NodeJS.ProcessEnv;
}

/** Of the cgroups of one workspace, and the value of SVC_ENGINE_CHILD. */
export const workspaceMark = (data: string): string =>
  createHash('sha256').update(data).digest('hex').slice(0, 12);

const OURS = /\/svc-[0-9a-f]{12}\/([0-9a-f-]{36})(?=\/|$)/g;

/** Today's marks alone: in the environment, and by descent. */
export const MARKS_ONLY: Containment = {
  contain: async ({ argv }) => ({ argv: [...argv], kind: 'marks' }),
  kind: async () => 'marks',
  endRun: async () => [],
  endUnknownRuns: async () => undefined,
  runsOfCgroup: (path) => [...path.matchAll(OURS)].map(([, runId]) => runId ?? '').reverse(),
  close: () => undefined,
};

/** Finds out at the first run what this machine offers: a cgroup, else a pid namespace, else marks. */
export function createContainment({ data, env }: ContainmentDeps): Containment {
  const name = `svc-${workspaceMark(data)}`;
  // A word that is none of them asks for nothing weaker.
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
  /** Folders that runs of this host were put in. */
  const made = new Set<string>();
  /** Those of earlier hosts, which may have stood elsewhere in the hierarchy. */
  let earlier: string[] | undefined;
  const findEarlierFolders = (): string[] => {
    earlier ??= findCgroupFolders(name);
    return earlier;
  };
  return {
    async contain({ runId, argv, isConfined = false }) {
      const { base, bwrap } = await findWays();
      if (base !== null) {
        try {
          const folder = join(base, runId);
          makeCgroup(folder);
          const enter = ['/bin/sh', '-c', JOIN, 'svc-run', join(folder, 'cgroup.procs')];
          return { argv: [...enter, ...argv], kind: 'cgroup' };
        } catch {
          // No more of them are allowed, or the folder around them was removed: it runs all the same.
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
      const places = new Set([...findEarlierFolders(), ...(base === null ? [] : [base])]);
      for (const folder of places) left.push(...(await endCgroup(join(folder, runId))));
      return left;
    },
    async endUnknownRuns(isKnown) {
      for (const folder of findEarlierFolders()) {
        for (const runId of listCgroups(folder)) if (!isKnown(runId)) await endCgroup(join(folder, runId));
        if (listPids(folder).length === 0) removeIfEmpty(folder);
      }
    },
    runsOfCgroup: MARKS_ONLY.runsOfCgroup,
    close() {
      for (const folder of made) removeIfEmpty(folder);
    },
  };
}
