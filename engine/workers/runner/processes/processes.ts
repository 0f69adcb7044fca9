import {
  type Containment,
  type ContainmentKind,
  MARKS_ONLY,
  type ProcessTable,
  platform,
} from '../../../core/platform/index.ts';
import type { EngineProcess } from '../../../core/workspace/daemon-record.ts';
import type { KnownSessions } from '../../../core/workspace/known-sessions.ts';
import { type AdoptTarget, adoptProcess, findStartedProcess, findStartedWrapper } from './adopt.ts';
import { probeLiveness } from './marks.ts';
import { type RunningProcess, type StartSpec, startProcess } from './start.ts';
import { startAgain } from './start-again.ts';
import { type StopOptions, type StopResult, type StopTarget, stopRun, sweepRun } from './stop.ts';
import { type ProcessName, type ProcessOrigin, traceAncestors } from './trace.ts';
import { claimStart, readExit, readStarted } from './wrapper.ts';

export interface ProcessesDeps {
  /** How the process table is read; by default this machine's. */
  table?: ProcessTable;
  /** How often an adopted process is checked, ms; 250. */
  pollMs?: number;
  /** By default marks only. */
  containment?: Containment;
  /** See `TraceDeps`. */
  lostEngine?: EngineProcess | null;
  /** The record of sessions of persons. */
  knownSessions?: KnownSessions;
}

export interface RunProcesses {
  /** Starts an agent; see `StartSpec`. Throws `agent_not_found`, `spawn_failed`, `already_running`. */
  start(spec: StartSpec): Promise<RunningProcess>;
  /**
   * Starts an agent that an earlier host may have started; then it finds that process, running or ended. Throws as
   * `start`, and `conflict` for a run that was given up.
   */
  startAgain(spec: StartSpec): Promise<RunningProcess>;
  /** Finds the process of a run that an earlier host has started, running or ended; null if none was started. */
  findStarted(run: { runDir: string; runId: string }): RunningProcess | null;
  /** Claims a run's only start. True: no wrapper will ever run the agent of this run directory. False: it did start. */
  claimStart(runDir: string): boolean;
  readExit(runDir: string): number | null;
  readStarted(runDir: string): number | null;
  /** Finds the living wrapper of a run whose start was never recorded, or null. */
  findStartedWrapper(run: { runDir: string; runId: string }): { pid: number; pidStart: string } | null;
  checkLiveness(pid: number, pidStart: string): 'alive' | 'dead' | 'unknown';
  /** Returns the start time of a running process; null if it is gone or cannot be read. */
  readStartTime(pid: number): string | null;
  /** Follows a worker that an earlier host started. */
  adopt(target: AdoptTarget): RunningProcess;
  /** Wraps a command of a run that others start, so that `stop` and `sweep` find all of its processes. */
  contain: Containment['contain'];
  /** Returns the kind of containment that runs get on this machine. */
  findContainmentKind(): Promise<ContainmentKind>;
  /** Kills the processes that an earlier host left of runs that are no longer known. */
  endUnknownRuns: Containment['endUnknownRuns'];
  /** Stops the run's group and all its descendants. */
  stop(target: StopTarget, options?: StopOptions): Promise<StopResult>;
  /** Kills all processes in the run's cgroup or with its mark; `since` (the run's pidStart) makes it cheaper. */
  sweep(runId: string, since?: string): Promise<StopResult>;
  /** Traces a calling process back to runs and the engine; null for an unknown one. */
  traceProcess(process: ProcessName | null): ProcessOrigin;
  /** Traces a process without an engine. */
  traceWithoutEngine(pid: number): ProcessOrigin;
  /** Lists the marks of the runs that a process belongs to, by itself and its ancestors, nearest first. */
  listRunsAbove(pid: number): string[];
  /** See `Containment.enterEngineCgroup`. */
  enterEngineCgroup: Containment['enterEngineCgroup'];
  /** Returns the login that this process belongs to, as the kernel numbers them; null for none. */
  readOwnLogin(): string | null;
  /** Stops watching adopted processes. The workers themselves continue. */
  close(): Promise<void>;
}

/** No process has this pid. */
const NOBODY = -1;

/** Owns worker processes: starting, following, stopping and recognising them. Does not use the database. */
export function createProcesses({
  table = platform.processes,
  pollMs = 250,
  containment = MARKS_ONLY,
  lostEngine = null,
  knownSessions,
}: ProcessesDeps = {}): RunProcesses {
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
  const traceFrom = (process: ProcessName | null, enginePid: number): ProcessOrigin => {
    hidesOthers ??= table.hidesOthers();
    const { runsOfCgroup, isEngineCgroup } = containment;
    return traceAncestors(process, {
      table,
      enginePid,
      runsOfCgroup,
      isEngineCgroup,
      lostEngine,
      isKnownSession: (leader) => knownSessions?.has(leader) ?? false,
      hidesOthers: () => hidesOthers ?? false,
    });
  };
  const readStartTime = (pid: number): string | null => {
    const entry = table.read(pid);
    return typeof entry === 'object' && !entry.zombie ? entry.start : null;
  };
  /** A session that one command created for itself is gone with it. */
  function rememberSession(pid: number): void {
    const entry = table.read(pid);
    if (typeof entry !== 'object' || entry.sid === pid || entry.sid === 0) return;
    const leader = table.read(entry.sid);
    if (typeof leader === 'object' && !leader.zombie) knownSessions?.add(leader);
  }
  const traceWithoutEngine = (pid: number): ProcessOrigin => {
    const pidStart = readStartTime(pid);
    return traceFrom(pidStart === null ? null : { pid, pidStart }, NOBODY);
  };
  const start = (spec: StartSpec) => startProcess(spec, table, containment);
  const findStarted: RunProcesses['findStarted'] = (run) => findStartedProcess(run, table, every);
  return {
    start,
    startAgain: (spec) => startAgain(spec, { start, findStarted }),
    findStarted,
    contain: containment.contain,
    findContainmentKind: containment.kind,
    endUnknownRuns: containment.endUnknownRuns,
    claimStart,
    readExit,
    readStarted,
    findStartedWrapper: (run) => findStartedWrapper(run, table),
    checkLiveness: (pid, pidStart) => probeLiveness(table, pid, pidStart),
    readStartTime,
    adopt: (target) => adoptProcess(target, table, every),
    stop: (target, options) =>
      stopRun(table, target, { ...options, endContained: () => containment.endRun(target.runId) }),
    async sweep(runId, since) {
      const left = await containment.endRun(runId);
      // A process that left its cgroup still has its mark.
      const { survivors } = await sweepRun(table, runId, since);
      return { survivors: [...new Set([...left, ...survivors])] };
    },
    traceProcess(process) {
      const origin = traceFrom(process, globalThis.process.pid);
      if (process !== null && origin.doubt === null && origin.runs.length === 0) rememberSession(process.pid);
      return origin;
    },
    traceWithoutEngine,
    enterEngineCgroup: containment.enterEngineCgroup,
    readOwnLogin: () => table.readLogin(globalThis.process.pid),
    listRunsAbove: (pid) => traceWithoutEngine(pid).runs,
    close() {
      for (const timer of timers) clearInterval(timer);
      timers.clear();
      return containment.close();
    },
  };
}
