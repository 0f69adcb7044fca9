import { realpathSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
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

/** A process that is about to become a git of an engine has another name for so long at most, ms. */
const STARTING_MS = 50;

/** Describes why the processes inside a folder prevent its removal; empty if none does. */
export async function describeProcessesInside(path: string, folders: WorkingFolders): Promise<string[]> {
  let inside = findProcessesInside(path, folders());
  if (inside !== null && inside.length > 0) {
    await delay(STARTING_MS);
    const still = findProcessesInside(path, folders());
    inside = still && inside.filter((pid) => still.includes(pid));
  }
  if (inside === null) return ['svc cannot tell whether a process works in it'];
  return inside.length === 0 ? [] : [`process ${inside.join(', ')} works in it`];
}
