import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createReader } from '../../agents/index.ts';
import {
  createLogWatch,
  type ExitResult,
  type LogWatch,
  type RunningProcess,
  readLogTime,
} from '../processes/index.ts';
import { createCommittedCounter } from './count-committed.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { findAgentSession } from './find-agent-session.ts';
import { logFile, runFolder } from './folders.ts';
import { inspectProject } from './inspect.ts';
import { keepWork } from './keep-work.ts';
import { createRunOutput, type RunOutput } from './output.ts';
import { findBaseCommit, placeRun } from './place.ts';
import { prepareRun } from './prepare.ts';
import { listSessionLogTimes, readSessionLog } from './read-log.ts';
import type { AdoptedRun, AdoptOrder, RunName, Runner, WatchOrder } from './runner.ts';
import { startRun } from './start.ts';
import { openRunSocket } from './start-confined.ts';

/** A run that this runner works on. */
interface ActiveRun {
  /** The pid of the agent, or of the current setup command. */
  process: RunningProcess | null;
  /** How long the setup may take to end once it is stopped, ms. */
  stopGraceMs: number | null;
  output: RunOutput | null;
}

/** Runs workers on this machine. */
export function createLocalRunner(deps: LocalRunnerDeps): Runner {
  const { processes, setup, worktrees, clock, log } = deps;
  const active = new Map<string, ActiveRun>();
  /** Releases the awaited processes. */
  const waits = new Set<() => void>();
  let isClosed = false;

  function activate({ runId }: RunName): ActiveRun {
    const run = active.get(runId) ?? { process: null, stopGraceMs: null, output: null };
    active.set(runId, run);
    return run;
  }

  function reportSurvivors(sessionId: string, survivors: readonly number[]): void {
    if (survivors.length > 0)
      log.error({ session: sessionId, survivors }, 'processes of the worker could not be ended');
  }

  async function stopProcess(
    { sessionId, runId }: RunName,
    process: RunningProcess,
    graceMs: number,
  ): Promise<void> {
    const { survivors } = await processes.stop({ ...process, runId }, { graceMs });
    reportSurvivors(sessionId, survivors);
  }

  function openOutput({ run: { sessionId }, format, outputFrom }: WatchOrder): RunOutput {
    const file = logFile(deps, sessionId);
    // A run may have ended long before an engine reads it.
    const findWritten = (): number => {
      const last = readLogTime(file);
      const now = clock.now();
      return last === null ? now : Math.min(now, Date.parse(last));
    };
    return createRunOutput(file, outputFrom, createReader(format, findWritten));
  }

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

  async function adoptRun({ run, profile, process, mayNotHaveStarted }: AdoptOrder): Promise<AdoptedRun> {
    const { sessionId, runId } = run;
    const runDir = runFolder(deps, run);
    if (mayNotHaveStarted && (!existsSync(runDir) || processes.claimStart(runDir))) {
      await setup.endAbandonedSetup(sessionId, runId);
      return { state: 'not_started' };
    }
    const found = process ?? processes.findStartedWrapper({ runDir, runId });
    if (found === null) {
      const { survivors } = await processes.sweep(runId);
      reportSurvivors(sessionId, survivors);
      return { state: 'ended', exit: { code: processes.readExit(runDir), signal: null } };
    }
    log.info({ session: sessionId, pid: found.pid }, 'adopting the worker');
    const running = processes.adopt({ runDir, runId, ...found });
    activate(run).process = running;
    await openRunSocket(deps, run, profile);
    const { pid, pidStart, containment } = running;
    return { state: 'running', process: { pid, pidStart, containment } };
  }

  return {
    inspect: (order) => inspectProject(deps, order),
    place: (order) => placeRun(deps, order),
    findBase: (order) => findBaseCommit(deps, order),

    async prepare(order) {
      const { run } = order;
      const one = activate(run);
      try {
        return await prepareRun(deps, order, {
          mayContinue: () => one.stopGraceMs === null && !isClosed,
          async waitForEnd(process) {
            one.process = process;
            // It was stopped while the command was starting.
            if (one.stopGraceMs !== null) await stopProcess(run, process, one.stopGraceMs);
            return waitForExit(run, process, () => undefined);
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

    adopt: adoptRun,

    async watch(order, onReport) {
      const one = activate(order.run);
      if (one.process === null) throw new Error(`run ${order.run.runId} was neither started nor adopted`);
      const output = openOutput(order);
      one.output = output;
      return waitForExit(order.run, one.process, (lastChangeAt) => {
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

    async collect(order) {
      const { run, profile } = order;
      const { survivors } = await processes.sweep(run.runId, active.get(run.runId)?.process?.pidStart);
      reportSurvivors(run.sessionId, survivors);
      // Also of a host that died: its folder may differ from the run's.
      await (await openRunSocket(deps, run, profile))?.close();
      const output = active.get(run.runId)?.output ?? openOutput(order);
      await output.readRest();
      const facts = output.facts();
      const agentSession = facts.agentSession ?? (await findAgentSession(deps, order));
      return {
        facts: { ...facts, agentSession },
        hasSpoken: output.hasSpoken(),
        hasLostSession: output.hasLostSession(),
      };
    },

    keep: (order) => keepWork(deps, order),

    async discard(run) {
      active.delete(run.runId);
      await rm(runFolder(deps, run), { recursive: true, force: true });
    },

    async listCommits({ repository, branch, baseCommit }) {
      if (repository === null || branch === null || baseCommit === null) return null;
      try {
        const { commits } = await worktrees.diffBranch({ repository, branch, baseCommit });
        return commits.map(({ id, subject }) => ({ id, subject }));
      } catch {
        return null;
      }
    },

    countCommitted: createCommittedCounter(worktrees),

    readLog: async (order) => readSessionLog(deps, order),
    listLogTimes: async (sessionIds) => listSessionLogTimes(deps, sessionIds),

    async close() {
      isClosed = true;
      for (const letGo of waits) letGo();
      processes.close();
    },
  };
}
