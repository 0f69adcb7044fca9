import { availableParallelism, totalmem } from 'node:os';
import { createBoard } from './board/index.ts';
import { createBus } from './bus/index.ts';
import { isPlainName, type NewSeat, type SeatSession } from './bus/seats/index.ts';
import { createSessions } from './bus/sessions/index.ts';
import { systemClock } from './clock.ts';
import {
  type Config,
  dataPaths,
  isLoopback,
  parseAddress,
  receiverSecrets,
  variableNames,
} from './config/index.ts';
import { createConfigKeeper } from './config/keeper.ts';
import { type EngineStatus, engineOperations } from './daemon/operations.ts';
import { SvcError } from './errors.ts';
import { workerSession } from './ids.ts';
import { openLog } from './log.ts';
import { toolOperations } from './manifest.ts';
import { createNotify } from './notify/index.ts';
import { notifyOperations } from './notify/operations.ts';
import { createOperations, type Operations } from './operation.ts';
import { createReceiver, type ListenOptions } from './receiver/index.ts';
import { createEventLog, eventOperations, holdHostLock, openStorage, whenGone } from './storage/index.ts';
import { version } from './version.ts';
import { createAgents, createDispatcher, logFile } from './workers/dispatch/index.ts';
import { sessionOperations } from './workers/operations.ts';
import { TO_FILE } from './workers/presets/presets.ts';
import {
  createProcesses,
  logWrittenAt,
  ownerOfConnection,
  readLog,
  tailOffset,
  workerEnvironment,
} from './workers/processes/index.ts';
import { fillPlaceholders, tokenise } from './workers/template.ts';
import { createWorktreeActions } from './workers/worktree-actions.ts';
import { worktreeOperations } from './workers/worktree-operations.ts';
import { createWorktrees } from './workers/worktrees/index.ts';
import { createWorkspacePaths } from './workspace-path.ts';

export interface OpenOptions {
  /** Path of svc.yaml. */
  file: string;
  env?: NodeJS.ProcessEnv;
  /** Configuration by dotted key that goes before everything else. */
  flags?: Readonly<Record<string, unknown>>;
  /** Program and arguments that run `svc`: what workers are given to reach the tools with. */
  svc?: readonly string[];
  /** How many workers run at once; by default from cores and memory. */
  workerCap?: number;
  /** How long a stopped worker may take to end by itself, ms; 5000. */
  graceMs?: number;
}

export type Engine = Awaited<ReturnType<typeof openEngine>>;

const GIB = 1024 ** 3;

/** Agents mostly wait for a model: several per core, and a gibibyte of memory each. */
export const defaultWorkerCap = (): number =>
  Math.max(1, Math.min(4 * availableParallelism(), Math.floor(totalmem() / GIB)));

