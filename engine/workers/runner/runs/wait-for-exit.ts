import { createLogWatch, type ExitResult, type LogWatch, type RunningProcess } from '../processes/index.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { logFile } from './folders.ts';
import type { RunName } from './runner.ts';

/** Waits for the ends of processes, until the runner closes. */
export function createProcessWaits(deps: Pick<LocalRunnerDeps, 'paths' | 'clock'>) {
  const { clock } = deps;
  /** Releases the awaited processes. */
  const waits = new Set<() => void>();
  let isClosed = false;

  /** Waits for the end of a process, and keeps its log short in the meantime; null if the runner closes first. */
  async function waitForExit(
    { sessionId }: RunName,
    process: RunningProcess,
    onGrow: (lastChangeAt: number) => void,
  ): Promise<ExitResult | null> {
    if (isClosed) return null;
    let watch: LogWatch | undefined;
    watch = createLogWatch({
      file: logFile(deps, sessionId),
      clock,
      onGrow: () => watch && onGrow(watch.lastChangeAt()),
    });
    // Its first check runs before the watch can be queried.
    onGrow(watch.lastChangeAt());
    const { promise: closed, resolve } = Promise.withResolvers<null>();
    const letGo = (): void => resolve(null);
    waits.add(letGo);
    try {
      const exit = await Promise.race([process.exited, closed]);
      if (exit !== null) watch.check();
      return exit;
    } finally {
      waits.delete(letGo);
      watch.close();
    }
  }

  return {
    waitForExit,
    isClosed: () => isClosed,
    close(): void {
      isClosed = true;
      for (const letGo of waits) letGo();
    },
  };
}
