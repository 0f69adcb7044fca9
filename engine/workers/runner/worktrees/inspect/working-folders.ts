import { realpathSync } from 'node:fs';
import { isInsideFolder } from '../../../../core/base/paths.ts';
import { platform } from '../../../../core/platform/index.ts';
import { ENGINE_MARK, MARK } from '../../processes/marks.ts';

/** Maps pids to the current folder of every process that we may inspect; null if the process table cannot be read. */
export type WorkingFolders = () => Map<number, string> | null;

const { processes } = platform;

export const readWorkingFolders: WorkingFolders = () => processes.readFolders();

/** Reports whether a process is a git of an engine, which only reads and ends in a moment, or has ended. */
function isGitOfEngine(pid: number): boolean {
  const name = processes.readName(pid);
  if (name !== null && !name.startsWith('git')) return false;
  const isMarked = processes.readVariable(pid, ENGINE_MARK) !== null;
  return isMarked ? processes.readVariable(pid, MARK) === null : processes.read(pid) === 'gone';
}

/** Lists the processes whose current folder is in `path`, except git of an engine; null if that is unknown. */
export function findProcessesInside(path: string, folders: Map<number, string> | null): number[] | null {
  if (folders === null) return null;
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    return [];
  }
  return [...folders].flatMap(([pid, folder]) =>
    isInsideFolder(real, folder) && !isGitOfEngine(pid) ? [pid] : [],
  );
}
