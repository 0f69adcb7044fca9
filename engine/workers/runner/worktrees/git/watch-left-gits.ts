import { readFileSync, readlinkSync } from 'node:fs';
import { listPids } from '../../processes/list-pids.ts';
import { isStillRunning, readProcessStart } from '../../processes/own.ts';
import { ENGINE_MARK, MARK } from '../../processes/probe.ts';
import { PATIENCE_MS, watchForPipes } from './watch-pipes.ts';

/** Interval of the check that such a process still runs. */
const LOOK_MS = 1000;

const DELETED = / \(deleted\)$/;

/**
 * Watches the git processes that a killed engine of this workspace left behind: each ends by itself, unless it waits at
 * a worker's pipe. Linux only.
 * @param env the environment of the engine's own git processes, by whose mark they are recognized
 */
export function watchLeftGits(
  env: Readonly<NodeJS.ProcessEnv>,
  patienceMs: number = PATIENCE_MS,
): { close(): void } {
  const mark = env[ENGINE_MARK];
  const closers = mark === undefined ? [] : listLeftGits(mark).map((pid) => watchGit(pid, patienceMs));
  return {
    close() {
      for (const close of closers) close();
    },
  };
}

function listLeftGits(mark: string): number[] {
  if (process.platform !== 'linux') return [];
  return (listPids() ?? []).filter((pid) => isLeftGit(pid, mark));
}

function isLeftGit(pid: number, mark: string): boolean {
  try {
    if (readFileSync(`/proc/${pid}/comm`, 'utf8') !== 'git\n') return false;
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return (
      variables.includes(`${ENGINE_MARK}=${mark}`) && !variables.some((each) => each.startsWith(`${MARK}=`))
    );
  } catch {
    return false; // ended, or of another user
  }
}

function watchGit(pid: number, patienceMs: number): () => void {
  const pidStart = readProcessStart(pid);
  let folder: string;
  try {
    folder = readlinkSync(`/proc/${pid}/cwd`).replace(DELETED, '');
  } catch {
    return () => undefined; // ended
  }
  const isRunning = (): boolean => pidStart !== null && isStillRunning({ pid, pidStart });
  const end = (): void => {
    if (isRunning()) process.kill(pid, 'SIGKILL');
    close();
  };
  const watch = watchForPipes(folder, end, patienceMs);
  const look = setInterval(() => {
    if (!isRunning()) close();
  }, LOOK_MS).unref();
  function close(): void {
    clearInterval(look);
    watch.close();
  }
  return close;
}
