import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { createKeyedQueue } from '../../../engine/core/base/serial-queue.ts';
import { type EngineClient, readDaemonRecord } from '../../../engine/index.ts';
import { findFreePort } from '../free-port.ts';
import { isRunning } from '../processes/processes.ts';
import { settled, until } from '../wait.ts';
import { makeWorkspace, type TestWorkspace } from '../workspaces/workspace.ts';
import { type LedgerLine, readLedger } from './ledger.ts';
import { locateLedger, machineEnvironment } from './machine-home.ts';
import type { MachinesMessage, MachinesOrder, MachinesWord } from './machines-child.ts';

const CHILD = fileURLToPath(new URL('machines-child.js', import.meta.url));
/** Machines that join at the same time. */
const JOINING = 8;

export interface FleetSize {
  machines: number;
  /** The most runs of a machine at a time. */
  most: number;
  /** How many processes play the machines. */
  processes: number;
  runMs: [number, number];
  lossRate?: number;
  /** How many machines have runs that outlive their lease, and how many answer late. */
  slow?: number;
  late?: number;
  yaml?: string;
}

/** A real engine and a real broker, with machines whose runs are only lines of their ledgers. */
export interface SimulatedFleet {
  ws: TestWorkspace;
  client(): Promise<EngineClient>;
  /** The machines with runs that outlive their lease, until they are restored. */
  readonly slow: readonly string[];
  /** Kills one of the processes that play machines, and starts it again. */
  killMachines(index: number): Promise<void>;
  cut(name: string): Promise<void>;
  restore(name: string): Promise<void>;
  /** Waits for the broker, which the engine starts again. */
  brokerPid(): Promise<number>;
  enginePid(): number;
  /** Reads the database of the board. */
  query<Row>(sql: string): Row[];
  /** Reads the ledger of each machine, by its name. */
  readLedgers(): Map<string, LedgerLine[]>;
  close(): Promise<void>;
}

/** Reads a size of a process from `/proc`, such as `VmRSS`, in MB. */
export function readMemory(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const found = new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1] ?? 0) / 1024;
}

export async function openSimulatedFleet(size: FleetSize): Promise<SimulatedFleet> {
  const { machines: count, most, processes, runMs, lossRate = 0, slow: slowCount = 0, late = 0 } = size;
  const ws = await makeWorkspace({ yaml: size.yaml ?? '' });
  const names = Array.from({ length: count }, (_, at) => `m${at}`);
  const homeOf = (index: number): string => join(ws.repository.folder, 'machines', String(index));
  const ownerOf = (name: string): number => names.indexOf(name) % processes;
  const slow = new Set(names.slice(0, slowCount));
  const cut = new Set<string>();
  const orderOf = (index: number): MachinesOrder => ({
    ...{ folder: homeOf(index), seed: index + 1, runMs, lossRate, slow: [...slow] },
    cut: [...cut],
    late: names.slice(slowCount, slowCount + late),
  });
  const children: ChildProcess[] = [];
  let db: Database.Database | null = null;

  async function start(index: number): Promise<void> {
    const child = fork(CHILD, [JSON.stringify(orderOf(index))], { execPath: process.execPath });
    children[index] = child;
    const [word] = await settled(once(child, 'message'), 'the machines');
    assert.deepEqual(word, { name: '', problem: null } satisfies MachinesWord);
  }

  /** Tells the process of a machine something, and waits until it is done. */
  function tell(message: MachinesMessage): Promise<void> {
    const child = children[ownerOf(message.name)]!;
    return settled(
      new Promise<void>((resolve, reject) => {
        const hear = ({ name, problem }: MachinesWord): void => {
          if (name !== message.name) return;
          child.off('message', hear);
          if (problem === null) resolve();
          else reject(new Error(`${name}: ${problem}`));
        };
        child.on('message', hear);
        child.send(message);
      }),
      `${message.name} to ${message.kind}`,
    );
  }

  /** Does one thing at a time with a process: a message to one that is being killed is lost. */
  const inTurn = createKeyedQueue();

  async function joinAll(): Promise<void> {
    const client = await ws.connect();
    const left = [...names];
    await Promise.all(
      Array.from({ length: JOINING }, async () => {
        for (let name = left.shift(); name !== undefined; name = left.shift()) {
          const { line } = await client.call('runner.invite', { name, max: most });
          mkdirSync(join(homeOf(ownerOf(name)), name), { recursive: true });
          await tell({ kind: 'join', name, line });
        }
      }),
    );
    await until(
      async () => (await client.call('runner.list', {})).every(({ state }) => state === 'ready'),
      'all machines',
      300_000,
    );
    client.close();
  }

  async function close(): Promise<void> {
    db?.close();
    // Machines that are cut off would keep the engine from stopping its workers.
    await ws.killDaemon();
    await Promise.all(children.map(endChild));
    const broker = findBroker();
    if (broker !== null) process.kill(broker, 'SIGKILL');
    await ws.close();
  }

  function findBroker(): number | null {
    const file = join(ws.root, '.svc/fleet/process.json');
    const pid = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { pid: number }).pid : 0;
    return isRunning(pid) ? pid : null;
  }

  try {
    const init = ['fleet', 'init', '--host', '127.0.0.1', '--listen', `127.0.0.1:${await findFreePort()}`];
    assert.equal((await ws.svc(init)).stderr, '');
    assert.equal((await ws.svc(['project', 'share', 'workspace'])).code, 0);
    for (let index = 0; index < processes; index += 1) await start(index);
    await joinAll();
  } catch (error) {
    await close();
    throw error;
  }

  return {
    ws,
    client: ws.connect,
    slow: [...slow],
    killMachines: (index) =>
      inTurn(String(index), async () => {
        await endChild(children[index]!);
        await start(index);
      }),
    cut: (name) =>
      inTurn(String(ownerOf(name)), async () => {
        cut.add(name);
        await tell({ kind: 'cut', name });
      }),
    restore: (name) =>
      inTurn(String(ownerOf(name)), async () => {
        slow.delete(name);
        cut.delete(name);
        await tell({ kind: 'restore', name });
      }),
    brokerPid: () => until(findBroker, 'the broker'),
    enginePid: () => readDaemonRecord(join(ws.root, '.svc'))?.pid ?? 0,
    query<Row>(sql: string) {
      db ??= new Database(join(ws.root, '.svc/svc.db'), { readonly: true });
      return db.prepare(sql).all() as Row[];
    },
    readLedgers: () =>
      new Map(
        names.map((name) => [
          name,
          readLedger(locateLedger(machineEnvironment(homeOf(ownerOf(name)), name))),
        ]),
      ),
    close,
  };
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
