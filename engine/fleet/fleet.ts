import { hash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Clock } from '../core/base/clock.ts';
import type { Log } from '../core/base/log.ts';
import { settleWithin } from '../core/base/settle-within.ts';
import type { MachineRunner, RunName } from '../workers/runner/runs/index.ts';
import type { GitAccess, Worktrees } from '../workers/runner/worktrees/index.ts';
import { createTransfers } from '../workers/runner/worktrees/transfer/index.ts';
import { fetchWork } from './fetch-work.ts';
import { createLogMirror } from './log-mirror.ts';
import { connectToMachine, type MachineConnection, type MachineState } from './machine-connection.ts';
import type { RunnerRecord } from './records.ts';
import { createRemoteRunner } from './remote-runner.ts';
import { type SilentMachine, watchSilence } from './silence-alerts.ts';
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
  /** Lists the sessions that wait for a machine. */
  listWaiting(): readonly WaitingSession[];
  /** Called once for a session that has waited for ten minutes. */
  onLate(session: WaitingSession): void;
  /** Called once for a machine that has been silent for five minutes while sessions work there. */
  onSilent(machine: SilentMachine): void;
}

/** The branch of a session that works on another machine. */
export interface RunningBranch {
  sessionId: string;
  runner: string;
  /** The repository's top folder on this machine. */
  folder: string;
  branch: string;
  baseCommit: string;
}

/** How long a reader waits for the newest commits of a session, ms. */
const FETCH_MS = 5000;
/** How often the commits of running sessions are taken over, in case their machine is lost, ms. */
const SAVE_MS = 120_000;

/** The machines that are kept connected. */
export interface Fleet {
  connect(record: RunnerRecord): void;
  /** Ends the connection to a machine, whose runs continue. */
  disconnect(id: string): Promise<void>;
  /** Returns the runner of a machine; null if it is not connected to. */
  findRunner(id: string): MachineRunner | null;
  /** Returns how a machine is reached; null for an unknown one. */
  readState(id: string): MachineState | null;
  /** Tries to reach a machine that is not connected now. */
  reconnect(id: string): void;
  /** Takes over what a session has committed so far, if its machine is connected. Never rejects. */
  fetchBranch(branch: RunningBranch): Promise<void>;
  hasPrograms(id: string, programs: readonly string[]): boolean | null;
  close(): Promise<void>;
}

interface Machine {
  connection: MachineConnection;
  runner: MachineRunner;
  close(): Promise<void>;
}

/** Connects the machines of a workspace. */
export function createFleet(deps: FleetDeps): Fleet {
  const machines = new Map<string, Machine>();
  const transfers = createTransfers(deps.git);
  const waiting = watchWaiting(deps);
  const silence = watchSilence({
    clock: deps.clock,
    onSilent: deps.onSilent,
    listMachines() {
      const running = deps.listRunning();
      return [...machines.values()].map(({ connection }) => ({
        name: connection.record.name,
        state: connection.readState(),
        sessions: running.flatMap(({ runner, sessionId }) =>
          runner === connection.record.id ? [sessionId] : [],
        ),
      }));
    },
  });
  const saves = setInterval(() => {
    for (const branch of deps.listRunning()) void fetchBranch(branch);
  }, SAVE_MS);
  saves.unref();
  const suffix = hash('sha256', `${deps.agentsDir} ${deps.fleet}`).slice(0, 4);
  /** By branch. */
  const fetching = new Map<string, Promise<void>>();

  async function fetchCommits({ runner, folder, branch, baseCommit }: RunningBranch): Promise<void> {
    const connection = machines.get(runner)?.connection;
    if (connection?.readState().state !== 'ready') return;
    try {
      const repository = await transfers.identifyRepository(folder, baseCommit);
      await fetchWork(connection, transfers, { folder, repository, branch, baseCommit }, 1);
    } catch {
      // The end of the run takes them over, or reports why not.
    }
  }

  async function fetchBranch(wanted: RunningBranch): Promise<void> {
    const { branch } = wanted;
    const open = fetching.get(branch) ?? fetchCommits(wanted).finally(() => fetching.delete(branch));
    fetching.set(branch, open);
    await settleWithin(FETCH_MS, open);
  }

  function openMachine(record: RunnerRecord): Machine {
    const connection = connectToMachine(record, deps);
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
      close() {
        logs.close();
        return connection.close();
      },
    };
  }

  return {
    connect(record) {
      if (!machines.has(record.id)) machines.set(record.id, openMachine(record));
    },
    async disconnect(id) {
      const machine = machines.get(id);
      machines.delete(id);
      await machine?.close();
    },
    findRunner: (id) => machines.get(id)?.runner ?? null,
    reconnect: (id) => machines.get(id)?.connection.reconnect(),
    readState: (id) => machines.get(id)?.connection.readState() ?? null,
    fetchBranch,
    hasPrograms: (id, programs) => machines.get(id)?.connection.hasPrograms(programs) ?? null,
    async close() {
      clearInterval(saves);
      waiting.close();
      silence.close();
      await Promise.all([...machines.values()].map(({ close }) => close()));
      transfers.close();
    },
  };
}
