import type { Board, BoardDeps } from '../../board/index.ts';
import type { WorktreeActions } from '../../board/review/worktree-actions.ts';
import type { Bus } from '../../bus/index.ts';
import type { EntitlementsReader } from '../../core/access/entitlements.ts';
import {
  createDispatcher,
  type DispatchDeps,
  type Dispatcher,
  describeRun,
  explainSvc,
  quoteTask,
  type RunKeys,
  recallEarlierRun,
  remindRules,
} from '../../dispatch/index.ts';
import { createLiveFacts } from '../../dispatch/live-facts.ts';
import { createSessionActions } from '../../dispatch/session-actions.ts';
import { createSessionLogs } from '../../dispatch/session-logs.ts';
import { pointToNotes } from '../../knowledge/memory/index.ts';
import { createImpactAtEnd } from '../../knowledge/symbols/impact-at-end.ts';
import type { AutomaticPullRequests } from '../../pull-requests/index.ts';
import { createReader, findOutputFormat } from '../../workers/agents/index.ts';
import { agentFolder, createProjectReader } from '../../workers/runner/runs/index.ts';
import { findLocalPath } from '../../workers/sessions/index.ts';
import type { KnowledgeModules } from './knowledge.ts';
import type { SharedDependencies } from './shared-dependencies.ts';
import type { WorkerModules } from './workers.ts';

/** Prepares `engine/dispatch`, whose dispatcher is created with the board. */
export function prepareDispatch(
  shared: SharedDependencies,
  workers: WorkerModules,
  others: {
    keys: RunKeys;
    knowledge: Pick<KnowledgeModules, 'memory' | 'guard'>;
    bus: Bus;
    entitlements: EntitlementsReader;
    runEnded: DispatchDeps['atEnd'];
  },
): BoardDeps<Dispatcher>['createDispatch'] {
  const { config } = shared;
  const { memory, guard } = others.knowledge;
  return (tasks, approvals, races) =>
    createDispatcher({
      storage: shared.storage,
      events: shared.events,
      tasks,
      approvals,
      races,
      sessions: workers.sessions,
      visitors: workers.visitors,
      agents: workers.agents,
      runner: workers.runner,
      machines: workers.fleet,
      projects: createProjectReader({
        worktrees: workers.worktrees,
        setup: workers.setup,
        agents: workers.agents,
        environment: workers.childEnvironment,
      }),
      contributors: [
        describeRun(),
        ...quoteTask(),
        explainSvc(),
        remindRules(workers.guidance),
        pointToNotes(),
        ...recallEarlierRun(),
      ],
      writeNotes: memory.writeBrief,
      circuits: workers.circuits,
      keys: others.keys,
      clock: shared.clock,
      log: shared.log,
      timeouts: () => ({
        timeoutSec: config().agents.timeout_sec,
        idleTimeoutSec: config().agents.idle_timeout_sec,
      }),
      configuration: config,
      profile: () => config().guard.profile || 'lite',
      requireConsent: shared.requireConsent,
      findLock: others.entitlements.findLock,
      permissions: () => config().agents.permissions,
      questions: { hold: others.bus.findHold, keep: others.bus.keepAsksOf, drop: others.bus.dropAsksOf },
      atStart({ cwd }) {
        const here = findLocalPath(cwd);
        if (here !== null) guard.readAhead(here);
      },
      atEnd: others.runEnded,
      cap: shared.workerCap,
      graceMs: shared.graceMs,
    });
}

/** Builds what follows from a run's commits for other code, reported at its end. */
export function createEndImpact(
  { storage, log, closing }: SharedDependencies,
  { graph, readImpact }: KnowledgeModules,
  bus: Bus,
): ReturnType<typeof createImpactAtEnd> {
  const impactAtEnd = createImpactAtEnd({
    graph,
    readImpact,
    tell: (session, text) => storage.write(() => bus.addToHandoff(session, 'impact', text)),
    log,
  });
  closing(impactAtEnd.close);
  return impactAtEnd;
}

/** Returns what the end of a run does to other modules, inside the transaction that records it. */
export function createRunEnd(
  { storage, log }: SharedDependencies,
  others: {
    sessions: WorkerModules['sessions'];
    board: Board<Dispatcher>;
    bus: Bus;
    worktreeActions: WorktreeActions;
    pullRequests: AutomaticPullRequests;
    impactAtEnd: ReturnType<typeof createImpactAtEnd>;
  },
): DispatchDeps['atEnd'] {
  const { board, bus, worktreeActions, pullRequests, impactAtEnd } = others;
  async function discardLosers(): Promise<void> {
    try {
      await worktreeActions.discardDue();
    } catch (error) {
      log.warn({ error }, 'the losers of a race were not discarded yet');
    }
  }
  return (session, end, kept) => {
    board.sessionEnded(session.sessionId);
    bus.sessionEnded(session, { ...end, ...kept, verification: board.evidenceAtEnd(session) });
    pullRequests.sessionEnded(session, kept.commits);
    // Sessions that lost their race while running are discarded now.
    if (others.sessions.isDiscardDue(session.sessionId)) storage.afterCommit(() => void discardLosers());
    storage.afterCommit(() => void impactAtEnd.add({ ...session, commits: kept.commits }));
  };
}

/** Builds the modules that show sessions and act on them. */
export function createSessionModules(
  shared: SharedDependencies,
  workers: WorkerModules,
  { board, keys }: { board: Board<Dispatcher>; keys: RunKeys },
) {
  const { storage, events, clock, log, paths } = shared;
  const { sessions, agents, runner } = workers;
  const logs = createSessionLogs(runner, (sessionId) =>
    createReader(
      findOutputFormat({ agents, approvals: { boundTo: board.decisions.boundTo } }, sessions.get(sessionId)),
    ),
  );
  const sessionActions = createSessionActions({
    storage,
    events,
    sessions,
    tasks: board.tasks,
    decisions: board.decisions,
    workflow: board.workflow,
    dispatcher: board.dispatcher,
    visitors: workers.visitors,
    followUps: workers.followUps,
    comments: board.comments,
    runner,
    keys,
    agentFolder: (sessionId) => agentFolder({ paths }, sessionId),
    isStrict: workers.isStrict,
    requireConsent: shared.requireConsent,
    log,
  });
  return { logs, sessionActions, liveFacts: createLiveFacts({ runner, logs, clock }) };
}
