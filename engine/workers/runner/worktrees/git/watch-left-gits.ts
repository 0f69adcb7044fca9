import { platform } from '../../../../core/platform/index.ts';
import { ENGINE_MARK, MARK } from '../../processes/marks.ts';
import { isStillRunning, readProcessStart } from '../../processes/own.ts';
import { PATIENCE_MS, watchForPipes } from './watch-pipes.ts';

/** Interval of the check that such a process still runs. */
const LOOK_MS = 1000;

const { processes } = platform;

/**
 * Watches the git processes that a killed engine of this workspace left behind: each ends by itself, unless it waits at
 * a worker's pipe.
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

const listLeftGits = (mark: string): number[] =>
  [...processes.readVariables(processes.listPids() ?? [], ENGINE_MARK)]
    .filter(
      ([pid, found]) =>
        found === mark && processes.readName(pid) === 'git' && processes.readVariable(pid, MARK) === null,
    )
    .map(([pid]) => pid);

function watchGit(pid: number, patienceMs: number): () => void {
  const pidStart = readProcessStart(pid);
  const folder = processes.readFolder(pid);
  if (folder === null) return () => undefined; // ended
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
