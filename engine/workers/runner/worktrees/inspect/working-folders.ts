import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { isInsideFolder } from '../../../../core/base/paths.ts';
import { runProgramSync } from '../../../../core/base/run-program.ts';
import { listPids } from '../../processes/list-pids.ts';
import { ENGINE_MARK, MARK } from '../../processes/probe.ts';

/** Maps pids to the current folder of every process that we may inspect; null if the process table cannot be read. */
export type WorkingFolders = () => Map<number, string> | null;

function readFoldersFromProc(): Map<number, string> | null {
  const pids = listPids();
  if (pids === null) return null;
  const folders = new Map<number, string>();
  for (const pid of pids) {
    try {
      folders.set(pid, readlinkSync(`/proc/${pid}/cwd`).replace(/ \(deleted\)$/, ''));
    } catch {
      // Ended, or of another user: such a process is not one of our workers.
    }
  }
  // Our own entry is always readable, so an empty result means that the lookup does not work here.
  return folders.size === 0 ? null : folders;
}

/** macOS, best effort. Not tested there. */
function readFoldersFromLsof(): Map<number, string> | null {
  const { exitCode, stdout } = runProgramSync('lsof', ['-w', '-d', 'cwd', '-Fpn'], {
    timeoutMs: 10_000,
    mostBytes: 64 * 1024 * 1024,
  });
  if (exitCode !== 0) return null;
  const folders = new Map<number, string>();
  let pid = 0;
  for (const line of stdout.split('\n')) {
    if (line.startsWith('p')) pid = Number(line.slice(1));
    else if (line.startsWith('n')) folders.set(pid, line.slice(1));
  }
  return folders.size === 0 ? null : folders;
}

export const readWorkingFolders: WorkingFolders = () =>
  process.platform === 'linux' ? readFoldersFromProc() : readFoldersFromLsof();

/** Reports whether a process is a git of an engine, which only reads and ends in a moment. */
function isGitOfEngine(pid: number): boolean {
  if (process.platform !== 'linux') return false;
  try {
    if (!readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('git')) return false;
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const has = (name: string): boolean => variables.some((each) => each.startsWith(`${name}=`));
    return has(ENGINE_MARK) && !has(MARK);
  } catch {
    return true; // It has ended.
  }
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

/** Reports whether a git command that names this folder is still running: it can outlive a host that was killed. */
export function isGitRunningFor(path: string): boolean {
  if (process.platform !== 'linux') return false;
  return (listPids() ?? []).some((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return words.includes('worktree') && words.includes(path);
    } catch {
      return false;
    }
  });
}
