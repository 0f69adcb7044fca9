import { isLoopback, parseAddress } from '../../config/index.ts';
import { by, type Caller, type OwnWork } from '../../core/api/operation.ts';
import { nameCaller } from '../../core/api/repeat.ts';
import { version } from '../../core/base/own-package.ts';
import { platform, type TcpEnds } from '../../core/platform/index.ts';
import type { EngineProcess } from '../../core/workspace/daemon-record.ts';
import type { ProcessName, ProcessOrigin, RunProcesses } from '../../workers/runner/processes/index.ts';
import { isPlainName } from '../../workers/sessions/seats/index.ts';
import type { EngineModules } from './modules.ts';
import type { SharedDependencies } from './shared-dependencies.ts';

function describeOwnProcess({
  readStartTime,
  readOwnLogin,
}: Pick<RunProcesses, 'readStartTime' | 'readOwnLogin'>): EngineProcess | null {
  const [start, boot] = [readStartTime(process.pid), platform.readBootId()];
  return start === null || boot === null ? null : { start, boot, login: readOwnLogin() };
}

/** The client of a loopback connection. */
export interface ConnectionClient {
  standing: ProcessOrigin;
  /** The processes that hold its end. */
  owners: ProcessName[];
}

/** Traces the lowest layer: the processes that hold the other end of a loopback connection. */
async function traceClient(
  { readStartTime, traceProcess }: Pick<RunProcesses, 'readStartTime' | 'traceProcess'>,
  findOwners: (ends: TcpEnds) => Promise<number[]>,
  ends: TcpEnds,
): Promise<ConnectionClient> {
  const found = (await findOwners(ends)).map((pid) => {
    const pidStart = readStartTime(pid);
    return pidStart === null ? null : { pid, pidStart };
  });
  const standings = found.map(traceProcess);
  const owners = found.filter((owner) => owner !== null);
  if (standings.length === 0) return { standing: traceProcess(null), owners };
  const standing: ProcessOrigin = {
    runs: standings.flatMap((each) => each.runs),
    isOfEngine: standings.some((each) => each.isOfEngine),
    doubt: standings.map(({ doubt }) => doubt).find((doubt) => doubt !== null) ?? null,
  };
  return { standing, owners };
}

/** Picks what the engine's host needs of its modules, to serve callers. */
export function createHostInterface(shared: SharedDependencies, modules: EngineModules) {
  const { root, file, paths, dataId, env, config, events, log, storage } = shared;
  const { sessions, processes, agents, bus, board, listeners, receiver } = modules;
  return {
    root,
    file,
    version,
    paths,
    /** The id of the data folder. */
    dataId,
    env,
    config,
    events,
    log,
    logs: modules.logs,
    onCommit: storage.onCommit,
    handles: storage.handles,
    /** Withdraws the question of a call of `ask` that its caller does not wait for any more. */
    async withdrawAsk(caller: Caller, key: string): Promise<void> {
      const call = storage.calls.find({ caller: nameCaller(caller), operation: 'ask', key });
      const askId = call === null || call.isAnswer ? null : Number(call.value);
      if (askId !== null) await storage.write(() => bus.asks.withdraw(askId, by(caller)));
    },
    /** Finds the newest call of a tool by this caller whose key starts with `prefix`. */
    findLastCall: (caller: Caller, tool: string, prefix: string) =>
      storage.calls.findLast({ caller: nameCaller(caller), operation: tool.replace('_', '.'), prefix }),
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
    /**
     * Returns what the worker of a session may see of others if its task comes from an untrusted author: nothing;
     * null if it may see them.
     */
    ownWorkOf(sessionId: string): OwnWork | null {
      if (!sessions.isKnown(sessionId)) return null;
      const { taskId } = sessions.get(sessionId);
      return board.tasks.get(taskId).stranger === null ? null : { sessionId, taskId };
    },
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
    identifyClient: (ends: TcpEnds) => traceClient(processes, platform.sockets.findConnectionOwners, ends),
    /** The entry point of confined workers: the engine's host serves them. */
    runSockets: modules.runSockets,
    resolveSession: sessions.resolve,
    sessionEnded: (sessionId: string) => sessions.get(sessionId).state === 'ended',
    /** Opens the log of a session's run command. */
    openCommandLog: (sessionId: string, name: string) =>
      modules.runCommands.openLog(sessions.get(sessionId), name),
    sessionCounts: sessions.counts,
    followRefs: modules.reviews.followBranches,
    followNotices: modules.notify.followNotices,
    /** Opens a receiver; it closes with the engine at the latest. */
    listen: listeners.open,
    /** Opens the receiver that svc.yaml describes. */
    openReceiver: receiver.open,
    /** Why it is off, a clause; null while it is on. */
    receiverProblem: receiver.problem,
  };
}
