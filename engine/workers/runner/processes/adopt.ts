import type { ProcessTable } from '../../../core/platform/index.ts';
import { MARK, probeLiveness } from './marks.ts';
import type { ExitResult, RunningProcess } from './start.ts';
import { readExit, readStarted } from './wrapper.ts';

export interface AdoptTarget {
  runDir: string;
  pid: number;
  pidStart: string;
  runId: string;
}

/** Finds the wrapper of a run whose start was not recorded, by its `started` file and its mark. */
export function findStartedWrapper(
  { runDir, runId }: { runDir: string; runId: string },
  table: ProcessTable,
): { pid: number; pidStart: string } | null {
  const pid = readStarted(runDir);
  if (pid === null) return null;
  const entry = table.read(pid);
  if (typeof entry !== 'object' || entry.zombie || table.readVariable(pid, MARK) !== runId) return null;
  return { pid, pidStart: entry.start };
}

/** Finds the process of a run that an earlier host has started, running or ended; null if none was started. */
export function findStartedProcess(
  run: { runDir: string; runId: string },
  table: ProcessTable,
  every: Parameters<typeof adoptProcess>[2],
): RunningProcess | null {
  const pid = readStarted(run.runDir);
  if (pid === null) return null;
  // The start time of an ended process is not known any more.
  return adoptProcess({ ...run, ...(findStartedWrapper(run, table) ?? { pid, pidStart: '' }) }, table, every);
}

/**
 * Follows a process that is not our child. `exited` resolves with the code from the exit file, or null if the wrapper
 * ended without leaving one (lost). A failed check is ignored, and a death without an exit file is confirmed by a
 * second check (R6).
 */
export function adoptProcess(
  target: AdoptTarget,
  table: ProcessTable,
  every: (run: () => void) => () => void,
): RunningProcess {
  const { runDir, pid, pidStart, runId } = target;
  const exited = new Promise<ExitResult>((done) => {
    let misses = 0;
    // The same pid and start time can recur after a reboot, in a process of another run.
    const mark = table.readVariable(pid, MARK);
    const isOther = mark !== null && mark !== runId;
    const checkOnce = (): boolean => {
      const liveness = isOther ? 'dead' : probeLiveness(table, pid, pidStart);
      if (liveness !== 'dead') {
        misses = 0;
        return false;
      }
      misses += 1;
      const code = readExit(runDir);
      if (code === null && misses < 2) return false;
      done({ code, signal: null });
      return true;
    };
    if (checkOnce()) return;
    const cancel = every(() => {
      if (checkOnce()) cancel();
    });
  });
  return { pid, pidStart, containment: null, exited };
}
