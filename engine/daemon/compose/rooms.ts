import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { holdsForCaller } from '../../board/holder.ts';
import { type Board, createBoard } from '../../board/index.ts';
import { createDataRetention, type DataRetention, readRetentionAges } from '../../board/retention/index.ts';
import {
  createPullRequestRecords,
  type PullRequestRecords,
} from '../../board/review/pull-requests/records.ts';
import { createReviews, type ReviewStore } from '../../board/review/reviews.ts';
import { createSessionChanges } from '../../board/review/session-changes.ts';
import { createWorktreeActions, type WorktreeActions } from '../../board/review/worktree-actions.ts';
import { createStats, type Stats } from '../../board/stats/index.ts';
import {
  createHooks,
  describeStanding,
  type Hooks,
  listHeldPaths,
  listNewMessages,
  requireSharedLocks,
} from '../../bus/hooks/index.ts';
import { type Bus, createBus } from '../../bus/index.ts';
import {
  type Config,
  type DataPaths,
  isLoopback,
  listSecretVariables,
  readEnvironmentFlag,
  resolveMachineHome,
} from '../../config/index.ts';
import { createEntitlements, type EntitlementsReader } from '../../core/access/entitlements.ts';
import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';
import { locateProgram, version } from '../../core/base/own-package.ts';
import { isInsideFolder } from '../../core/base/paths.ts';
import { type CallerPaths, createCallerPaths } from '../../core/workspace/caller-paths.ts';
import type { EngineProcess } from '../../core/workspace/daemon-record.ts';
import { openKnownSessions } from '../../core/workspace/known-sessions.ts';
import { createWorkspacePaths, type WorkspacePaths } from '../../core/workspace/workspace-path.ts';
import {
  createDispatcher,
  type Dispatcher,
  describeRun,
  explainSvc,
  quoteTask,
  recallEarlierRun,
  remindRules,
} from '../../dispatch/index.ts';
import { createLiveFacts, type LiveFacts } from '../../dispatch/live-facts.ts';
import { createSessionActions, type SessionActions } from '../../dispatch/session-actions.ts';
import { createSessionLogs, type SessionLogs } from '../../dispatch/session-logs.ts';
import {
  createForwardedReader,
  createGatewayRoom,
  type GatewayRoom,
  listProviderVariables,
  sumByTier,
} from '../../gateway/index.ts';
import { createStoredTexts, type StoredTexts } from '../../knowledge/context/index.ts';
import { createGuard, findProfile, type Guard } from '../../knowledge/guard/index.ts';
import { createMemory, type Memories, pointToNotes } from '../../knowledge/memory/index.ts';
import { createImpactAtEnd } from '../../knowledge/symbols/impact-at-end.ts';
import { createGraph, type Graph, placeShared } from '../../knowledge/symbols/index.ts';
import { createImpactReader, type ReadImpact } from '../../knowledge/symbols/read-impact.ts';
import { type AccountLeases, createLeases, createLink, fetchLease, type Link } from '../../link/index.ts';
import { createNotify } from '../../notify/index.ts';
import { createReceiver } from '../../receiver/index.ts';
import { createListeners, type ReceiverListeners } from '../../receiver/listeners.ts';
import type { EventLog, Storage } from '../../storage/index.ts';
import {
  type AgentCircuits,
  type AgentRegistry,
  createAgents,
  createCircuits,
  createReader,
  findOutputFormat,
} from '../../workers/agents/index.ts';
import { TO_FILE } from '../../workers/agents/presets/notify.ts';
import { fillPlaceholders, splitCommand } from '../../workers/agents/template.ts';
import { createCleanCheckouts } from '../../workers/runner/clean-checkout.ts';
import { createCommandConfinement } from '../../workers/runner/confine/commands.ts';
import { checkConfinement, createConfinement } from '../../workers/runner/confine/index.ts';
import {
  buildWorkerEnvironment,
  createCommands,
  createContainment,
  createProcesses,
  ENGINE_MARK,
  hidesOtherUsers,
  type RunProcesses,
  workspaceMark,
} from '../../workers/runner/processes/index.ts';
import { createRunSockets, type RunSockets } from '../../workers/runner/run-sockets.ts';
import {
  agentFolder,
  briefFile,
  createLocalRunner,
  createProjectReader,
} from '../../workers/runner/runs/index.ts';
import { createSetup, type ProjectScope } from '../../workers/runner/setup/index.ts';
import { createWorktrees, type GitAccess, type Worktrees } from '../../workers/runner/worktrees/index.ts';
import { findSensitiveKind, isPrivatePath } from '../../workers/runner/worktrees/inspect/sensitive.ts';
import {
  createFollowUps,
  createGuidance,
  createSessions,
  createVisitors,
  type Session,
  type Sessions,
} from '../../workers/sessions/index.ts';

