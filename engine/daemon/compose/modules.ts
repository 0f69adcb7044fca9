import { createPacedCall } from '../../core/base/paced-call.ts';
import { createPullRequestRecords } from '../../pull-requests/index.ts';
import { createAccessModules } from './access.ts';
import { createBoardModule, createReviewModules } from './board.ts';
import { createBusModule } from './bus.ts';
import { createEndImpact, createRunEnd, createSessionModules, prepareDispatch } from './dispatch.ts';
import { createGatewayModule } from './gateway.ts';
import { createHookModule } from './hooks.ts';
import { createKnowledgeModules } from './knowledge.ts';
import { createOutsideModules } from './outside.ts';
import { createPorts } from './ports.ts';
import { createPullRequestModule } from './pull-requests.ts';
import type { SharedDependencies } from './shared-dependencies.ts';
import { createWorkerModules } from './workers.ts';

/** The shortest time between two placements of the queue after machines have changed, ms. */
const PLACING_PAUSE_MS = 50;

export type EngineModules = ReturnType<typeof createModules>;

/** Builds every module, in order, and connects them: the one place where they meet. */
export function createModules(shared: SharedDependencies) {
  const ports = createPorts();
  const gateway = createGatewayModule(shared);
  const workers = createWorkerModules(shared, {
    books: gateway.sessionBooks,
    findGateway: gateway.runKeys.buildRoute,
    onChange: ports.fleetChanged.call,
    loseRuns: ports.loseRuns.call,
  });
  const keys = gateway.runKeys;
  const knowledge = createKnowledgeModules(shared, workers, ports.readTask.call, gateway.embed);
  const bus = createBusModule(shared, workers, {
    locateSymbol: knowledge.graph.locateShared,
    sharedPaths: knowledge.graph.sharedPaths,
    answered: ports.answered.call,
    seatClosed: ports.seatClosed.call,
    takeUp: ports.takeUp.call,
  });
  const impactAtEnd = createEndImpact(shared, knowledge, bus);
  const access = createAccessModules(shared, { linked: ports.linked.call, calls: ports.linkCalls.call });
  const board = createBoardModule(shared, workers, {
    bus,
    guard: knowledge.guard,
    createDispatch: prepareDispatch(shared, workers, {
      keys,
      knowledge,
      bus,
      entitlements: access.entitlements,
      runEnded: ports.runEnded.call,
    }),
  });
  const records = createPullRequestRecords(shared.storage, shared.clock);
  const reviews = createReviewModules(shared, workers, board, { books: gateway.statistics, records });
  const actions = createSessionModules(shared, workers, { board, keys });
  const pullRequests = createPullRequestModule(shared, workers, {
    ...{ board, records },
    texts: knowledge.texts,
    actions: actions.sessionActions,
    worktreeActions: reviews.worktreeActions,
  });
  const outside = createOutsideModules(shared, workers, {
    ...{ board, bus, gateway, leases: access.leases },
    lookAtPullRequests: pullRequests.watch.lookSoon,
    findPullRequest: records.find,
  });
  const hooks = createHookModule(shared, { workers, knowledge, board, bus });

  ports.readTask.connect(board.tasks.get);
  ports.seatClosed.connect(board.sessionEnded);
  ports.answered.connect(board.dispatcher.resumeAnswered);
  ports.takeUp.connect(async () => {
    await board.dispatcher.takeUp();
    await actions.sessionActions.reap();
  });
  // A thousand machines that are lost at once would each have the whole queue placed again.
  const placing = createPacedCall(board.dispatcher.look, PLACING_PAUSE_MS);
  shared.closing(placing.close);
  ports.fleetChanged.connect(placing.request);
  ports.loseRuns.connect(board.dispatcher.loseRuns);
  ports.linked.connect(outside.link.linked);
  ports.linkCalls.connect(outside.link.calls);
  ports.runEnded.connect(
    createRunEnd(shared, {
      sessions: workers.sessions,
      board,
      bus,
      worktreeActions: reviews.worktreeActions,
      pullRequests: pullRequests.automatic,
      impactAtEnd,
    }),
  );
  return {
    ...workers,
    ...knowledge,
    ...access,
    ...reviews,
    ...actions,
    ...outside,
    gateway,
    bus,
    board,
    hooks,
    pullRequests,
  };
}
