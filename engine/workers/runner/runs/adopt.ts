import { existsSync } from 'node:fs';
import type { RunningProcess } from '../processes/index.ts';
import { reportSurvivors } from './collect.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { runFolder } from './folders.ts';
import type { AdoptedRun, AdoptOrder } from './runner.ts';

/** Finds what an earlier host's run has become. */
export async function adoptRun(
  deps: LocalRunnerDeps,
  { run, process, mayNotHaveStarted }: AdoptOrder,
): Promise<Exclude<AdoptedRun, { state: 'running' }> | { running: RunningProcess }> {
  const { processes, setup, log } = deps;
  const { sessionId, runId } = run;
  const runDir = runFolder(deps, run);
  if (mayNotHaveStarted && (!existsSync(runDir) || processes.claimStart(runDir))) {
    await setup.endAbandonedSetup(sessionId, runId);
    return { state: 'not_started' };
  }
  const found = process ?? processes.findStartedWrapper({ runDir, runId });
  if (found === null) {
    const { survivors } = await processes.sweep(runId);
    reportSurvivors(log, sessionId, survivors);
    return { state: 'ended', exit: { code: processes.readExit(runDir), signal: null } };
  }
  log.info({ session: sessionId, pid: found.pid }, 'adopting the worker');
  return { running: processes.adopt({ runDir, runId, ...found }) };
}
