import { type ProcessEntry, platform } from '../../../engine/core/platform/index.ts';
import { until } from '../wait.ts';

/** Milliseconds that processes have to end by themselves after their terminal is gone. */
const HANG_UP_MS = 2000;

/** Process state; null if the process does not exist. */
export interface ProcessStat {
  pid: number;
  isZombie: boolean;
  parent: number;
  /** Pid of the process that called setsid: the program that a terminal was opened for. */
  session: number;
  /** Start time; together with the pid it identifies a process permanently. */
  started: string;
}

const toStat = ({ pid, ppid, sid, zombie, start }: ProcessEntry): ProcessStat => ({
  ...{ pid, isZombie: zombie, parent: ppid, session: sid, started: start },
});

export function processStat(pid: number): ProcessStat | null {
  const entry = platform.processes.read(pid);
  return typeof entry === 'object' ? toStat(entry) : null;
}

/** Reports whether a process is running and not a zombie. */
export function isRunning(pid: number): boolean {
  const stat = processStat(pid);
  return stat !== null && !stat.isZombie;
}

const running = (): ProcessStat[] =>
  (platform.processes.listNow() ?? []).filter(({ zombie }) => !zombie).map(toStat);

/** Lists the running processes, but this one, whose environment contains all of these variables: `NAME=value`. */
export function listMarked(...marks: string[]): { pid: number; command: string }[] {
  const { processes } = platform;
  let pids = (processes.listPids() ?? []).filter((pid) => pid !== process.pid);
  for (const mark of marks) {
    const at = mark.indexOf('=');
    const found = processes.readVariables(pids, mark.slice(0, at));
    pids = pids.filter((pid) => found.get(pid) === mark.slice(at + 1));
  }
  return pids
    .filter(isRunning)
    .map((pid) => ({ pid, command: (processes.readArguments(pid) ?? []).join(' ') }));
}

/** Returns the running processes of a session, including its leader. */
export const processesOfSession = (session: number): ProcessStat[] =>
  running().filter((stat) => stat.session === session);

/** Returns the running processes that this process started. */
export const childrenOf = (pid: number): ProcessStat[] => running().filter((stat) => stat.parent === pid);

/**
 * Waits until all processes of a hung-up terminal's session have ended; kills processes that exceed the time limit.
 */
export async function sessionEnded(leader: ProcessStat): Promise<void> {
  const deadline = performance.now() + HANG_UP_MS;
  await until(() => {
    const now = processStat(leader.pid);
    // If the start time differs, the pid has been reused.
    const left = now !== null && now.started !== leader.started ? [] : processesOfSession(leader.pid);
    if (performance.now() > deadline) for (const { pid } of left) kill(pid);
    return left.length === 0;
  }, `the end of everything in session ${leader.pid}`);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has just ended.
  }
}
