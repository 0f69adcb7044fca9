import { createHash } from 'node:crypto';

/** Ways to contain the processes of a run, strongest first. */
export const CONTAINMENTS = ['cgroup', 'pidns', 'marks'] as const;
export type ContainmentKind = (typeof CONTAINMENTS)[number];

export interface ContainedStart {
  runId: string;
  /** The program by its absolute path, and its arguments. */
  argv: readonly string[];
  /** The program creates its own pid namespace. */
  isConfined?: boolean;
}

/** Contains the processes of a run, so that they are found and killed regardless of their environment and parents. */
export interface Containment {
  /** Wraps a command so that nothing of the run starts outside. */
  contain(start: ContainedStart): Promise<{ argv: string[]; kind: ContainmentKind }>;
  /** The containment that runs get on this machine; determined once. */
  kind(): Promise<ContainmentKind>;
  /** Kills everything in the cgroups of a run; returns the pids that are left. */
  endRun(runId: string): Promise<number[]>;
  /** Kills the processes that an earlier host left of runs that are no longer known. */
  endUnknownRuns(isKnown: (runId: string) => boolean): Promise<void>;
  /** Returns the runs that a cgroup belongs to, of this workspace or another, innermost first. */
  runsOfCgroup(path: string): string[];
  /** Reports whether a cgroup is an engine's own, of this workspace or another. */
  isEngineCgroup(path: string): boolean;
  /**
   * Moves this process into the engine's own cgroup, if this machine has one for it: processes that it starts from
   * now on are created there, and are recognised as the engine's after the engine has died. `close` moves it back.
   */
  enterEngineCgroup(): Promise<void>;
  /** Removes our empty cgroups; runs that continue keep theirs. */
  close(): Promise<void>;
}

export interface ContainmentDeps {
  /** The workspace's data folder, used by one engine at a time. */
  data: string;
  env: NodeJS.ProcessEnv;
}

/** Names the cgroups of one workspace; also the value of SVC_ENGINE_CHILD. */
export const workspaceMark = (data: string): string =>
  createHash('sha256').update(data).digest('hex').slice(0, 12);

const OURS = /\/svc-[0-9a-f]{12}\/([0-9a-f-]{36})(?=\/|$)/g;

/** The cgroup of an engine itself, next to those of its runs. */
export const ENGINE_FOLDER = 'engine';
const OF_ENGINE = new RegExp(`/svc-[0-9a-f]{12}/${ENGINE_FOLDER}(?=/|$)`);

/** No containment but marks in the environment, and descent. */
export const MARKS_ONLY: Containment = {
  contain: async ({ argv }) => ({ argv: [...argv], kind: 'marks' }),
  kind: async () => 'marks',
  endRun: async () => [],
  endUnknownRuns: async () => undefined,
  runsOfCgroup: (path) => [...path.matchAll(OURS)].map(([, runId]) => runId ?? '').reverse(),
  isEngineCgroup: (path) => OF_ENGINE.test(path),
  enterEngineCgroup: async () => undefined,
  close: async () => undefined,
};
