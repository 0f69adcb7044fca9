import { type AdoptTarget, adopt, findStarted } from './adopt.ts';
import { livenessOf, type Probe, systemProbe } from './probe.ts';
import { type RunningProcess, type StartSpec, start } from './start.ts';
import { type StopOptions, type StopResult, type StopTarget, stop, sweep } from './stop.ts';
import { claimStart, readExit, readStarted } from './wrapper.ts';

export type { AdoptTarget } from './adopt.ts';
export { ownerOfConnection } from './connection-owner.ts';
export { workerEnvironment } from './environment.ts';
export { type LogPart, logWrittenAt, readLog, tailOffset } from './log.ts';
export { createLogWatch, type LogWatch, type LogWatchOptions } from './log-watch.ts';
export { MARK, type Probe, type ProcessEntry } from './probe.ts';
export { type ExitResult, programOf, type RunningProcess, type StartSpec } from './start.ts';
export type { StopOptions, StopResult, StopTarget } from './stop.ts';
export { ALREADY_STARTED } from './wrapper.ts';

export interface ProcessesDeps {
  /** How the process table is read; by default this machine's. */
  probe?: Probe;
  /** How often an adopted process is looked at; 250. */
  pollMs?: number;
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
  /** Ends the run's group and all its descendants. */
  stop(target: StopTarget, options?: StopOptions): Promise<StopResult>;
  /** Ends what carries the run's mark; `since` (the run's pidStart) makes it cheaper. */
  sweep(runId: string, since?: string): Promise<StopResult>;
  /** The marks that the process and its ancestors carry, the nearest first. */
  marksAbove(pid: number): string[];
  /** Stops looking at adopted processes. The workers themselves go on. */
  close(): void;
}

/** Deeper trees than this are not followed upward. */
const MAX_ANCESTORS = 64;

/** Owns worker processes: starting, following, stopping and recognising them. Knows nothing of the database. */
export function createProcesses({ probe = systemProbe(), pollMs = 250 }: ProcessesDeps = {}): Processes {
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
  return {
    start: (spec) => start(spec, probe),
    claimStart,
    readExit,
    readStarted,
    findStarted: (run) => findStarted(run, probe),
    isAlive: (pid, pidStart) => livenessOf(probe, pid, pidStart),
    startOf(pid) {
      const entry = probe.read(pid);
      return typeof entry === 'object' && !entry.zombie ? entry.start : null;
    },
    adopt: (target) => adopt(target, probe, every),
    stop: (target, options) => stop(probe, target, options),
    sweep: (runId, since) => sweep(probe, runId, since),
    marksAbove(pid) {
      const marks = new Set<string>();
      let next = pid;
      for (let depth = 0; depth < MAX_ANCESTORS && next > 1; depth += 1) {
        const mark = probe.mark(next);
        if (mark !== null) marks.add(mark);
        const entry = probe.read(next);
        if (typeof entry !== 'object') break;
        next = entry.ppid;
      }
      return [...marks];
    },
    close() {
      for (const timer of timers) clearInterval(timer);
      timers.clear();
    },
  };
}
