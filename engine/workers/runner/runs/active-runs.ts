import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { SvcError } from '../../../core/base/errors.ts';
import type { LocalPlacement } from '../../sessions/index.ts';
import type { RunningProcess } from '../processes/index.ts';
import { adoptRun } from './adopt.ts';
import { type ActiveRun, collectRun, openRunOutput, reportSurvivors } from './collect.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { runFolder } from './folders.ts';
import { prepareRun } from './prepare.ts';
import type { LocalRunner, PreparedRun, PrepareOrder, RunName, StartOrder } from './runner.ts';
import { startRun } from './start.ts';
import { openRunSocket } from './start-confined.ts';
import { createProcessWaits } from './wait-for-exit.ts';

type ActiveRuns = Pick<
  LocalRunner,
  'prepare' | 'start' | 'adopt' | 'watch' | 'stop' | 'collect' | 'discard' | 'close'
>;

type Deps = LocalRunnerDeps;

const findStarted = (deps: Deps, run: RunName): RunningProcess | null =>
  deps.processes.findStarted({ runDir: runFolder(deps, run), runId: run.runId });

async function stopProcess(
  { processes, log }: Deps,
  { sessionId, runId }: RunName,
  process: RunningProcess,
  graceMs: number,
): Promise<void> {
  const { survivors } = await processes.stop({ ...process, runId }, { graceMs });
  reportSurvivors(log, sessionId, survivors);
}

/** @param one the run, if this host has prepared or adopted it */
async function startOrFind(
  deps: Deps,
  order: StartOrder<LocalPlacement>,
  one: ActiveRun | undefined,
): Promise<RunningProcess> {
  const { run, profile } = order;
  const { processes } = deps;
  if (one !== undefined && one.process !== null) return one.process;
  if (!existsSync(runFolder(deps, run)))
    throw new SvcError('conflict', `run ${run.runId} is not prepared here, or was discarded`);
  if (one?.isNew) return startRun(deps, order);
  const found = findStarted(deps, run);
  if (found === null)
    return startRun({ ...deps, processes: { ...processes, start: processes.startAgain } }, order);
  await openRunSocket(deps, run, profile);
  return found;
}

/**
 * The runs that this host works on, and their processes. A call that is repeated, also after the host of the first was
 * killed, finds by the files of the run what that has done.
 */
export function createActiveRuns(deps: Deps): ActiveRuns {
  const { processes, clock, log } = deps;
  const active = new Map<string, ActiveRun>();
  const waits = createProcessWaits(deps);

  function activate(run: RunName): ActiveRun {
    const known = active.get(run.runId);
    if (known !== undefined) return known;
    const isNew = !existsSync(runFolder(deps, run));
    const one: ActiveRun = { process: null, setup: null, isNew, stopGraceMs: null, output: null };
    active.set(run.runId, one);
    return one;
  }

  async function prepare(order: PrepareOrder<LocalPlacement>): Promise<PreparedRun> {
    const { run } = order;
    const one = activate(run);
    try {
      return await prepareRun(deps, order, {
        mayContinue: () => one.stopGraceMs === null && !waits.isClosed(),
        async waitForEnd(process) {
          one.setup = process;
          // It was stopped while the command was starting.
          if (one.stopGraceMs !== null) await stopProcess(deps, run, process, one.stopGraceMs);
          return waits.waitForExit(run, process, () => undefined);
        },
      });
    } finally {
      one.setup = null;
    }
  }

  return {
    prepare,

    async start(order) {
      const running = await startOrFind(deps, order, active.get(order.run.runId));
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
      const one = active.get(order.run.runId);
      if (one === undefined || one.process === null)
        throw new SvcError('not_found', `run ${order.run.runId} was neither started nor adopted here`);
      const output = openRunOutput(deps, order);
      one.output = output;
      return waits.waitForExit(order.run, one.process, (lastChangeAt) => {
        output.readNew();
        onReport({ facts: output.facts(), quietMs: clock.monotonic() - lastChangeAt });
      });
    },

    async stop(run, graceMs) {
      const one = active.get(run.runId);
      if (one !== undefined) one.stopGraceMs = graceMs;
      const process = one?.process ?? one?.setup ?? findStarted(deps, run);
      if (process !== null) await stopProcess(deps, run, process, graceMs);
      // The setup of an earlier host may still run.
      else if (one === undefined)
        reportSurvivors(log, run.sessionId, (await processes.sweep(run.runId)).survivors);
    },

    collect: (order) => collectRun(deps, order, active.get(order.run.runId)),

    async discard(run) {
      active.delete(run.runId);
      deps.setup.forgetSetup(run.sessionId, run.runId);
      await rm(runFolder(deps, run), { recursive: true, force: true });
    },

    async close() {
      waits.close();
    },
  };
}
