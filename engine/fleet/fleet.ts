import { hash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Clock } from '../core/base/clock.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import type { Log } from '../core/base/log.ts';
import { mapLimit } from '../core/base/map-limit.ts';
import { createFreshCalls } from '../core/base/serial-queue.ts';
import { settleWithin } from '../core/base/settle-within.ts';
import type { CheckedWork, CommandEnd, CommandsRun } from '../workers/runner/checks/index.ts';
import type { MachineRunner, RunName } from '../workers/runner/runs/index.ts';
import type { GitAccess, Worktrees } from '../workers/runner/worktrees/index.ts';
import { createTransfers } from '../workers/runner/worktrees/transfer/index.ts';
import type { BoardBroker, BoardBrokerDeps } from './broker/board-broker.ts';
import { checkThere } from './check-there.ts';
import { fetchWork } from './fetch-work.ts';
import { createLogMirror } from './log-mirror.ts';
import { connectToMachine, type MachineConnection, type MachineState } from './machine-connection.ts';
import { nameSnapshot } from './messages.ts';
import type { RunnerRecord } from './records.ts';
import { createRemoteRunner } from './remote-runner.ts';
import { createLostRunSettling, type LostRunDeps } from './settle-lost-runs.ts';
import { type SilentMachine, watchSilence } from './silence-alerts.ts';
import { createMachineStarts, type MachineStartDeps } from './start-machines.ts';
import { type WaitingSession, watchWaiting } from './waiting-alerts.ts';

export interface FleetDeps {
  /** The id of the workspace's data folder, which names the fleet. */
  fleet: string;
  env: NodeJS.ProcessEnv;
  clock: Clock;
  log: Log;
  git: GitAccess;
  worktrees: Pick<Worktrees, 'diffBranch'>;
  /** Folder of the sessions' own folders. */
  agentsDir: string;
  isRunOn(run: RunName, runner: string): boolean;
  serveSeat(connection: Duplex, run: RunName): void;
  findGateway(): string;
  /** Called when a machine can take runs, or cannot any more. */
  onChange(): void;
  /** Lists the branches of sessions that work on other machines. */
  listRunning(): readonly RunningBranch[];
  /** Lists the sessions that other machines have, also those without a branch so far. */
  listAssigned(): readonly { sessionId: string; runner: string }[];
  /** Lists the sessions that wait for a machine. */
  listWaiting(): readonly WaitingSession[];
  /** Called once for a session that has waited for ten minutes. */
  onLate(session: WaitingSession): void;
  /** Called once for a machine that is lost while sessions work there, if they wait for it. */
  onSilent(machine: SilentMachine): void;
  /** See `RunnerRecord.leaseMs`. */
  readLease(runner: string): number | null;
  noteLease(runner: string, leaseMs: number | null): Promise<void>;
  /** Gives a machine no more runs: it wants none. */
  onDrain(runner: string): Promise<null>;
  /** Takes a machine out of the fleet that leaves it. Throws `conflict` while sessions work there. */
  forget(runner: string): Promise<void>;
  /** Gives up the runs on a machine. @param release ends their supervision */
  loseRuns(runner: string, release: () => Promise<void>): Promise<void>;
  readPolicy(): LossPolicy;
  lostRuns: Omit<LostRunDeps, 'log'>;
  starts: MachineStartDeps;
  broker: Omit<BoardBrokerDeps, 'onOpen' | 'log' | 'env' | 'fleet'>;
}

/** The section `fleet` of svc.yaml, about machines that are silent. */
export interface LossPolicy {
  onLost: 'wait' | 'retry' | 'fail';
  lostAfterMs: number;
}

/** The branch of a session that works on another machine. */
export interface RunningBranch {
  sessionId: string;
  /** The number of its current run. */
  runs: number;
  runner: string;
  /** The repository's top folder on this machine. */
  folder: string;
  branch: string;
  baseCommit: string;
}

/** How long a reader waits for the newest commits of a session, ms. */
const FETCH_MS = 5000;
/** How often the work of running sessions is taken over, in case their machine is lost, ms. */
const SAVE_MS = 120_000;
const MOST_SAVES = 4;
/** How long a machine that leaves stays connected, ms. */
const FAREWELL_MS = 1000;
/** How long a machine that is cut off may take to begin to end its runs, ms. */
const HALT_MS = 500;

