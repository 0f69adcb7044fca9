import { mkdirSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { dirname } from 'node:path';
import { pickRacer } from '../../board/decisions/index.ts';
import { retentionOperations } from '../../board/retention/index.ts';
import { worktreeOperations } from '../../board/review/operations.ts';
import { pullRequestOperations } from '../../board/review/pull-requests/operations.ts';
import { statsOperations } from '../../board/stats/index.ts';
import { hookOperations } from '../../bus/hooks/operations.ts';
import { secretOperations } from '../../config/compare-secrets.ts';
import { renderWithKey, writeConfig } from '../../config/edit.ts';
import {
  type Config,
  consentMissingForStart,
  findSecrets,
  isLoopback,
  listReceiverSecrets,
  parseAddress,
  resolveDataPaths,
} from '../../config/index.ts';
import { createConfigKeeper } from '../../config/keeper.ts';
import { configOperations } from '../../config/operations.ts';
import { entitlementsOperations } from '../../core/access/operations.ts';
import { createOperations } from '../../core/api/dispatcher.ts';
import type { ApiOf, Operations, OwnWork } from '../../core/api/operation.ts';
import { createToolCalls, toolOperations } from '../../core/api/tool-operations.ts';
import { homeOfUser } from '../../core/base/account.ts';
import { type Clock, systemClock } from '../../core/base/clock.ts';
import { SvcError } from '../../core/base/errors.ts';
import { keepAliveDuring } from '../../core/base/keep-alive.ts';
import { type Log, openLog } from '../../core/base/log.ts';
import { version } from '../../core/base/own-package.ts';
import { isBelowFolder } from '../../core/base/paths.ts';
import { makePrivateFolder } from '../../core/base/private-files.ts';
import type { EngineProcess } from '../../core/workspace/daemon-record.ts';
import {
  checkKeptPaths,
  claimDataFolder,
  dataFolderRefusedError,
  listDatabaseFiles,
} from '../../core/workspace/data-folder.ts';
import { excludeFromGit } from '../../core/workspace/git-exclude.ts';
import { keepLostEngine, readBootId } from '../../core/workspace/lost-engine.ts';
import { findWorkspaceHostedBy } from '../../core/workspace/neighbours.ts';
import { findOwnSupervisor } from '../../core/workspace/own-supervisor.ts';
import { sessionOperations } from '../../dispatch/operations.ts';
import { gatewayOperations } from '../../gateway/index.ts';
import { contextOperations } from '../../knowledge/context/operations.ts';
import { guardOperations } from '../../knowledge/guard/operations.ts';
import { memoryOperations } from '../../knowledge/memory/operations.ts';
import { graphOperations } from '../../knowledge/symbols/operations.ts';
import { linkOperations, telemetryOperations } from '../../link/index.ts';
import { notifyOperations } from '../../notify/operations.ts';
import { createConfiguredReceiver } from '../../receiver/configured.ts';
import { createEventLog, eventOperations, holdHostLock, openStorage, whenGone } from '../../storage/index.ts';
import { findReadingTime, listUntoldBy } from '../../workers/agents/command.ts';
import { circuitOperations } from '../../workers/agents/operations.ts';
import {
  findConnectionOwners,
  findPortOwners,
  type ProcessOrigin,
  type RunProcesses,
  type TcpEnds,
} from '../../workers/runner/processes/index.ts';
import { projectOperations } from '../../workers/runner/setup/operations.ts';
import { readProjectSetups } from '../../workers/runner/setup/projects.ts';
import { listTrackedFiles } from '../../workers/runner/worktrees/git/tracked.ts';
import { isPlainName } from '../../workers/sessions/seats/index.ts';
import { type EngineStatus, engineOperations } from './operations.ts';
import { createRooms } from './rooms.ts';

export interface OpenOptions {
  /** Path of svc.yaml. */
  file: string;
  env?: NodeJS.ProcessEnv;
  /** Configuration by dotted key that overrides all other sources. */
  flags?: Readonly<Record<string, unknown>>;
  /** Program and arguments that run `svc`, for workers to use the tools. */
  svc?: readonly string[];
  /** Maximum number of concurrent workers; by default from cores and memory. */
  workerCap?: number;
  /** How long a stopped worker may take to end by itself, ms; 5000. */
  graceMs?: number;
  /** The environment of the machine. */
  clock?: Clock;
}

/** Without the entry, `git stash -u` removes the folder under the engine; a failure does not prevent the start. */
function excludeOrWarn(folder: string, log: Log): void {
  try {
    excludeFromGit(folder);
  } catch (error) {
    const { message } = error as Error;
    log.warn({ folder, error: message }, 'git could not be set to ignore a folder of svc');
  }
}

export type Engine = Awaited<ReturnType<typeof openEngine>>;

/** Input and output of each operation, by its name: inferred from the declarations of all modules. */
export type Api = ApiOf<Engine['operations']['all'][number]>;

const GIB = 1024 ** 3;

/** Agents mostly wait for a model: several per core, and a gibibyte of memory each. */
export const defaultWorkerCap = (): number =>
  Math.max(1, Math.min(4 * availableParallelism(), Math.floor(totalmem() / GIB)));

/** Workers find their git identity and their logins by HOME, which a service manager may not set. */
function withHome(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env.HOME) return env;
  try {
    return { ...env, HOME: homeOfUser(env) };
  } catch {
    return env; // the system knows none either
  }
}

