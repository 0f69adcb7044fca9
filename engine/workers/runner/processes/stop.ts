import { setTimeout as delay } from 'node:timers/promises';
import { backoffMs } from '../../../core/base/backoff.ts';
import type { ProcessEntry, ProcessTable } from '../../../core/platform/index.ts';
import { MARK, probeLiveness } from './marks.ts';

export interface StopTarget {
  pid: number;
  pidStart: string;
  runId: string;
}

export interface StopOptions {
  /** Time for the group to end by itself, ms; 5000. */
  graceMs?: number;
  /** The first signal; SIGTERM. */
  signal?: NodeJS.Signals;
  /** Kills the processes in the run's cgroups after the grace period; returns the remaining ones. */
  endContained?(): Promise<number[]>;
}

export interface StopResult {
  /** Pids of the run that could not be ended, e.g. because they hang in the kernel. Empty if all are gone. */
  survivors: number[];
}

const ROUNDS = 30;
/** Interval between two checks whether it has ended. */
const PAUSES = { firstMs: 5, longestMs: 100 };

/** Processes already known to belong to the run: pid → start time. */
type Known = Map<number, string>;

const mayBeSignalled = (pid: number): boolean => pid > 1 && pid !== process.pid;

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone since (ESRCH) or not ours (EPERM): the next read of the process table shows which
  }
}

/** Signals one process, after checking that its pid still refers to the same process. */
function signalProcess(processes: ProcessTable, entry: ProcessEntry, signal: NodeJS.Signals): void {
  if (mayBeSignalled(entry.pid) && probeLiveness(processes, entry.pid, entry.start) === 'alive') {
    trySignal(entry.pid, signal);
  }
}

/**
 * Finds the living members of a run: known processes whose start time still matches, processes with its mark in their
 * environment, and all descendants of either, even with a cleared environment.
 */
function findMembers(
  processes: ProcessTable,
  table: readonly ProcessEntry[],
  runId: string,
  since: string | undefined,
  known: Known,
): ProcessEntry[] {
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of table) {
    const siblings = children.get(entry.ppid);
    if (siblings) siblings.push(entry);
    else children.set(entry.ppid, [entry]);
  }
  // Processes older than the run cannot belong to it: this saves reading most environments.
  const isOlder = (entry: ProcessEntry): boolean =>
    since !== undefined && Number(entry.start) < Number(since);
  const found = new Map<number, ProcessEntry>();
  const isKnown = ({ pid, start }: ProcessEntry): boolean => known.get(pid) === start;
  const candidates = table.filter(
    (entry) => mayBeSignalled(entry.pid) && (isKnown(entry) || !isOlder(entry)),
  );
  const unknown = candidates.filter((entry) => !isKnown(entry)).map(({ pid }) => pid);
  const marks = processes.readVariables(unknown, MARK);
  const queue = candidates.filter((entry) => isKnown(entry) || marks.get(entry.pid) === runId);
  for (let entry = queue.pop(); entry !== undefined; entry = queue.pop()) {
    if (found.has(entry.pid) || !mayBeSignalled(entry.pid)) continue;
    found.set(entry.pid, entry);
    queue.push(...(children.get(entry.pid) ?? []));
  }
  const members = [...found.values()].filter((entry) => !entry.zombie);
  for (const entry of members) known.set(entry.pid, entry.start);
  return members;
}

/** Sends SIGKILL to every member until none is found. Returns the remaining ones after the last round. */
async function killMembers(
  processes: ProcessTable,
  runId: string,
  since: string | undefined,
  known: Known,
): Promise<number[]> {
  let members: ProcessEntry[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const table = await processes.list();
    if (table !== null) {
      members = findMembers(processes, table, runId, since, known);
      if (members.length === 0) return [];
      for (const entry of members) signalProcess(processes, entry, 'SIGKILL');
    }
    await delay(round < 5 ? 5 : 60);
  }
  const table = await processes.list();
  if (table === null) return [...known.keys()]; // not known to be gone
  return findMembers(processes, table, runId, since, known).map((entry) => entry.pid);
}

/**
 * Kills every process with the run's mark. Used after every normal exit and when the daemon starts: agents run their
 * tools in separate sessions, which a signal to the group does not reach.
 * @param since start time of the run's first process, if known: older processes are then skipped
 */
export async function sweepRun(processes: ProcessTable, runId: string, since?: string): Promise<StopResult> {
  if (runId === '') return { survivors: [] };
  return { survivors: await killMembers(processes, runId, since, new Map()) };
}

/**
 * Stops a run with all its processes (R5): records the descendants, sends TERM to the group, waits until the group is
 * gone or the grace period is over, sends KILL to the group, then sweeps. A pid whose start time differs is never
 * signalled.
 */
export async function stopRun(
  processes: ProcessTable,
  target: StopTarget,
  options: StopOptions = {},
): Promise<StopResult> {
  const { pid, pidStart, runId } = target;
  const { graceMs = 5000, signal = 'SIGTERM', endContained = async () => [] } = options;
  const since = pidStart === '' ? undefined : pidStart;
  const known: Known = new Map();
  if (pidStart !== '') known.set(pid, pidStart);

  // Done before the signal: afterwards a child whose parent has ended cannot be distinguished from any other process.
  const noteMembers = async (): Promise<ProcessEntry[]> => {
    const table = await processes.list();
    return table === null ? [] : findMembers(processes, table, runId, since, known);
  };
  const members = await noteMembers();

  const isGroupLeader = (): boolean => {
    const entry = processes.read(pid);
    // A group's number cannot be reused while its leader lives.
    return (
      mayBeSignalled(pid) &&
      typeof entry === 'object' &&
      !entry.zombie &&
      entry.start === pidStart &&
      entry.pgid === pid
    );
  };
  if (isGroupLeader()) trySignal(-pid, signal);
  else for (const entry of members) signalProcess(processes, entry, signal);

  const hasEnded = async (): Promise<boolean> => {
    if (probeLiveness(processes, pid, pidStart) !== 'dead') return false;
    // Tools outside the group did not get the signal, so do not wait for them.
    return !(await noteMembers()).some((entry) => entry.pgid === pid);
  };
  const deadline = performance.now() + graceMs;
  for (let looks = 1; ; looks += 1) {
    if (await hasEnded()) break;
    const left = deadline - performance.now();
    if (left <= 0) break;
    await delay(Math.min(backoffMs(looks, PAUSES), left));
  }
  await noteMembers();
  if (isGroupLeader()) trySignal(-pid, 'SIGKILL');
  const left = await endContained();
  return { survivors: [...new Set([...left, ...(await killMembers(processes, runId, since, known))])] };
}