/** The machines that are kept connected. */
export interface Fleet {
  connect(record: RunnerRecord): void;
  /** Ends the connection to a machine, whose runs continue. */
  disconnect(id: string): Promise<void>;
  /** Has a machine end its runner, and remove its folders. */
  orderToLeave(id: string): Promise<void>;
  /** Returns the broker of this fleet; it does nothing until it is initialised. */
  loadBroker(): Promise<BoardBroker>;
  /** Returns the broker if it was loaded. */
  findBroker(): BoardBroker | null;
  /** Ends the connection to a machine, after an order to end all of its runs, which is not waited for long. */
  cutOff(id: string): Promise<void>;
  /** Cleans a machine of the runs that were given up, once it can be reached. */
  settle(id: string): void;
  /** Moves a session's branch to what was saved of its run, if that adds to it. */
  restoreSnapshot(session: Pick<RunningBranch, 'sessionId' | 'folder' | 'branch' | 'runs'>): Promise<void>;
  /** Returns the runner of a machine; null if it is not connected to. */
  findRunner(id: string): MachineRunner | null;
  /** Returns how a machine is reached; null for an unknown one. */
  readState(id: string): MachineState | null;
  /** Reports whether the runs of a machine were given up, and it has not been back since. */
  isLost(id: string): boolean;
  /** Tries to reach a machine that is not connected now. */
  reconnect(id: string): void;
  /** Takes over what a session has committed so far, if its machine is connected. Never rejects. */
  fetchBranch(branch: RunningBranch): Promise<void>;
  /** Asks a machine where the branch of a session ends; null if no answer comes. */
  findTip(branch: RunningBranch): Promise<string | null>;
  /** Takes over that and what it has not committed, in case its machine is lost. Never rejects. */
  saveBranch(branch: RunningBranch): Promise<void>;
  /** Runs commands in a clean checkout of a session's work on a machine; see `checkThere`. Throws `no_runner` too. */
  check(id: string, work: CheckedWork, run: CommandsRun): Promise<CommandEnd[]>;
  hasPrograms(id: string, programs: readonly string[]): boolean | null;
  close(): Promise<void>;
}

interface Machine {
  connection: MachineConnection;
  runner: MachineRunner;
  settle(): void;
  close(): Promise<void>;
}

