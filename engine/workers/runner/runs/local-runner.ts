import { createActiveRuns } from './active-runs.ts';
import { createCommittedCounter } from './count-committed.ts';
import type { LocalRunnerDeps } from './deps.ts';
import { inspectProject } from './inspect.ts';
import { keepWork } from './keep-work.ts';
import { listSessionCommits } from './list-commits.ts';
import { placeRun } from './place.ts';
import { listSessionLogTimes, readSessionLog } from './read-log.ts';
import type { LocalRunner } from './runner.ts';
import { createSharedCalls } from './shared-calls.ts';
import { throwSvcErrors } from './throw-svc-errors.ts';

/** Runs workers on this machine. */
export function createLocalRunner(deps: LocalRunnerDeps): LocalRunner {
  const { worktrees } = deps;
  const runs = createActiveRuns(deps);
  const shareCall = createSharedCalls();
  return throwSvcErrors<LocalRunner>({
    inspect: (order) => inspectProject(deps, order),
    place: (order) => shareCall(`place ${order.sessionId}`, () => placeRun(deps, order)),
    prepare: (order) => shareCall(`prepare ${order.run.runId}`, () => runs.prepare(order)),
    start: (order) => shareCall(`start ${order.run.runId}`, () => runs.start(order)),
    adopt: runs.adopt,
    watch: runs.watch,
    stop: runs.stop,
    collect: (order) => shareCall(`collect ${order.run.runId}`, () => runs.collect(order)),
    keep: (order) => shareCall(`keep ${order.sessionId}`, () => keepWork(deps, order)),
    discard: (run) => shareCall(`discard ${run.runId}`, () => runs.discard(run)),
    clear: (order) => deps.setup.tearDownWorktree(order),
    listCommits: (order) => listSessionCommits(worktrees, order),
    countCommitted: createCommittedCounter(worktrees),
    readLog: async (order) => readSessionLog(deps, order),
    listLogTimes: async (sessionIds) => listSessionLogTimes(deps, sessionIds),
    prepareAhead: async (projects) => worktrees.prepareAhead(projects.map(deps.agents.resolveFolder)),
    close: runs.close,
  });
}
