import { SvcError } from '../../core/base/errors.ts';
import type { MachineRunner, RunExit, RunName } from '../../workers/runner/runs/index.ts';
import { readRunRecord } from './run-records.ts';

type WatchOrder = Parameters<MachineRunner['watch']>[0];
type RunReport = Parameters<Parameters<MachineRunner['watch']>[1]>[0];

/** The shortest time between two reports about a run, ms. */
const REPORT_MS = 1000;

/** Follows each run once, whichever connections ask for it, and reports at most once a second. */
export function createFollowedRuns(runner: MachineRunner, agentsDir: string) {
  const followed = new Map<
    string,
    { exit: Promise<RunExit | null>; listeners: Set<(report: RunReport) => void> }
  >();

  /** Adopts a run of an earlier process of this runner; its exit if it has ended. */
  async function adoptAgain(run: RunName): Promise<RunExit | null> {
    const profile = readRunRecord(agentsDir, run)?.profile ?? null;
    const found = await runner.adopt({ run, profile, process: null, mayNotHaveStarted: false });
    return found.state === 'ended' ? found.exit : null;
  }

  async function followToEnd(
    order: WatchOrder,
    onReport: (report: RunReport) => void,
  ): Promise<RunExit | null> {
    try {
      return await runner.watch(order, onReport);
    } catch (error) {
      if (!(error instanceof SvcError) || error.code !== 'not_found') throw error;
      return (await adoptAgain(order.run)) ?? runner.watch(order, onReport);
    }
  }

  function follow(order: WatchOrder) {
    const listeners = new Set<(report: RunReport) => void>();
    let last: RunReport | null = null;
    let timer: NodeJS.Timeout | null = null;
    const tellAll = (): void => {
      timer = null;
      for (const tell of listeners) if (last !== null) tell(last);
    };
    const exit = followToEnd(order, (report) => {
      last = report;
      timer ??= setTimeout(tellAll, REPORT_MS).unref();
    }).finally(() => {
      if (timer !== null) clearTimeout(timer);
      followed.delete(order.run.runId);
    });
    exit.catch(() => undefined);
    const one = { exit, listeners };
    followed.set(order.run.runId, one);
    return one;
  }

  return {
    /** Reports until the run ends or the signal aborts. Returns its exit; null if this runner closes first. */
    async watch(
      order: WatchOrder,
      { signal, report }: { signal: AbortSignal; report(data: unknown): void },
    ): Promise<RunExit | null> {
      const one = followed.get(order.run.runId) ?? follow(order);
      one.listeners.add(report);
      try {
        return await Promise.race([
          one.exit,
          new Promise<null>((resolve) =>
            signal.addEventListener('abort', () => resolve(null), { once: true }),
          ),
        ]);
      } finally {
        one.listeners.delete(report);
      }
    },
    adoptAgain,
  };
}
