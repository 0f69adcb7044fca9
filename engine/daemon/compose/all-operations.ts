import { pickRacer } from '../../board/decisions/index.ts';
import { retentionOperations } from '../../board/retention/index.ts';
import { worktreeOperations } from '../../board/review/operations.ts';
import { statsOperations } from '../../board/stats/index.ts';
import { hookOperations } from '../../bus/hooks/operations.ts';
import { secretOperations } from '../../config/compare-secrets.ts';
import { type Config, findSecrets } from '../../config/index.ts';
import type { ConfigKeeper } from '../../config/keeper.ts';
import { configOperations } from '../../config/operations.ts';
import { entitlementsOperations } from '../../core/access/operations.ts';
import { createOperations } from '../../core/api/dispatcher.ts';
import type { Operations, OwnWork } from '../../core/api/operation.ts';
import { toolOperations } from '../../core/api/tool-operations.ts';
import { sessionOperations } from '../../dispatch/operations.ts';
import { brokerOperations, fleetOperations } from '../../fleet/index.ts';
import { gatewayOperations } from '../../gateway/index.ts';
import { contextOperations } from '../../knowledge/context/operations.ts';
import { guardOperations } from '../../knowledge/guard/operations.ts';
import { memoryOperations } from '../../knowledge/memory/operations.ts';
import { graphOperations } from '../../knowledge/symbols/operations.ts';
import { linkOperations, telemetryOperations } from '../../link/index.ts';
import { notifyOperations } from '../../notify/operations.ts';
import { pullRequestOperations } from '../../pull-requests/operations.ts';
import { sourceOperations } from '../../sources/operations.ts';
import { eventOperations } from '../../storage/index.ts';
import { findReadingTime, listUntoldBy } from '../../workers/agents/command.ts';
import { circuitOperations } from '../../workers/agents/operations.ts';
import { projectOperations } from '../../workers/runner/setup/operations.ts';
import { readProjectSetups } from '../../workers/runner/setup/projects.ts';
import { runCommandOperations } from '../../workers/runner/setup/run-operations.ts';
import type { Session } from '../../workers/sessions/index.ts';
import type { EngineModules } from './modules.ts';
import { engineOperations } from './operations.ts';
import type { SharedDependencies } from './shared-dependencies.ts';

interface EngineCalls extends Pick<Parameters<typeof engineOperations>[0], 'status' | 'stop'> {
  keeper: ConfigKeeper;
}

/** Creates the operations of all modules, with the checks that apply to each call. */
export function createAllOperations(
  shared: SharedDependencies,
  modules: EngineModules,
  engine: EngineCalls & { ownWorkOf(sessionId: string): OwnWork | null },
) {
  const { config } = shared;
  const { keeper } = engine;
  const declared = [
    ...listEngineOperations(shared, modules, engine),
    ...listWorkOperations(shared, modules),
    ...listWorkspaceOperations(shared, modules, keeper),
    ...fleetOperations({
      ...shared,
      fleet: modules.fleet,
      fleetId: shared.dataId,
      countWorking: modules.sessions.countByRunner,
      look: modules.board.dispatcher.look,
      takeUp: modules.board.dispatcher.takeUp,
      loseRuns: modules.board.dispatcher.loseRuns,
      settleAllOf: modules.sessions.settleAllOf,
      listRunningOn: (runner) =>
        modules.sessions
          .listLive()
          .flatMap((each) => (each.runner === runner && each.state !== 'queued' ? [each.sessionId] : [])),
      listProjects: () => [config().project.name, ...modules.agents.listProjectIds()],
    }),
    ...brokerOperations({
      ...shared,
      fleet: modules.fleet,
      countWorking: modules.sessions.countByRunner,
      listQueued: () =>
        modules.sessions
          .ready(shared.clock.now(), { onlyElsewhere: true })
          .flatMap(({ sessionId, pool }) =>
            pool === null ? [] : [{ pool, createdAt: modules.sessions.get(sessionId).createdAt }],
          ),
    }),
    ...listKnowledgeOperations(shared, modules),
    ...retentionOperations({ retention: modules.retention }),
    ...statsOperations({ stats: modules.stats }),
    ...listOutsideOperations(shared, modules),
  ];
  /** Agents without use for the context tools need not read about them. */
  const isOffered = (name: string): boolean =>
    config().context.guidance.mcp_tools || !name.startsWith('context.');
  const { listInstalled, listProjectIds } = modules.agents;
  const nameChoices = () => ({ agents: listInstalled(), projects: listProjectIds() });
  const all = [...declared, ...toolOperations(declared, nameChoices, isOffered)];
  const operations: Operations<(typeof all)[number]> = createOperations(all, {
    policy() {
      // A person who edits svc.yaml and then asks gets an answer by its current contents.
      keeper.refresh();
      return config().policy;
    },
    calls: shared.storage.calls,
    ownWorkOf: engine.ownWorkOf,
  });
  return operations;
}

/** Leaves out phones and code hosts, whose secrets are read when they are used: no engine needs a restart for them. */
const withoutLateSecrets = (config: Config): Config => ({
  ...config,
  notify: { ...config.notify, push: [] },
  sources: [],
});