/** The shared dependencies of all modules. */
export interface SharedDependencies {
  /** A killed engine of this data folder; null for none. */
  lostEngine: EngineProcess | null;
  storage: Storage;
  events: EventLog;
  clock: Clock;
  log: Log;
  /** The workspace's folder, absolute. */
  root: string;
  /** svc.yaml. */
  file: string;
  /** The id of the data folder. */
  dataId: string;
  paths: DataPaths;
  config(): Config;
  /** Throws `consent_missing` while no one has ever agreed to svc.yaml: before anything is started. */
  requireConsent(): void;
  /** Keys of svc.yaml that are not in use until someone agrees to them. */
  waitingKeys(): readonly string[];
  env: NodeJS.ProcessEnv;
  /** Writes `server.url` of svc.yaml, which also agrees to it; null removes it. */
  setServerUrl(url: string | null, actor: string): void;
  /** The value of a secret's variable. */
  secret(name: string): string | undefined;
  svc: readonly string[] | null;
  workerCap: number;
  graceMs: number;
  /** Closed in the opposite order of building. */
  closing(close: () => unknown): void;
}

export interface EngineModules {
  sessions: Sessions;
  processes: RunProcesses;
  agents: AgentRegistry;
  worktrees: Worktrees;
  worktreeActions: WorktreeActions;
  reviews: ReviewStore;
  pullRequests: PullRequestRecords;
  retention: DataRetention;
  stats: Stats;
  sessionActions: SessionActions;
  logs: SessionLogs;
  liveFacts: LiveFacts;
  circuits: AgentCircuits;
  bus: Bus;
  board: Board<Dispatcher>;
  notify: ReturnType<typeof createNotify>;
  link: Link;
  listeners: ReceiverListeners;
  hooks: Hooks;
  entitlements: EntitlementsReader;
  leases: AccountLeases;
  gateway: GatewayRoom;
  memory: Memories;
  texts: StoredTexts;
  guard: Guard;
  graph: Graph;
  readImpact: ReadImpact;
  /** Resolves paths that callers name. */
  paths: WorkspacePaths;
  callerPaths: CallerPaths;
  runSockets: RunSockets;
  /** The worktree setup of projects, and its consents. */
  carried(): ProjectScope;
}

