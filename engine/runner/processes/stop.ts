import { setTimeout as delay } from 'node:timers/promises';
import { type Probe, type ProcessEntry, probeLiveness } from './probe.ts';

export interface StopTarget {
  pid: number;
  pidStart: string;
  runId: string;
}

export interface StopOptions {
  /** How long the group may take to end by itself; 5000. */
  graceMs?: number;
  /** The polite signal; SIGTERM. */
  signal?: NodeJS.Signals;
  /** Ends what is in the run's cgroups, after the grace; returns what is left. */
  endContained?(): Promise<number[]>;
}

export interface StopResult {
  /** Pids of the run that could not be ended, e.g. because they hang in the kernel. Empty when all are gone. */
  survivors: number[];
}

const ROUNDS = 30;

/** Processes already known to belong to the run: pid → start time. */
type Known = Map<number, string>;

const mayBeSignalled = (pid: number): boolean => pid > 1 && pid !== process.pid;

function trySignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // gone meanwhile (ESRCH) or not ours (EPERM): the next look at the table tells which
  }
}

/** Signals one process, after a last look that its pid still means the same process. */
function signalProcess(probe: Probe, entry: ProcessEntry, signal: NodeJS.Signals): void {
  if (mayBeSignalled(entry.pid) && probeLiveness(probe, entry.pid, entry.start) === 'alive') {
    trySignal(entry.pid, signal);
  }
}

/**
 * The living members of a run: known ones whose start time still fits, those with the mark in their environment, and
 * whatever descends from either, also with a cleared environment.
 */
function findMembers(
  probe: Probe,
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
  // What began before the run cannot belong to it: this spares reading most environments.
  const isOlder = (entry: ProcessEntry): boolean =>
    since !== undefined && Number(entry.start) < Number(since);
  const found = new Map<number, ProcessEntry>();
  const queue = table.filter(
    (entry) =>
      mayBeSignalled(entry.pid) &&
      (known.get(entry.pid) === entry.start || (!isOlder(entry) && probe.readRunMark(entry.pid) === runId)),
  );
  for (let entry = queue.pop(); entry !== undefined; entry = queue.pop()) {
    if (found.has(entry.pid) || !mayBeSignalled(entry.pid)) continue;
    found.set(entry.pid, entry);
    queue.push(...(children.get(entry.pid) ?? []));
  }
  const members = [...found.values()].filter((entry) => !entry.zombie);
  for (const entry of members) known.set(entry.pid, entry.start);
  return members;
}

/** SIGKILL to every member, again and again until a look finds none. Returns what is left after the last round. */
async function killMembers(
  probe: Probe,
  runId: string,
  since: string | undefined,
  known: Known,
): Promise<number[]> {
  let members: ProcessEntry[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const table = await probe.list();
    if (table !== null) {
      members = findMembers(probe, table, runId, since, known);
      if (members.length === 0) return [];
      for (const entry of members) signalProcess(probe, entry, 'SIGKILL');
    }
    await delay(round < 5 ? 5 : 60);
  }
  const table = await probe.list();
  if (table === null) return [...known.keys()]; // not known to be gone
  return findMembers(probe, table, runId, since, known).map((entry) => entry.pid);
}

/**
 * Ends whatever carries the run's mark. Used after every normal exit and when the daemon starts: agents run their
 * tools in sessions of their own, which a signal to the group does not reach.
 * @param since start time of the run's first process, when known: older processes are then not looked at.
 */
export async function sweepRun(probe: Probe, runId: string, since?: string): Promise<StopResult> {
  if (runId === '') return { survivors: [] };
  return { survivors: await killMembers(probe, runId, since, new Map()) };
}

/**
 * Stops a run and everything of it (R5): notes the descendants, sends TERM to the group, waits until the group is
 * gone or the grace is over, sends KILL to the group, then sweeps. A pid whose start time differs is never signalled.
 */
export async function stopRun(
  probe: Probe,
  target: StopTarget,
  options: StopOptions = {},
): Promise<StopResult> {
  const { pid, pidStart, runId } = target;
  const { graceMs = 5000, signal = 'SIGTERM', endContained = async () => [] } = options;
  const since = pidStart === '' ? undefined : pidStart;
  const known: Known = new Map();
  if (pidStart !== '') known.set(pid, pidStart);

  // Before the signal: afterwards a child whose parent has ended can no longer be told from any other.
  const noteMembers = async (): Promise<ProcessEntry[]> => {
    const table = await probe.list();
    return table === null ? [] : findMembers(probe, table, runId, since, known);
  };
  const members = await noteMembers();

  const isGroupLeader = (): boolean => {
    const entry = probe.read(pid);
    // While its leader lives a group number cannot be taken by another.
    return (
      mayBeSignalled(pid) &&
      typeof entry === 'object' &&
      !entry.zombie &&
      entry.start === pidStart &&
      entry.pgid === pid
    );
  };
  if (isGroupLeader()) trySignal(-pid, signal);
  else for (const entry of members) signalProcess(probe, entry, signal);

  const hasEnded = async (): Promise<boolean> => {
    if (probeLiveness(probe, pid, pidStart) !== 'dead') return false;
    // Tools outside the group did not get the signal, so they are not waited for.
    return !(await noteMembers()).some((entry) => entry.pgid === pid);
  };
  const deadline = performance.now() + graceMs;
  for (let pause = 5; ; pause = Math.min(pause * 2, 100)) {
    if (await hasEnded()) break;
    const left = deadline - performance.now();
    if (left <= 0) break;
    await delay(Math.min(pause, left));
  }
  await noteMembers();
  if (isGroupLeader()) trySignal(-pid, 'SIGKILL');
  const left = await endContained();
  return { survivors: [...new Set([...left, ...(await killMembers(probe, runId, since, known))])] };
}
