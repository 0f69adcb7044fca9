import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import { type BoardDeps, createBoard } from '../../board/index.ts';
import { createDataRetention, readRetentionAges } from '../../board/retention/index.ts';
import { createReviews } from '../../board/review/reviews.ts';
import { createWorktreeActions } from '../../board/review/worktree-actions.ts';
import { createStats, type StatsBooks } from '../../board/stats/index.ts';
import type { Bus } from '../../bus/index.ts';
import type { Dispatcher } from '../../dispatch/index.ts';
import { findProfile, type Guard } from '../../knowledge/guard/index.ts';
import type { PullRequestRecords } from '../../pull-requests/index.ts';
import { createWorkChecks } from '../../workers/runner/checks/index.ts';
import { checkConfinement } from '../../workers/runner/confine/index.ts';
import type { SharedDependencies } from './shared-dependencies.ts';
import type { WorkerModules } from './workers.ts';

/** Builds `engine/board` and its dispatcher. */
export function createBoardModule(
  shared: SharedDependencies,
  workers: WorkerModules,
  others: { bus: Bus; guard: Guard; createDispatch: BoardDeps<Dispatcher>['createDispatch'] },
) {
  const { storage, events, clock, log, paths, config, env, closing } = shared;
  const { sessions, processes, agents, worktrees, setup } = workers;
  const { bus, guard } = others;
  const board = createBoard<Dispatcher>({
    storage,
    events,
    clock,
    sessions,
    agents,
    templates: () => config().webhook.templates,
    policy: () => config().policy,
    peers: bus.peers,
    followUps: workers.followUps,
    paths: workers.workspacePaths,
    callerPaths: workers.callerPaths,
    worktrees,
    processes,
    workChecks: createWorkChecks({
      ...{ worktrees, setup, processes, agentsDir: paths.agents, log, graceMs: shared.graceMs },
      environment: workers.childEnvironment,
      confine: workers.confine,
    }),
    describeWork: (session, commit) => ({
      ...{ session, commit, repository: session.repository, port: session.port },
      inside: relative(realpathSync(session.repository), realpathSync(agents.resolveFolder(session.project))),
      setup: setup.readProjectSetup(session.project),
    }),
    findChecker: workers.fleet.findChecker,
    checkWork: async ({ baseCommit }, head, folder) =>
      baseCommit === null ? null : guard.checkWork(folder, `${baseCommit}...${head}`),
    tellOfEvidence: bus.tellOfSession,
    log,
    checks: () => config().guard.checks,
    rerunsFor: () => findProfile(config().guard).reruns,
    findHold: workers.circuits.findCircuit,
    requireConsent: shared.requireConsent,
    checkConfinement: () => checkConfinement(env),
    runsElsewhere: (project, wanted) => workers.fleet.findPool(project, wanted) !== null,
    createDispatch: others.createDispatch,
  });
  closing(board.close);
  closing(board.dispatcher.close);
  return board;
}

/** Builds the modules that look after finished work: its worktrees, reviews, pull requests, age and numbers. */
export function createReviewModules(
  shared: SharedDependencies,
  workers: WorkerModules,
  board: ReturnType<typeof createBoardModule>,
  { books, records }: { books: StatsBooks; records: Pick<PullRequestRecords, 'find' | 'noteArrival'> },
) {
  const { storage, events, clock, log, paths, config } = shared;
  const { sessions, worktrees, setup } = workers;
  const worktreeActions = createWorktreeActions({
    storage,
    events,
    clock,
    visitors: workers.visitors,
    sessions,
    races: board.races,
    stopSession: (sessionId, by) => board.dispatcher.stop(sessionId, 'cancelled', by),
    worktrees,
    worktreesDir: paths.worktrees,
    resolveFolder: workers.agents.resolveFolder,
    listProjects: () => [null, ...config().projects.map((project) => project.id)],
    getTask: board.tasks.get,
    readEvidence: board.evidence,
    endCommands: workers.runCommands.endInWorktree,
    clearWorktree: workers.clearWorktree,
    isStrict: workers.isStrict,
  });
  const reviews = createReviews({
    storage,
    events,
    sessions,
    worktrees,
    setup,
    actions: worktreeActions,
    merged: {
      has(sessionId, tip) {
        const pull = records.find(sessionId);
        return pull?.state === 'merged' && pull.head === tip && !pull.isInBase;
      },
      noteArrival: records.noteArrival,
    },
    agentsDir: paths.agents,
    listAwaitedRepositories: board.tasks.listAwaitedRepositories,
    onMerged: board.dispatcher.look,
    log,
  });
  shared.closing(reviews.close);
  const retention = createDataRetention({
    storage,
    events,
    clock,
    worktrees,
    agentsDir: paths.agents,
    ages: () => readRetentionAges(config().retain),
    log,
  });
  shared.closing(retention.close);
  return {
    worktreeActions,
    reviews,
    retention,
    stats: createStats({ storage, events, clock, books, cap: shared.workerCap }),
  };
}