/** Opens a workspace: takes its lock, builds every room in order, and takes over what an earlier host left. */
export async function openEngine(options: OpenOptions) {
  const env = options.env ?? process.env;
  const clock = systemClock;
  const startedAt = new Date(clock.now()).toISOString();
  const keeper = createConfigKeeper({
    file: options.file,
    env,
    ...(options.flags ? { flags: options.flags } : {}),
  });
  const { root, file, lookup } = keeper.loaded();
  const config = (): Config => keeper.loaded().config;
  const paths = dataPaths(keeper.loaded());

  const lock = holdHostLock(paths.data);
  const closers: (() => unknown)[] = [() => lock.release()];
  async function unwind(): Promise<void> {
    for (const close of closers.splice(0).reverse()) await close();
  }

  try {
    const { log, close: closeLog } = await openLog(paths.data);
    closers.push(closeLog);
    const storage = openStorage({ path: paths.db });
    closers.push(() => storage.close());
    const events = createEventLog({ storage, clock });
    const sessions = createSessions({ storage, clock });
    const processes = createProcesses();
    const agents = createAgents({ root, config, env });
    const secretNames = () => [
      ...variableNames(config().webhook.secret_env),
      ...config().notify.webhooks.flatMap((hook) => variableNames(hook.secret_env ?? '')),
    ];

    const workspacePaths = createWorkspacePaths({
      root,
      worktrees: paths.worktrees,
      projects: () => agents.projects().map(({ folder }) => folder),
      repositoryOf: (name) => sessions.byBranch(`svc/${name}`)?.repository ?? null,
    });
    const bus = createBus({
      storage,
      events,
      clock,
      sessions,
      paths: workspacePaths,
      config,
      root,
      data: paths.data,
      env: workerEnvironment(env, {}, secretNames()),
      seatClosed: (sessionId) => board.sessionEnded(sessionId),
      isAlive: processes.isAlive,
      takeUp: () => dispatcher.takeUp(),
      templates: { fallback: TO_FILE, words: tokenise, fill: fillPlaceholders, isLoopback },
      log,
    });
    closers.push(() => bus.close());
    const { seats } = bus;

    // A worker can write the filters and drivers that git runs in its repository; they see what git sees.
    const worktrees = createWorktrees({ env: workerEnvironment(env, {}, secretNames()) });

    const isStrict = () => config().guard.profile === 'strict';
    const board = createBoard({
      storage,
      events,
      clock,
      sessions,
      agents,
      templates: () => config().webhook.templates,
      policy: () => config().policy,
      peers: bus.peers,
      paths: workspacePaths,
      worktrees,
      processes,
      isStrict,
      workerEnvironment: (extra) => workerEnvironment(env, extra, secretNames()),
      createDispatch: (tasks) =>
        createDispatcher({
          storage,
          events,
          tasks,
          sessions,
          processes,
          worktrees,
          agents,
          clock,
          log,
          paths,
          configFile: file,
          svc: options.svc ?? null,
          env,
          secretNames,
          timeouts: () => ({
            timeoutSec: config().agents.timeout_sec,
            idleTimeoutSec: config().agents.idle_timeout_sec,
          }),
          atEnd(session, verdict, kept) {
            board.sessionEnded(session.sessionId);
            bus.sessionEnded(session, { ...verdict, ...kept, verification: board.verificationOf(session) });
          },
          cap: options.workerCap ?? defaultWorkerCap(),
          graceMs: options.graceMs ?? 5000,
        }),
    });
    const { tasks, decisions, workflow, dispatcher } = board;
    closers.push(() => board.close());
    closers.push(() => dispatcher.close());

    const notify = createNotify({
      storage,
      events,
      clock,
      config,
      tasks,
      workspaceName: () => config().workspace.name,
      secret: lookup,
      log,
    });
    closers.push(() => notify.close());
    const receiver = createReceiver({
      storage,
      workflow,
      tasks,
      decisions,
      sessions,
      clock,
      config,
      agents,
      isLoopback,
      log,
    });
    const listeners = new Set<Awaited<ReturnType<typeof receiver.listen>>>();
    closers.push(() => Promise.all([...listeners].map((listener) => listener.close())));

    let stopAsked: () => void = () => undefined;
    let http: EngineStatus['http'] = null;

    const status = (): EngineStatus => ({
      pid: process.pid,
      version,
      root,
      workspace: config().workspace.name,
      startedAt,
      uptimeSec: Math.floor((clock.now() - Date.parse(startedAt)) / 1000),
      memoryBytes: process.memoryUsage.rss(),
      http,
      receivers: [...listeners].map((listener) => listener.address),
      tasks: tasks.counts(),
      decisionsPending: decisions.pendingCount(),
      workers: { ...sessions.counts(), cap: dispatcher.cap },
      deliveries: notify.pendingCounts(),
      configProblem: keeper.problem(),
      restartNeeded: keeper.restartNeeded(),
      warnings: keeper.loaded().warnings,
    });

    async function stop({ stopWorkers }: { stopWorkers: boolean }): Promise<{ left: string[] }> {
      const live = sessions.list({ live: true, limit: 100_000 });
      if (stopWorkers) await dispatcher.stopAll();
      // The answer goes out before the connection does.
      setImmediate(() => stopAsked());
      return { left: stopWorkers ? [] : live.map((session) => session.sessionId) };
    }

    const worktreeActions = createWorktreeActions({
      storage,
      events,
      sessions,
      worktrees,
      worktreesDir: paths.worktrees,
      folder: agents.folder,
      projects: () => [null, ...config().projects.map((project) => project.id)],
      evidence: board.evidence,
      isStrict,
    });
    const declared = [
      ...engineOperations({ status, stop }),
      ...eventOperations({ events, taskId: (prefix) => tasks.resolve(prefix).taskId }),
      ...board.operations,
      ...bus.operations,
      ...sessionOperations({
        sessions,
        readLog: readSessionLog,
        tailOffset: tailOfSession,
        logWrittenAt: (sessionId) => logWrittenAt(logFile({ paths }, sessionId)),
      }),
      ...worktreeOperations({ actions: worktreeActions, sessions, worktrees }),
      ...notifyOperations(notify),
    ];
    const operations: Operations = createOperations(
      [...declared, ...toolOperations(declared, (...call) => operations.call(...call))],
      { policy: () => config().policy },
    );

    function readSessionLog(sessionId: string, part: { from: number; maxBytes: number; ended: boolean }) {
      return readLog(logFile({ paths }, sessionId), part);
    }
    function tailOfSession(sessionId: string, lines: number): number {
      return tailOffset(logFile({ paths }, sessionId), lines);
    }

    await storage.write(() => events.append({ kind: 'engine_started', data: { pid: process.pid, version } }));
    keeper.watch((change) => {
      void storage
        .write(() =>
          change.problem === null
            ? events.append({ kind: 'config_reloaded', data: { restartNeeded: keeper.restartNeeded() } })
            : events.append({
                kind: 'alert',
                data: {
                  code: 'config_invalid',
                  reason: 'svc.yaml has errors; the earlier configuration stays in use',
                },
              }),
        )
        .catch(() => undefined);
      log.info({ problem: change.problem }, 'svc.yaml changed');
    });
    closers.push(() => keeper.close());

    // Without its data folder an engine has nothing that it could promise; its workers have nobody to report to.
    let goneTold: () => void = () => undefined;
    async function leave(): Promise<void> {
      log.error({}, 'the data folder was removed; the engine stops');
      const live = sessions
        .list({ live: true, limit: 100_000 })
        .map((each) => sessions.private(each.sessionId));
      await Promise.allSettled(
        live.map(({ runId, pidStart }) => processes.sweep(runId ?? '', pidStart ?? undefined)),
      );
      goneTold();
    }
    closers.push(whenGone(storage, () => void leave()));
    board.start();
    bus.start();
    await dispatcher.recover();
    log.info({ pid: process.pid, version, root }, 'engine open');

    return {
      root,
      version,
      startedAt,
      paths,
      config,
      events,
      operations,
      log,
      onCommit: storage.onCommit,
      isLoopback,
      daemonAddress: () => parseAddress(config().daemon.addr),
      seats: {
        markOf: processes.ancestorsMarked,
        sessionOfRun: sessions.byRunId,
        isWorkerSession: (id: string) =>
          workerSession(id) !== null && sessions.list({ ids: [id] }).length > 0,
        isPlainName,
      },
      projectAt: agents.projectAt,
      /** Puts a Chair or a plain session on the register; `pid` is the process that holds it, if one does. */
      openSeat({ pid, ...seat }: Omit<NewSeat, 'process'> & { pid: number | null }): Promise<SeatSession> {
        // One call of many under a plain name: the seat is there, and whatever process holds it keeps it.
        const known = pid === null && seat.name !== null ? seats.find(seat.name) : null;
        if (known !== null && known.closedAt === null) {
          seats.seen(known.sessionId);
          return Promise.resolve(known);
        }
        const pidStart = pid === null ? null : processes.startOf(pid);
        const process = pid === null || pidStart === null ? null : { pid, pidStart };
        return storage.write(() => seats.open({ ...seat, process }));
      },
      seatSeen: seats.seen,
      closeSeat: (sessionId: string, why: string) => storage.write(() => seats.close(sessionId, why)),
      ownerOfConnection,
      resolveSession: sessions.resolve,
      sessionEnded: (sessionId: string) => sessions.get(sessionId).state === 'ended',
      readLog: readSessionLog,
      tailOffset: tailOfSession,
      /** Opens a receiver; it closes with the engine at the latest. */
      async listen(listen: ListenOptions) {
        const isOurs = ({ address }: { address: { host: string; port: number } }): boolean =>
          address.port === listen.port && address.host === listen.host;
        if ([...listeners].some(isOurs)) {
          throw new SvcError(
            'address_in_use',
            `this engine listens on ${listen.host}:${listen.port} already`,
            {
              hint: 'svc status shows its receivers; --addr gives this one another address',
            },
          );
        }
        const listener = await receiver.listen(listen);
        listeners.add(listener);
        return {
          address: listener.address,
          async close() {
            listeners.delete(listener);
            await listener.close();
          },
        };
      },
      /** Secrets of the receiver, from the variables that webhook.secret_env names. Throws `secret_missing`. */
      receiverSecrets: () => receiverSecrets(config(), lookup),
      /** The data folder was removed: what hosts the engine has to let it go. Workers are ended already. */
      onGone(listener: () => void) {
        goneTold = listener;
      },
      onStopAsked(listener: () => void) {
        stopAsked = listener;
      },
      setHttp(address: { host: string; port: number }) {
        http = address;
      },
      /** Stops listening, lets go of workers, closes the database, frees the lock. */
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
