import { rm } from 'node:fs/promises';
import type { RunningProcess } from '../processes/index.ts';
import { adoptRun } from './adopt.ts';
import { type ActiveRun, collectRun, openRunOutput, reportSurvivors } from './collect.ts';
import { createCommittedCounter } from './count-committed.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { runFolder } from './folders.ts';
import { inspectProject } from './inspect.ts';
import { keepWork } from './keep-work.ts';
import { listSessionCommits } from './list-commits.ts';
import { placeRun } from './place.ts';
import { prepareRun } from './prepare.ts';
import { listSessionLogTimes, readSessionLog } from './read-log.ts';
import type { LocalRunner, RunName } from './runner.ts';
import { startRun } from './start.ts';
import { openRunSocket } from './start-confined.ts';
import { createProcessWaits } from './wait-for-exit.ts';

/** Runs workers on this machine. */
export function createLocalRunner(deps: LocalRunnerDeps): LocalRunner {
  const { processes, worktrees, clock, log } = deps;
  const active = new Map<string, ActiveRun>();
  const waits = createProcessWaits(deps);

  function activate({ runId }: RunName): ActiveRun {
    const run = active.get(runId) ?? { process: null, stopGraceMs: null, output: null };
    active.set(runId, run);
    return run;
  }

  async function stopProcess(
    { sessionId, runId }: RunName,
    process: RunningProcess,
    graceMs: number,
  ): Promise<void> {
    const { survivors } = await processes.stop({ ...process, runId }, { graceMs });
    reportSurvivors(log, sessionId, survivors);
  }

  return {
    inspect: (order) => inspectProject(deps, order),
    place: (order) => placeRun(deps, order),

    async prepare(order) {
      const { run } = order;
      const one = activate(run);
      try {
        return await prepareRun(deps, order, {
          mayContinue: () => one.stopGraceMs === null && !waits.isClosed(),
          async waitForEnd(process) {
            one.process = process;
            // It was stopped while the command was starting.
            if (one.stopGraceMs !== null) await stopProcess(run, process, one.stopGraceMs);
            return waits.waitForExit(run, process, () => undefined);
          },
        });
      } finally {
        one.process = null;
      }
    },

    async start(order) {
      const running = await startRun(deps, order);
      activate(order.run).process = running;
      const { pid, pidStart, containment } = running;
      return { pid, pidStart, containment };
    },

    async adopt(order) {
      const adopted = await adoptRun(deps, order);
      if (!('running' in adopted)) return adopted;
      const { running } = adopted;
      activate(order.run).process = running;
      await openRunSocket(deps, order.run, order.profile);
      const { pid, pidStart, containment } = running;
      return { state: 'running', process: { pid, pidStart, containment } };
    },

    async watch(order, onReport) {
      const one = activate(order.run);
      if (one.process === null) throw new Error(`run ${order.run.runId} was neither started nor adopted`);
      const output = openRunOutput(deps, order);
      one.output = output;
      return waits.waitForExit(order.run, one.process, (lastChangeAt) => {
        output.readNew();
        onReport({ facts: output.facts(), quietMs: clock.monotonic() - lastChangeAt });
      });
    },

    async stop(run, graceMs) {
      const one = active.get(run.runId);
      if (one === undefined) return;
      one.stopGraceMs = graceMs;
      if (one.process !== null) await stopProcess(run, one.process, graceMs);
    },

    collect: (order) => collectRun(deps, order, active.get(order.run.runId)),

    keep: (order) => keepWork(deps, order),

    async discard(run) {
      active.delete(run.runId);
      await rm(runFolder(deps, run), { recursive: true, force: true });
    },

    clear: (order) => deps.setup.tearDownWorktree(order),

    listCommits: (order) => listSessionCommits(worktrees, order),

    countCommitted: createCommittedCounter(worktrees),

    readLog: async (order) => readSessionLog(deps, order),
    listLogTimes: async (sessionIds) => listSessionLogTimes(deps, sessionIds),

    prepareAhead: (projects) => worktrees.prepareAhead(projects.map(deps.agents.resolveFolder)),

    async close() {
      waits.close();
    },
  };
}