function describeOwnProcess({
  readStartTime,
  readOwnLogin,
}: Pick<RunProcesses, 'readStartTime' | 'readOwnLogin'>): EngineProcess | null {
  const [start, boot] = [readStartTime(process.pid), readBootId()];
  return start === null || boot === null ? null : { start, boot, login: readOwnLogin() };
}

/**
 * Opens a workspace: verifies that its data folder belongs to this machine, takes its lock, builds its modules, and
 * adopts an earlier host's sessions.
 */
export async function openEngine(options: OpenOptions) {
  const env = withHome(options.env ?? process.env);
  const clock = options.clock ?? systemClock;
  const startedAt = new Date(clock.now()).toISOString();
  const keeper = createConfigKeeper({
    file: options.file,
    env,
    ...(options.flags ? { flags: options.flags } : {}),
  });
  const { root, file, lookup } = keeper.loaded();
  const config = (): Config => keeper.loaded().config;
  const paths = resolveDataPaths(keeper.loaded());
  /** While no one has ever agreed to svc.yaml, nothing is started. */
  function requireConsent(): void {
    const { state, pending } = keeper.loaded().consent;
    if (state === 'none') throw consentMissingForStart(file, pending);
  }

  const kept = listDatabaseFiles(paths.db).filter((file) => dirname(file) !== paths.data);
  const tracked = await listTrackedFiles([paths.data, ...kept], env);
  if (tracked[0] !== undefined)
    throw dataFolderRefusedError(
      tracked[0],
      'tracked',
      'is tracked by git, which may replace it at any time',
      'svc adopt --fresh removes it from git, moves the folder aside and starts again',
    );
  const dataId = claimDataFolder({ root, data: paths.data }, env);
  for (const folder of [paths.agents, paths.worktrees])
    if (isBelowFolder(paths.data, folder)) makePrivateFolder(paths.data, folder);
    else mkdirSync(folder, { recursive: true, mode: 0o700 });
  checkKeptPaths(paths);
  const lock = holdHostLock(paths.data);
  const lostEngine = keepLostEngine(paths.data);
  const closers: (() => unknown)[] = [() => lock.release()];
  const closing = (close: () => unknown): void => void closers.push(close);
  const unwind = (): Promise<void> =>
    keepAliveDuring(async () => {
      for (const close of closers.splice(0).reverse()) await close();
    });

  try {
    const { log, close: closeLog } = openLog(paths.data);
    closing(closeLog);
    for (const folder of [paths.data, paths.agents, paths.worktrees])
      if (folder === paths.data || !isBelowFolder(paths.data, folder)) excludeOrWarn(folder, log);
    const storage = openStorage({ path: paths.db, dataId });
    closing(() => storage.close());
    const events = createEventLog({ storage, clock });
    const rooms = createRooms({
      lostEngine,
      storage,
      events,
      clock,
      log,
      root,
      file,
      dataId,
      paths,
      config,
      requireConsent,
      waitingKeys: () => keeper.loaded().consent.pending.map(({ key }) => key),
      setServerUrl(url, actor) {
        const text = renderWithKey({ file, name: 'server.url', text: JSON.stringify(url) });
        writeConfig({ file, env, text, name: 'server.url', actor });
        keeper.refresh();
      },
      env,
      secret: lookup,
      svc: options.svc ?? null,
      workerCap: options.workerCap ?? defaultWorkerCap(),
      graceMs: options.graceMs ?? 5000,
      closing,
    });
    const { sessions, processes, agents, worktrees, bus, board, notify, listeners, logs } = rooms;
    const { tasks, dispatcher } = board;
    // It would end with the run, and has the environment that the worker gave it.
    if (processes.listRunsAbove(process.pid).some((runId) => sessions.byRunId(runId) !== null))
      throw new SvcError(
        'engine_not_running',
        `no engine is running for ${root}, and a worker cannot start one`,
        {
          hint: 'wait until the person has started it again',
        },
      );

    const receiver = createConfiguredReceiver({
      listeners,
      address: () => parseAddress(config().ui.addr),
      secrets: () => listReceiverSecrets(config(), lookup),
      async whoListens(port) {
        const [pid] = await findPortOwners(port);
        if (pid === undefined) return null;
        const workspace = findWorkspaceHostedBy(pid, env);
        return workspace === null ? `pid ${pid}` : `the engine of ${workspace} (pid ${pid})`;
      },
      warn: (facts, text) => log.warn(facts, text),
    });

    /**
     * Returns what the worker of a session may see of others if its task comes from an untrusted author: nothing;
     * null if it may see them.
     */
    function ownWorkOf(sessionId: string): OwnWork | null {
      if (!sessions.isKnown(sessionId)) return null;
      const { taskId } = sessions.get(sessionId);
      return tasks.get(taskId).stranger === null ? null : { sessionId, taskId };
    }

    let stopAsked: () => void = () => undefined;
    let http: EngineStatus['http'] = null;
    let containment: EngineStatus['containment'] = null;

    const status = (): EngineStatus => ({
      pid: process.pid,
      version,
      root,
      workspace: config().workspace.name,
      startedAt,
      uptimeSec: Math.floor((clock.now() - Date.parse(startedAt)) / 1000),
      memoryBytes: process.memoryUsage.rss(),
      http,
      receivers: listeners.addresses(),
      receiverProblem: receiver.problem(),
      supervisor: findOwnSupervisor(env),
      secrets: findSecrets(config(), lookup),
      environment: { path: env.PATH ?? null, home: env.HOME ?? null },
      tasks: tasks.counts(),
      decisionsPending: board.decisions.count('pending'),
      asksOpen: bus.asks.counts().open,
      workers: { ...sessions.counts(), cap: dispatcher.cap },
      containment,
      heldAgents: rooms.circuits.listCircuits().map(({ agent }) => agent),
      deliveries: notify.counts(),
      link: rooms.link.status(),
      configProblem: keeper.problem(),
      restartNeeded: keeper.restartNeeded(),
      consent: keeper.loaded().consent.state,
      consentPending: keeper.loaded().consent.pending.map(({ key }) => key),
      warnings: keeper.loaded().warnings,
    });

    async function stopEngine({ stopWorkers }: { stopWorkers: boolean }): Promise<{ left: string[] }> {
      const live = sessions.listLive();
      if (stopWorkers) await dispatcher.stopAll();
      // Workers that continue still call it.
      if (stopWorkers || live.length === 0) await rooms.gateway.process.stop();
      // The answer is sent before the connection closes.
      setImmediate(() => stopAsked());
      return { left: stopWorkers ? [] : live.map((session) => session.sessionId) };
    }

    const reload = () => {
      keeper.refresh();
      return { configProblem: keeper.problem(), restartNeeded: keeper.restartNeeded() };
    };
    const declared = [
      ...engineOperations({ status, reload, stop: stopEngine, policy: () => config().policy }),
      ...secretOperations({ secrets: () => findSecrets(config(), lookup), lookup }),
      ...eventOperations({ events, taskId: (prefix) => tasks.resolve(prefix).taskId }),
      ...board.operations,
      ...bus.operations,
      ...sessionOperations({
        sessions,
        logs,
        live: rooms.liveFacts,
        actions: rooms.sessionActions,
        facts: dispatcher.facts,
        permissions(session) {
          const inputs = session && board.decisions.boundTo(session.decisionId).inputs;
          const own = session && inputs && pickRacer(inputs, session.agent);
          return own?.permissions ?? config().agents.permissions;
        },
        circuits: rooms.circuits,
        untold: (session) => listUntoldBy(rooms.agents, session),
        findReadingTime: (session) => findReadingTime(rooms.agents, session),
        listSavedTokens: rooms.texts.savings.listSavedTokens,
        listPullRequests: rooms.pullRequests.list,
      }),
      ...pullRequestOperations({
        events,
        sessions,
        worktrees: rooms.worktrees,
        records: rooms.pullRequests,
        readEvidence: board.evidence,
      }),
      ...circuitOperations({ circuits: rooms.circuits, look: dispatcher.look }),
      ...configOperations({
        file,
        env,
        keeper,
        carried: () => readProjectSetups(rooms.carried()),
        storage,
        events,
        clock,
      }),
      ...projectOperations({ where: rooms.carried, storage, events, clock }),
      ...worktreeOperations({
        actions: rooms.worktreeActions,
        sessions,
        worktrees,
        folder: (project) => rooms.agents.resolveFolder(project === config().project.name ? null : project),
      }),
      ...memoryOperations({
        memory: rooms.memory,
        paths: rooms.paths,
        callerPaths: rooms.callerPaths,
        clock,
        listUnknownNames: rooms.graph.listUnknownNames,
      }),
      ...contextOperations({ texts: rooms.texts }),
      ...guardOperations({ guard: rooms.guard }),
      ...graphOperations({
        graph: rooms.graph,
        projects: () => rooms.agents.listNames().projects,
        projectId: rooms.agents.resolveProjectId,
        readImpact: rooms.readImpact,
      }),
      ...retentionOperations({ retention: rooms.retention }),
      ...statsOperations({ stats: rooms.stats }),
      ...notifyOperations(notify),
      ...linkOperations(rooms.link),
      ...telemetryOperations(rooms.link.telemetry),
      ...entitlementsOperations({ entitlements: rooms.entitlements }),
      ...hookOperations(rooms.hooks),
      ...gatewayOperations({
        storage,
        clock,
        config,
        keys: rooms.gateway.keys,
        gateway: rooms.gateway.process,
        books: rooms.gateway.books,
        content: rooms.gateway.content,
        data: paths.data,
        sessions,
        routedAgents: () => agents.listNames().agents.filter((name) => agents.findAuth(name) === 'gateway'),
        policy: () => config().policy,
        sumSavings: rooms.texts.savings.sumSavings,
      }),
    ];
    /** Agents without use for the context tools need not read about them. */
    const isOffered = (name: string): boolean =>
      config().context.guidance.mcp_tools || !name.startsWith('context.');
    const all = [...declared, ...toolOperations(declared, agents.listNames, isOffered)];
    const operations: Operations<(typeof all)[number]> = createOperations(all, {
      policy() {
        // A person who edits svc.yaml and then asks gets an answer by its current contents.
        keeper.refresh();
        return config().policy;
      },
      calls: storage.calls,
      ownWorkOf,
    });

    await storage.write(() => events.append({ kind: 'engine_started', data: { pid: process.pid, version } }));
    /** A larger budget, or none, lets workers resume that wait for the next day's. */
    async function resumeWithinBudget(): Promise<void> {
      if (rooms.gateway.hasDayBudget()) await dispatcher.resumePaused('budget_exceeded');
    }
    keeper.watch((change) => {
      const invalid = {
        code: 'config_invalid',
        reason: 'svc.yaml has errors; the earlier configuration stays in use',
      };
      const waits = {
        code: 'consent_missing',
        reason: `svc.yaml has new values under ${change.waits.join(', ')}; the earlier values stay in use until svc trust`,
      };
      storage
        .write(() => {
          if (change.problem !== null) return events.append({ kind: 'alert', data: invalid });
          if (change.waits.length > 0) events.append({ kind: 'alert', data: waits });
          return events.append({ kind: 'config_reloaded', data: { restartNeeded: keeper.restartNeeded() } });
        })
        // Keys that waited for consent may have got it.
        .then(() => rooms.link.applySettings())
        .then(() => dispatcher.look())
        .then(() => rooms.gateway.process.applySettings())
        .then(() => resumeWithinBudget())
        .catch(() => undefined);
      log.info({ problem: change.problem }, 'svc.yaml changed');
    });
    closing(() => keeper.close());

    // Without its data folder an engine cannot promise anything; its workers have no one to report to.
    let goneTold: () => void = () => undefined;
    async function stopWithoutFolder(): Promise<void> {
      log.error({}, 'the data folder was removed; the engine stops');
      const live = sessions.listLive().map((each) => sessions.private(each.sessionId));
      await Promise.allSettled(
        live.map(({ runId, process }) => processes.sweep(runId ?? '', process?.pidStart)),
      );
      goneTold();
    }
    closing(whenGone(storage, () => void stopWithoutFolder()));
    // Read during other waits.
    const leaseRead = rooms.leases.read();
    board.start();
    rooms.memory.start();
    rooms.texts.start();
    rooms.retention.start();
    bus.start();
    const live = new Set(sessions.listLive().map(({ sessionId }) => sessions.private(sessionId).runId));
    await processes.endUnknownRuns((runId) => live.has(runId));
    await rooms.gateway.start();
    await leaseRead;
    await rooms.reviews.recover();
    await dispatcher.recover();
    await resumeWithinBudget();
    await rooms.sessionActions.reap();
    // No outside command reaches an engine that does not know its lease and its workers yet.
    rooms.link.applySettings();
    rooms.leases.start();
    // Branches may have been merged or deleted while no engine ran.
    const compared = rooms.reviews
      .reconcileRegister()
      .catch((error: unknown) => log.warn({ error }, 'branches were not compared'));
    // An engine that is stopped immediately still has its log while this ends.
    closing(() => compared);
    // Before the first run has to wait for it.
    void processes.findContainmentKind().then((kind) => {
      containment = kind;
    });
    log.info({ pid: process.pid, version, root }, 'engine open');

    return {
      root,
      file,
      version,
      startedAt,
      paths,
      /** The id of the data folder. */
      dataId,
      env,
      config,
      events,
      operations,
      callTool: createToolCalls(operations),
      log,
      logs,
      onCommit: storage.onCommit,
      isLoopback,
      daemonAddress: () => parseAddress(config().daemon.addr),
      /** The inputs of `seatOf`. */
      seats: {
        sessionOfRun: sessions.byRunId,
        isWorkerSession: sessions.isKnown,
        isPlainName,
      },
      projectAt: agents.findProjectAt,
      projectOf: (sessionId: string) => sessions.get(sessionId).project,
      ownWorkOf,
      attend: bus.attend,
      seatSeen: bus.seats.seen,
      leave: bus.leave,
      holdSeat: bus.seats.hold,
      seatHolders: bus.seats.holders,
      startOf: processes.readStartTime,
      /** This process's identity for a later engine, in case this one is killed. */
      ownProcess: describeOwnProcess(processes),
      /** Only for a process that only hosts the engine. */
      enterEngineCgroup: processes.enterEngineCgroup,
      standingOf: processes.traceProcess,
      /** The lowest layer: the processes that hold the other end of a loopback connection. */
      async standingOfClient(ends: TcpEnds): Promise<ProcessOrigin> {
        const standings = (await findConnectionOwners(ends)).map((pid) => {
          const pidStart = processes.readStartTime(pid);
          return processes.traceProcess(pidStart === null ? null : { pid, pidStart });
        });
        if (standings.length === 0) return processes.traceProcess(null);
        return {
          runs: standings.flatMap((each) => each.runs),
          isOfEngine: standings.some((each) => each.isOfEngine),
          doubt: standings.map(({ doubt }) => doubt).find((doubt) => doubt !== null) ?? null,
        };
      },
      /** The entry point of confined workers: the engine's host serves them. */
      runSockets: rooms.runSockets,
      resolveSession: sessions.resolve,
      sessionEnded: (sessionId: string) => sessions.get(sessionId).state === 'ended',
      sessionCounts: sessions.counts,
      followRefs: rooms.reviews.followBranches,
      /** Opens a receiver; it closes with the engine at the latest. */
      listen: listeners.open,
      /** Opens the receiver that svc.yaml describes. */
      openReceiver: receiver.open,
      /** Why it is off, a clause; null while it is on. */
      receiverProblem: receiver.problem,
      /** Called when the data folder was removed: the host has to release it. Workers have already ended. */
      onGone(listener: () => void) {
        goneTold = listener;
      },
      onStopAsked(listener: () => void) {
        stopAsked = listener;
      },
      setHttp(address: { host: string; port: number }) {
        http = address;
      },
      /** Stops listening, releases workers, closes the database, frees the lock. */
      async close() {
        log.info({}, 'engine closing');
        await storage.write(() => events.append({ kind: 'engine_stopped' })).catch(() => undefined);
        await unwind();
      },
    };
  } catch (error) {
    await unwind();
    throw error;
  }
}