/** Connects the machines of a workspace. */
export function createFleet(deps: FleetDeps): Fleet {
  const machines = new Map<string, Machine>();
  const lost = new Set<string>();
  const transfers = createTransfers(deps.git);
  let isClosed = false;
  let loading: Promise<BoardBroker> | null = null;
  let broker: BoardBroker | null = null;
  const starts = createMachineStarts(deps.starts);
  const waiting = watchWaiting({ ...deps, onWanted: starts.want });
  const silence = watchSilence({
    clock: deps.clock,
    // Until then its runs may be alive, whatever the setting says now.
    readPatienceMs: (id) => Math.max(deps.readPolicy().lostAfterMs, deps.readLease(id) ?? 0),
    onSilent(machine) {
      if (deps.readPolicy().onLost === 'wait' || deps.readLease(machine.id) === null) deps.onSilent(machine);
      else void loseMachine(machine.id);
    },
    listMachines() {
      const assigned = deps.listAssigned();
      return [...machines.values()].map(({ connection }) => ({
        id: connection.record.id,
        name: connection.record.name,
        state: connection.readState(),
        sessions: assigned.flatMap(({ runner, sessionId }) =>
          runner === connection.record.id ? [sessionId] : [],
        ),
      }));
    },
  });
  let isSaving = false;
  const saves = setInterval(() => {
    if (!isSaving) void saveAll();
  }, SAVE_MS);
  saves.unref();
  const suffix = hash('sha256', `${deps.agentsDir} ${deps.fleet}`).slice(0, 4);
  /** By branch, with and without its uncommitted files. */
  const shareFetch = createFreshCalls<void>();

  /** Returns the connection to a machine that answers now. */
  function findReady(id: string): MachineConnection | null {
    const connection = machines.get(id)?.connection;
    return connection?.readState().state === 'ready' ? connection : null;
  }

  async function fetchFrom(
    { sessionId, runs: number, runner, folder, branch, baseCommit }: RunningBranch,
    isSaved: boolean,
  ): Promise<void> {
    const connection = findReady(runner);
    if (connection === null) return;
    try {
      const repository = await transfers.identifyRepository(folder, baseCommit);
      const snapshot = isSaved ? { snapshot: { sessionId, number } } : {};
      await fetchWork(
        connection,
        transfers,
        { folder, repository, branch, baseCommit },
        { mostTries: 1, ...snapshot },
      );
    } catch (error) {
      // The end of the run takes the work over, or reports why not.
      if (isSaved) deps.log.warn({ sessionId, error: asSvcError(error).message }, 'its work was not saved');
    }
  }

  /** Saves a few at a time: thousands at once would take the processor from everything else. */
  async function saveAll(): Promise<void> {
    isSaving = true;
    await mapLimit(deps.listRunning(), MOST_SAVES, (branch) => fetchOnce(branch, true)).finally(() => {
      isSaving = false;
    });
  }

  async function fetchOnce(wanted: RunningBranch, isSaved: boolean): Promise<void> {
    await settleWithin(
      FETCH_MS,
      shareFetch(`${wanted.branch} ${isSaved}`, () => fetchFrom(wanted, isSaved)),
    );
  }

  function openMachine(record: RunnerRecord): Machine {
    const connection = connectToMachine(record, {
      ...deps,
      async onGoodbye(runner) {
        await deps.forget(runner);
        // Until then the answer is on its way.
        setTimeout(() => {
          if (isClosed) return;
          broker?.reload();
          void disconnect(runner);
        }, FAREWELL_MS).unref();
        return null;
      },
      accept: async (runner, signal) => (await loadBroker()).accept(runner, signal),
      readLeaseMs() {
        const { onLost, lostAfterMs } = deps.readPolicy();
        return onLost === 'wait' ? null : lostAfterMs;
      },
      onChange() {
        if (connection.readState().state === 'ready') lost.delete(record.id);
        deps.onChange();
        machines.get(record.id)?.settle();
      },
    });
    const { settle } = createLostRunSettling(connection, transfers, { log: deps.log, ...deps.lostRuns });
    const logs = createLogMirror(connection, deps);
    const runner = createRemoteRunner({
      connection,
      transfers,
      worktrees: deps.worktrees,
      logs,
      log: deps.log,
      suffix,
    });
    return {
      connection,
      runner,
      settle,
      close() {
        logs.close();
        return connection.close();
      },
    };
  }

  function loadBroker(): Promise<BoardBroker> {
    loading ??= import('./broker/index.ts').then(({ createBoardBroker }) => {
      broker = createBoardBroker({
        ...deps.broker,
        ...{ fleet: deps.fleet, env: deps.env, log: deps.log },
        onOpen: (runner) => machines.get(runner)?.connection.reconnect(),
      });
      return broker;
    });
    return loading;
  }

  function connect(record: RunnerRecord): void {
    if (!isClosed && !machines.has(record.id)) machines.set(record.id, openMachine(record));
  }

  async function disconnect(id: string): Promise<void> {
    const machine = machines.get(id);
    machines.delete(id);
    await machine?.close();
  }

  /** Gives up the runs of a silent machine, and waits for it again. */
  async function loseMachine(id: string): Promise<void> {
    const record = machines.get(id)?.connection.record;
    if (record === undefined) return;
    lost.add(id);
    await deps.loseRuns(id, () => disconnect(id));
    connect(record);
  }

  return {
    connect,
    disconnect,
    async cutOff(id) {
      const connection = findReady(id);
      if (connection !== null)
        await settleWithin(
          HALT_MS,
          connection.call('halt', { graceMs: 0 }).catch(() => undefined),
        );
      await disconnect(id);
    },
    async orderToLeave(id) {
      await machines.get(id)?.connection.call('leave', {});
    },
    loadBroker,
    findBroker: () => broker,
    isLost: (id) => lost.has(id),
    settle: (id) => machines.get(id)?.settle(),
    restoreSnapshot: ({ sessionId, folder: repository, branch, runs }) =>
      transfers.restoreSnapshot({ repository, branch, ref: nameSnapshot(branch, sessionId, runs) }),
    findRunner: (id) => machines.get(id)?.runner ?? null,
    reconnect: (id) => machines.get(id)?.connection.reconnect(),
    readState: (id) => machines.get(id)?.connection.readState() ?? null,
    fetchBranch: (branch) => fetchOnce(branch, false),
    async findTip({ runner, folder, branch, baseCommit }) {
      const connection = findReady(runner);
      if (connection === null) return null;
      try {
        const repository = await transfers.identifyRepository(folder, baseCommit);
        return await settleWithin(
          FETCH_MS,
          connection.call('findTip', { repository, branch, isOfWorker: true }),
        );
      } catch {
        return null;
      }
    },
    saveBranch: (branch) => fetchOnce(branch, true),
    async check(id, { setup, ...work }, run) {
      const connection = machines.get(id)?.connection;
      if (connection === undefined || setup === null)
        throw new SvcError('no_runner', `the machine ${id} is not connected`);
      return checkThere(connection, { transfers, clock: deps.clock }, { ...work, setup }, run);
    },
    hasPrograms: (id, programs) => machines.get(id)?.connection.hasPrograms(programs) ?? null,
    async close() {
      isClosed = true;
      clearInterval(saves);
      waiting.close();
      await starts.close();
      silence.close();
      await Promise.all([...machines.values()].map(({ close }) => close()));
      await (await loading)?.close();
      transfers.close();
    },
  };
}