/** Lists the operations on the engine and its events. */
function listEngineOperations(
  { config, secret, events }: SharedDependencies,
  { board }: EngineModules,
  { keeper, status, stop }: EngineCalls,
) {
  return [
    ...engineOperations({
      status,
      reload() {
        keeper.refresh();
        return { configProblem: keeper.problem(), restartNeeded: keeper.restartNeeded() };
      },
      stop,
      policy: () => config().policy,
    }),
    ...secretOperations({ secrets: () => findSecrets(withoutLateSecrets(config()), secret), lookup: secret }),
    ...eventOperations({ events, taskId: (prefix) => board.tasks.resolve(prefix).taskId }),
  ];
}

/** Lists the operations on tasks, messages, and the sessions of workers. */
function listWorkOperations({ config, events, clock }: SharedDependencies, modules: EngineModules) {
  const { agents, board, bus, circuits, pullRequests, sessions, texts } = modules;
  const { dispatcher } = board;
  return [
    ...board.operations,
    ...bus.operations,
    ...sessionOperations({
      sessions,
      logs: modules.logs,
      live: modules.liveFacts,
      actions: modules.sessionActions,
      facts: dispatcher.facts,
      permissions(session) {
        const inputs = session && board.decisions.boundTo(session.decisionId).inputs;
        const own = session && inputs && pickRacer(inputs, session.agent);
        return own?.permissions ?? config().agents.permissions;
      },
      circuits,
      startExplaining: () => explainWaits(modules, clock.now()),
      findTaskWait: board.tasks.findWait,
      nameMachine: modules.fleet.nameMachine,
      untold: (session) => listUntoldBy(agents, session),
      findReadingTime: (session) => findReadingTime(agents, session),
      listSavedTokens: texts.savings.listSavedTokens,
      listPullRequests: () => listPullRequests(pullRequests),
      listPullRequestOrders: pullRequests.orders.list,
    }),
    ...pullRequestOperations({
      ...pullRequests.preparation,
      events,
      orders: pullRequests.orders,
      resolveFolder: agents.resolveFolder,
      findTask: board.tasks.resolve,
    }),
    ...circuitOperations({ circuits, look: dispatcher.look }),
  ];
}

/** Lists the pull requests of sessions, with why svc could not ask about them. */
const listPullRequests = ({ preparation, watch }: EngineModules['pullRequests']) =>
  new Map(
    [...preparation.records.list()].map(([sessionId, pull]) => [
      sessionId,
      { ...pull, problem: watch.findProblem(pull) },
    ]),
  );

/** Returns a function that explains why no machine takes a session that waits for one; null if one does, or if it waits for something else. */
function explainWaits(
  { fleet, sessions }: Pick<EngineModules, 'fleet' | 'sessions'>,
  now: number,
): (session: Session) => string | null {
  const choice = fleet.openChoice(sessions.countByRunner());
  return ({ sessionId, agent, project, pool, runner, profile, cwd, continues, resumeAt }) => {
    if (pool === null || (resumeAt !== null && Date.parse(resumeAt) > now)) return null;
    const mayMove = sessions.mayMove({ cwd, continues });
    const chosen = choice.choose({ sessionId, agent, project, pool, runner, mayMove, profile });
    return 'why' in chosen ? chosen.why : null;
  };
}

/** Lists the operations on svc.yaml, projects and worktrees. */
function listWorkspaceOperations(
  { file, env, storage, events, clock }: SharedDependencies,
  { agents, carried, runCommands, sessions, worktreeActions, worktrees }: EngineModules,
  keeper: ConfigKeeper,
) {
  return [
    ...configOperations({
      file,
      env,
      keeper,
      carried: () => readProjectSetups(carried()),
      storage,
      events,
      clock,
    }),
    ...projectOperations({ where: carried, storage, events, clock }),
    ...runCommandOperations({ sessions, commands: runCommands }),
    ...worktreeOperations({
      actions: worktreeActions,
      sessions,
      worktrees,
      folder: agents.resolveFolder,
    }),
  ];
}

function listKnowledgeOperations({ clock }: SharedDependencies, modules: EngineModules) {
  const { agents, graph } = modules;
  return [
    ...memoryOperations({
      memory: modules.memory,
      paths: modules.workspacePaths,
      callerPaths: modules.callerPaths,
      clock,
      listUnknownNames: graph.listUnknownNames,
    }),
    ...contextOperations({ texts: modules.texts }),
    ...guardOperations({ guard: modules.guard }),
    ...graphOperations({
      graph,
      projects: agents.listProjectIds,
      projectId: agents.resolveProjectId,
      readImpact: modules.readImpact,
    }),
  ];
}

/** Lists the operations on everything that reaches other programs: receivers of events, servers, agents, models. */
function listOutsideOperations(
  { storage, clock, config, paths }: SharedDependencies,
  modules: EngineModules,
) {
  const { agents, gateway, link } = modules;
  return [
    ...notifyOperations(modules.notify),
    ...linkOperations(link),
    ...sourceOperations(modules.sources, { pollPullRequests: modules.pullRequests.watch.poll }),
    ...telemetryOperations(link.telemetry),
    ...entitlementsOperations({ entitlements: modules.entitlements }),
    ...hookOperations(modules.hooks),
    ...gatewayOperations({
      storage,
      clock,
      config,
      keys: gateway.keys,
      gateway: gateway.process,
      books: gateway.books,
      content: gateway.content,
      data: paths.data,
      sessions: modules.sessions,
      sumClaims: modules.board.dispatcher.sumClaims,
      routedAgents: () => agents.listInstalled().filter((name) => agents.findAuth(name) === 'gateway'),
      policy: () => config().policy,
      sumSavings: modules.texts.savings.sumSavings,
    }),
  ];
}