/** Builds every module, in order: the one place where they meet. */
export function createRooms(ground: SharedDependencies): EngineModules {
  const { storage, events, clock, log, root, paths, config, env, closing } = ground;
  const sessions = createSessions({ storage, clock });
  const containment = createContainment({ data: paths.data, env });
  const processes = createProcesses({
    containment,
    lostEngine: ground.lostEngine,
    knownSessions: openKnownSessions(paths.data),
  });
  const secretNames = () => [...listSecretVariables(config()), ...listProviderVariables(config())];
  /**
   * The environment of everything that the engine starts: with the machine home, and with a mark so that it is never
   * taken for the person.
   */
  const childEnvironment = (extra: Record<string, string> = {}) =>
    buildWorkerEnvironment(
      env,
      { SVC_HOME: resolveMachineHome(env), [ENGINE_MARK]: workspaceMark(paths.data), ...extra },
      secretNames(),
    );
  const agents = createAgents({
    root,
    config,
    env,
    workerEnvironment: childEnvironment,
    waitingKeys: ground.waitingKeys,
  });
  const runSockets = createRunSockets({ root, version, env });
  closing(runSockets.close);
  // A worker can write the filters and drivers that git runs in its repository; they see git's environment.
  const git = { env: childEnvironment(), agentsDir: paths.agents } satisfies GitAccess;
  const worktrees = createWorktrees(git);
  const workspacePaths = createWorkspacePaths({
    root,
    worktrees: paths.worktrees,
    projects: () => agents.listProjects().map(({ folder }) => folder),
    repositoryOf: (name) => sessions.byBranch(`svc/${name}`)?.repository ?? null,
  });
  const isConfiguration = (path: string): boolean => findSensitiveKind(path) !== null;
  const callerPaths = createCallerPaths({
    paths: workspacePaths,
    root,
    closed: [paths.data, paths.agents, paths.worktrees],
    worktrees: paths.worktrees,
    projects: () => agents.listProjects().map(({ folder }) => folder),
    foldersOf(sessionId) {
      if (!sessions.isKnown(sessionId)) return null;
      const { worktree, cwd, repository, project } = sessions.get(sessionId);
      return { worktree, cwd, repository, project: agents.resolveFolder(project) };
    },
    isPrivate: isPrivatePath,
    isConfiguration,
  });
  const confinement = createConfinement({
    env,
    root,
    configFile: ground.file,
    paths,
    machineHome: resolveMachineHome(env),
    svc: ground.svc,
  });
  const confine = createCommandConfinement(confinement, paths.agents);
  const carried = (): ProjectScope => ({ root, config: config(), home: resolveMachineHome(env) });
  const setup = createSetup({
    processes,
    worktrees,
    where: carried,
    environment: childEnvironment,
    confine,
    configFile: ground.file,
    agentsDir: paths.agents,
    log,
    graceMs: ground.graceMs,
  });
  closing(setup.close);
  const isStrict = () => config().guard.profile === 'strict';

  const runner = createLocalRunner({
    processes,
    worktrees,
    setup,
    confinement,
    checkConfinement: () => checkConfinement(env),
    runSockets,
    agents,
    paths,
    configFile: ground.file,
    svc: ground.svc,
    isArgvSeen: !hidesOtherUsers(),
    environment: childEnvironment,
    clock,
    log,
  });
  const logs = createSessionLogs(runner, (sessionId) =>
    createReader(
      findOutputFormat(
        { agents, approvals: { boundTo: (id) => board.decisions.boundTo(id) } },
        sessions.get(sessionId),
      ),
    ),
  );
  const visitors = createVisitors({ sessions, processes });
  const followUps = createFollowUps({ sessions, visitors });
  const circuits = createCircuits({ storage, events, clock });
  const gateway = createGatewayRoom({
    storage,
    events,
    clock,
    log,
    data: paths.data,
    dataId: ground.dataId,
    db: paths.db,
    config,
    secret: ground.secret,
    env,
    shortener: pathToFileURL(locateProgram('shorten-output')).href,
    skipsStart: readEnvironmentFlag(env, 'SVC_SKIP_GATEWAY_AUTOSTART'),
  });
  closing(gateway.close);
  const keys = gateway.runKeys;

  const briefOf = ({ sessionId, worktree, cwd }: Session): string | null =>
    cwd === null ? null : briefFile({ paths }, { sessionId, worktree, cwd });
  const guidance = createGuidance(() => ({
    locale: config().workspace.locale,
    chair: config().chair.guidance,
    context: config().context.guidance,
    hasMemory: config().memory.enabled !== false,
  }));
  const bus = createBus({
    guidance,
    storage,
    events,
    clock,
    sessions,
    paths: workspacePaths,
    callerPaths,
    config,
    projectId: agents.resolveProjectId,
    folder: agents.resolveFolder,
    locateSymbol: (symbol, project) => graph.locateShared(symbol, project),
    root,
    data: paths.data,
    prepare: createCommands(processes, childEnvironment),
    seatClosed: (sessionId) => board.sessionEnded(sessionId),
    startOf: processes.readStartTime,
    isAlive: processes.checkLiveness,
    async takeUp() {
      await board.dispatcher.takeUp();
      await sessionActions.reap();
    },
    briefOf,
    templates: { fallback: TO_FILE, words: splitCommand, fill: fillPlaceholders, isLoopback },
    log,
  });
  closing(bus.close);

  const memory = createMemory({
    storage,
    events,
    clock,
    settings() {
      const {
        enabled = true,
        brief_on_dispatch = true,
        brief_limit,
        retention_days,
        okf_dir,
      } = config().memory;
      return {
        enabled,
        briefLimit: brief_on_dispatch ? brief_limit : 0,
        retentionDays: retention_days,
        root,
        okfDir: resolve(root, okf_dir),
      };
    },
    sessionOf: (sessionId) => (sessions.isKnown(sessionId) ? sessions.get(sessionId) : null),
    task: (taskId) => board.tasks.get(taskId),
    paths: workspacePaths,
    callerPaths,
    isConfiguration,
    log,
  });
  closing(memory.close);

  const texts = createStoredTexts({
    storage,
    clock,
    settings() {
      const { dir, ttl_minutes, guidance, threshold_bytes, hooks } = config().context;
      const folder = resolve(root, dir);
      return {
        data: paths.data,
        // Another workspace may use the same folder, and removes what it does not know.
        folder: isInsideFolder(paths.data, folder) ? folder : join(folder, ground.dataId),
        idleMs: ttl_minutes * 60_000,
        crushes: guidance.crush,
        stores: guidance.externalize,
        longBytes: hooks.post_tool ? threshold_bytes : null,
        protectedTools: guidance.protect_tools,
      };
    },
    forwarded: createForwardedReader(paths.data),
    taskOf: (sessionId) => (sessions.isKnown(sessionId) ? sessions.get(sessionId).taskId : null),
    log,
  });
  closing(texts.close);

  const listSharedPaths = (): string[] =>
    [config().paths.shared, ...Object.values(config().shared).flat()].filter((path) => path !== '');
  const graph = createGraph({
    data: paths.data,
    git,
    settings: () => ({
      parsers: config().parsers,
      without: [paths.data, paths.agents, paths.worktrees],
      exact: { isOn: config().graph.exact, mustConfine: config().guard.profile === 'strict' },
      shared: placeShared(
        root,
        listSharedPaths(),
        agents.listProjects().filter(({ own }) => !own),
      ),
    }),
    folder: agents.resolveFolder,
    sessionOf: (sessionId) => (sessions.isKnown(sessionId) ? sessions.get(sessionId) : null),
  });
  closing(graph.close);
  const readImpact = createImpactReader(
    graph,
    createSessionChanges({
      sessions,
      worktrees,
      resolveFolder: agents.resolveFolder,
    }),
  );

  const impactAtEnd = createImpactAtEnd({
    graph,
    readImpact,
    tell: (session, text) => storage.write(() => bus.addToHandoff(session, 'impact', text)),
    log,
  });
  closing(impactAtEnd.close);

  const leases = createLeases({
    file: join(paths.data, 'lease.json'),
    clock,
    secret: env.SVC_LEASE_SECRET,
    link() {
      const linked = link.linked();
      return linked === null || linked.revokedAt !== null
        ? null
        : { server: linked.server, workspaceId: linked.workspace, leaseKey: linked.leaseKey };
    },
    fetchLease: (nonce) => fetchLease(link.calls(), nonce),
    log,
  });
  closing(leases.close);
  const entitlements = createEntitlements({
    linked: () => link.linked(),
    lease: leases.view,
    isLeaseRequired: readEnvironmentFlag(env, 'SVC_REQUIRE_LEASE'),
    mayBeUnlinked: readEnvironmentFlag(env, 'SVC_ALLOW_UNLINKED'),
    listProjects: () => config().projects.map(({ id }) => id),
  });

  const board: Board<Dispatcher> = createBoard({
    storage,
    events,
    clock,
    sessions,
    agents,
    templates: () => config().webhook.templates,
    policy: () => config().policy,
    peers: bus.peers,
    followUps,
    paths: workspacePaths,
    callerPaths,
    worktrees,
    processes,
    checkouts: createCleanCheckouts({
      worktrees,
      setup,
      processes,
      agentsDir: paths.agents,
      projectFolder: agents.resolveFolder,
      log,
      graceMs: ground.graceMs,
    }),
    checkWork: async ({ baseCommit }, head, folder) =>
      baseCommit === null ? null : guard.checkWork(folder, `${baseCommit}...${head}`),
    tellOfEvidence: (session, text) => bus.tellOfSession(session, text),
    log,
    checks: () => config().guard.checks,
    rerunsFor: () => findProfile(config().guard).reruns,
    findHold: circuits.findCircuit,
    requireConsent: ground.requireConsent,
    workerEnvironment: childEnvironment,
    confine,
    checkConfinement: () => checkConfinement(env),
    createDispatch: (tasks, approvals, races) =>
      createDispatcher({
        storage,
        events,
        tasks,
        approvals,
        races,
        sessions,
        visitors,
        agents,
        runner,
        projects: createProjectReader({ worktrees, setup, environment: childEnvironment }),
        contributors: [
          describeRun(),
          ...quoteTask(),
          explainSvc(),
          remindRules(guidance),
          pointToNotes(),
          ...recallEarlierRun(),
        ],
        writeNotes: memory.writeBrief,
        circuits,
        keys,
        clock,
        log,
        timeouts: () => ({
          timeoutSec: config().agents.timeout_sec,
          idleTimeoutSec: config().agents.idle_timeout_sec,
        }),
        configuration: config,
        profile: () => config().guard.profile || 'lite',
        requireConsent: ground.requireConsent,
        findLock: entitlements.findLock,
        permissions: () => config().agents.permissions,
        isAsking: bus.isAsking,
        atPlace: ({ cwd }) => guard.readAhead(cwd),
        atEnd(session, end, kept) {
          board.sessionEnded(session.sessionId);
          bus.sessionEnded(session, { ...end, ...kept, verification: board.evidenceAtEnd(session) });
          // Sessions that lost their race while running are discarded now.
          if (sessions.isDiscardDue(session.sessionId))
            storage.afterCommit(() => {
              worktreeActions
                .discardDue()
                .catch((error: unknown) =>
                  log.warn({ error }, 'the losers of a race were not discarded yet'),
                );
            });
          storage.afterCommit(() => void impactAtEnd.add({ ...session, commits: kept.commits }));
        },
        cap: ground.workerCap,
        graceMs: ground.graceMs,
      }),
  });
  closing(board.close);
  closing(board.dispatcher.close);

  const worktreeActions = createWorktreeActions({
    storage,
    events,
    clock,
    visitors,
    sessions,
    races: board.races,
    stopSession: (sessionId, by) => board.dispatcher.stop(sessionId, 'cancelled', by),
    worktrees,
    worktreesDir: paths.worktrees,
    resolveFolder: agents.resolveFolder,
    listProjects: () => [null, ...config().projects.map((project) => project.id)],
    readEvidence: board.evidence,
    tearDownWorktree: setup.tearDownWorktree,
    isStrict,
  });

  const reviews = createReviews({
    storage,
    events,
    sessions,
    worktrees,
    setup,
    actions: worktreeActions,
    agentsDir: paths.agents,
    log,
  });
  const retention = createDataRetention({
    storage,
    events,
    clock,
    worktrees,
    agentsDir: paths.agents,
    ages: () => readRetentionAges(config().retain),
    log,
  });
  closing(retention.close);
  const stats = createStats({ storage, events, clock, cap: ground.workerCap });
  const { tasks, decisions, workflow } = board;
  const sessionActions = createSessionActions({
    storage,
    events,
    sessions,
    tasks,
    decisions,
    workflow,
    dispatcher: board.dispatcher,
    visitors,
    followUps,
    comments: board.comments,
    runner,
    keys,
    agentFolder: (sessionId) => agentFolder({ paths }, sessionId),
    isStrict,
    requireConsent: ground.requireConsent,
    log,
  });
  const notify = createNotify({
    storage,
    events,
    clock,
    config,
    tasks,
    workspaceName: () => config().workspace.name,
    secret: ground.secret,
    log,
  });
  closing(notify.close);
  const link = createLink({
    storage,
    events,
    clock,
    log,
    env,
    root,
    data: paths.data,
    dataId: ground.dataId,
    config,
    setServerUrl: ground.setServerUrl,
    tasks,
    decisions,
    workflow,
    requireConsent: ground.requireConsent,
    leases,
    sumTierTokens: (day, since) => sumByTier(config(), gateway.books.sumSpentByProvider(day, since)),
  });
  closing(link.close);
  const listeners = createListeners(
    createReceiver({
      storage,
      workflow,
      tasks,
      decisions,
      sessions,
      clock,
      config,
      agents,
      isLoopback,
      workspace: { id: ground.dataId, name: () => config().workspace.name },
      log,
    }),
    ground.requireConsent,
  );
  closing(listeners.close);

  const { locks } = board;
  /** Returns the shared path of svc.yaml that contains a path, in any worktree; null for any other. */
  function findSharedPath(path: string): string | null {
    try {
      const { absolute } = workspacePaths.resolveNamed(path);
      return listSharedPaths().find((each) => isInsideFolder(resolve(root, each), absolute)) ?? null;
    } catch {
      return null;
    }
  }
  const guard = createGuard({
    file: join(paths.data, 'guard.db'),
    git,
    worktrees,
    without: [paths.data, paths.agents, paths.worktrees],
    settings() {
      const { guard, parsers, workspace } = config();
      return {
        guard,
        parsers,
        locale: workspace.locale,
        codeLang: workspace.code_lang,
        primaryLanguages: workspace.primary_languages,
      };
    },
    paths: workspacePaths,
    callerPaths,
    projectFolder: agents.resolveFolder,
    worktreeOf: (session) => (sessions.isKnown(session) ? sessions.get(session).worktree : null),
    log,
  });
  closing(guard.close);
  const hooks = createHooks({
    log,
    wantsOutput: texts.wantsOutput,
    contributors: [
      listHeldPaths({
        isOn: () => findProfile(config().guard).locks,
        over: locks.holderOver,
        isOwn: (holder, caller) => holdsForCaller(holder, caller, bus.peers),
        find: bus.peers.find,
      }),
      requireSharedLocks({
        isOn: () => findProfile(config().guard).sharedCode,
        findShared: findSharedPath,
        listOver: locks.listOver,
        isOwn: (holder, caller) => holdsForCaller(holder, caller, bus.peers),
      }),
      guard.lookBeforeWrite(),
      describeStanding({
        sessionOf: (sessionId) => (sessions.isKnown(sessionId) ? sessions.get(sessionId) : null),
        briefOf,
        task: tasks.get,
        asksOf: (from) => bus.asks.list({ status: 'open', from }),
        locksOf: (holder) => locks.around().filter((lock) => lock.holder === holder),
        tellsMore: () => config().context.hooks.pre_compact,
        claimsOf: board.claimsOf,
        evidenceOf: board.evidence,
        textsOf: texts.listOf,
      }),
      listNewMessages({ surface: bus.surface }),
    ],
  });

  return {
    sessions,
    processes,
    agents,
    worktrees,
    worktreeActions,
    reviews,
    pullRequests: createPullRequestRecords(storage, clock),
    retention,
    stats,
    sessionActions,
    logs,
    liveFacts: createLiveFacts({ runner, logs, clock }),
    circuits,
    bus,
    board,
    notify,
    link,
    listeners,
    hooks,
    entitlements,
    leases,
    gateway,
    memory,
    texts,
    guard,
    graph,
    readImpact,
    paths: workspacePaths,
    callerPaths,
    runSockets,
    carried,
  };
}
