import { setTimeout as delay } from 'node:timers/promises';
import { signalGroup } from '../../../../core/base/signal-group.ts';
import { platform } from '../../../../core/platform/index.ts';
import { ENGINE_MARK, MARK } from '../../processes/marks.ts';
import { isStillRunning, readProcessStart } from '../../processes/own.ts';
import { PATIENCE_MS, watchForPipes } from './watch-pipes.ts';

/** Interval of the check that such a process still runs. */
const LOOK_MS = 1000;
/** The longest that such a process may take: a filter of it may wait for ever. */
const LONGEST_MS = 10 * 60_000;

/** How long one may take to remove what it has begun, ms. */
const GRACE_MS = 10_000;

const { processes } = platform;

/**
 * Watches the git processes that a killed engine of this workspace left behind. Each may finish, but is killed once it
 * waits at a worker's pipe or takes too long.
 * @param env the environment of the engine's own git processes, by whose mark they are recognized
 * @returns `close` ends those that still run
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
  const end = (signal: NodeJS.Signals): void => {
    if (isRunning()) {
      process.kill(pid, signal);
      signalGroup(pid, signal); // its filters
    }
    close();
  };
  const kill = (): void => end('SIGKILL');
  const watch = watchForPipes(folder, kill, patienceMs);
  const late = setTimeout(kill, LONGEST_MS).unref();
  const look = setInterval(() => {
    if (!isRunning()) close();
  }, LOOK_MS).unref();
  function close(): void {
    clearTimeout(late);
    clearInterval(look);
    watch.close();
  }
  return () => end('SIGTERM');
}

/** Ends the git commands, with their filters, that a killed engine left creating the worktree at this path. */
export async function endLeftGits(path: string): Promise<void> {
  const isCreating = (pid: number): boolean => {
    const words = processes.readArguments(pid) ?? [];
    return words.includes('worktree') && words.includes(path) && processes.readName(pid) === 'git';
  };
  const left = (processes.listPids() ?? []).filter(isCreating);
  for (const pid of left) signalGroup(pid, 'SIGTERM');
  const deadline = performance.now() + GRACE_MS;
  while (left.some(isCreating) && performance.now() < deadline) await delay(20);
  for (const pid of left) signalGroup(pid, 'SIGKILL');
}
