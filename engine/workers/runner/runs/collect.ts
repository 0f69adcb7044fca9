import { createReader } from '../../agents/index.ts';
import type { LocalPlacement } from '../../sessions/index.ts';
import { type RunningProcess, readLogTime } from '../processes/index.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { findAgentSession } from './find-agent-session.ts';
import { logFile } from './folders.ts';
import { createRunOutput, type RunOutput } from './output.ts';
import type { CollectOrder, RunResult, WatchOrder } from './runner.ts';
import { openRunSocket } from './start-confined.ts';

/** A run that this runner works on. */
export interface ActiveRun {
  /** The agent. */
  process: RunningProcess | null;
  /** The current setup command. */
  setup: RunningProcess | null;
  /** True if no earlier host has prepared it, and so none has started it. */
  isNew: boolean;
  /** How long the setup may take to end once it is stopped, ms. */
  stopGraceMs: number | null;
  output: RunOutput | null;
}

export function reportSurvivors(
  log: LocalRunnerDeps['log'],
  sessionId: string,
  survivors: readonly number[],
): void {
  if (survivors.length > 0)
    log.error({ session: sessionId, survivors }, 'processes of the worker could not be ended');
}

/** Opens the output of a run, which may have ended. */
export function openRunOutput(
  deps: LocalRunnerDeps,
  { run: { sessionId }, format, outputFrom }: WatchOrder,
): RunOutput {
  const file = logFile(deps, sessionId);
  // A run may have ended long before an engine reads it.
  const findWritten = (): number => {
    const last = readLogTime(file);
    const now = deps.clock.now();
    return last === null ? now : Math.min(now, Date.parse(last));
  };
  return createRunOutput(file, outputFrom, createReader(format, findWritten));
}

/** Ends what is left of a run, and reads the rest of its output. @param active null for one of an earlier host */
export async function collectRun(
  deps: LocalRunnerDeps,
  order: CollectOrder<LocalPlacement>,
  active: ActiveRun | undefined,
): Promise<RunResult> {
  const { processes, log } = deps;
  const { run, profile } = order;
  const { survivors } = await processes.sweep(run.runId, active?.process?.pidStart);
  reportSurvivors(log, run.sessionId, survivors);
  // Also of a host that died: its folder may differ from the run's.
  await (await openRunSocket(deps, run, profile))?.close();
  const output = active?.output ?? openRunOutput(deps, order);
  await output.readRest();
  const facts = output.facts();
  const agentSession = facts.agentSession ?? (await findAgentSession(deps, order));
  return {
    facts: { ...facts, agentSession },
    hasSpoken: output.hasSpoken(),
    hasLostSession: output.hasLostSession(),
  };
}
