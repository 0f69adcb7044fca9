import { type AdoptTarget, adopt, findStarted } from './adopt.ts';
import { type Containment, type ContainmentKind, MARKS_ONLY } from './containment/index.ts';
import { livenessOf, type Probe } from './probe.ts';
import { hidesOtherUsers, type ProcessName, type Standing, standingOf } from './standing.ts';
import { type RunningProcess, type StartSpec, start } from './start.ts';
import { type StopOptions, type StopResult, type StopTarget, stop, sweep } from './stop.ts';
import { systemProbe } from './system-probe.ts';
import { claimStart, readExit, readStarted } from './wrapper.ts';

export interface ProcessesDeps {
  /** How the process table is read; by default this machine's. */
  probe?: Probe;
  /** How often an adopted process is looked at; 250. */
  pollMs?: number;
  /** By default the marks alone. */
  containment?: Containment;
}

export interface Processes {
  /** Starts an agent; see `StartSpec`. Throws `agent_not_found`, `spawn_failed`, `already_running`. */
  start(spec: StartSpec): Promise<RunningProcess>;
  /** True: no wrapper will ever run the agent of this run directory. False: it did start. */
  claimStart(runDir: string): boolean;
  readExit(runDir: string): number | null;
  readStarted(runDir: string): number | null;
  /** The living wrapper of a run whose start was never recorded, or null. */
  findStarted(run: { runDir: string; runId: string }): { pid: number; pidStart: string } | null;
  isAlive(pid: number, pidStart: string): 'alive' | 'dead' | 'unknown';
  /** The start time of a running process; null when it is gone or cannot be read. */
  startOf(pid: number): string | null;
  /** Follows a worker that an earlier host started. */
  adopt(target: AdoptTarget): RunningProcess;
  /** How a program of a run is to be started by others than `start`, so that `stop` and `sweep` find all of it. */
  contain: Containment['contain'];
  /** How runs are held together here. */
  containmentKind(): Promise<ContainmentKind>;
  /** Ends what an earlier host has left of runs that nobody knows any more. */
  endOthers: Containment['endOthers'];
  /** Ends the run's group and all its descendants. */
  stop(target: StopTarget, options?: StopOptions): Promise<StopResult>;
  /** Ends what is in the run's cgroup or carries its mark; `since` (the run's pidStart) makes it cheaper. */
  sweep(runId: string, since?: string): Promise<StopResult>;
  /** What the machine tells of a process that asks for something; null for one that is not known. */
  standingOf(process: ProcessName | null): Standing;
  /** What the machine tells of a process where no engine is to be thought of. */
  standingAbove(pid: number): Standing;
  /** The marks of the runs that a process belongs to, by itself and its ancestors, the nearest first. */
  runsAbove(pid: number): string[];
  /** Stops looking at adopted processes. The workers themselves go on. */
  close(): void;
}

/** A pid that no process has. */
const NOBODY = -1;

/** Owns worker processes: starting, following, stopping and recognising them. Knows nothing of the database. */
export function createProcesses({
  probe = systemProbe(),
  pollMs = 250,
  containment = MARKS_ONLY,
}: ProcessesDeps = {}): Processes {
  const timers = new Set<NodeJS.Timeout>();
  const every = (run: () => void): (() => void) => {
    const timer = setInterval(run, pollMs);
    timer.unref();
    timers.add(timer);
    return () => {
      clearInterval(timer);
      timers.delete(timer);
    };
  };
  let hidesOthers: boolean | undefined;
  const standing = (process: ProcessName | null, enginePid: number): Standing => {
    hidesOthers ??= hidesOtherUsers();
    const { runsOfCgroup } = containment;
    return standingOf(process, { probe, enginePid, runsOfCgroup, hidesOthers: () => hidesOthers ?? false });
  };
  const startOf = (pid: number): string | null => {
    const entry = probe.read(pid);
    return typeof entry === 'object' && !entry.zombie ? entry.start : null;
  };
  const standingAbove = (pid: number): Standing => {
    const pidStart = startOf(pid);
    return standing(pidStart === null ? null : { pid, pidStart }, NOBODY);
  };
  return {
    start: (spec) => start(spec, probe, containment),
    contain: containment.contain,
    containmentKind: containment.kind,
    endOthers: containment.endOthers,
    claimStart,
    readExit,
    readStarted,
    findStarted: (run) => findStarted(run, probe),
    isAlive: (pid, pidStart) => livenessOf(probe, pid, pidStart),
    startOf,
    adopt: (target) => adopt(target, probe, every),
    stop: (target, options) =>
      stop(probe, target, { ...options, endContained: () => containment.end(target.runId) }),
    async sweep(runId, since) {
      const left = await containment.end(runId);
      // What has left its cgroup has its mark.
      const { survivors } = await sweep(probe, runId, since);
      return { survivors: [...new Set([...left, ...survivors])] };
    },
    standingOf: (process) => standing(process, globalThis.process.pid),
    standingAbove,
    runsAbove: (pid) => standingAbove(pid).runs,
    close() {
      for (const timer of timers) clearInterval(timer);
      timers.clear();
      containment.close();
    },
  };
}
