import { z } from 'zod';
import { by, operation } from '../core/api/operation.ts';
import { type Clock, rfc3339 } from '../core/base/clock.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { FleetAccess } from './access.ts';
import { countSlots } from './choose-machine.ts';
import { checkPool, DEFAULT_POOL, hostInput } from './operations.ts';

/** The broker of a fleet. */
export interface FleetBroker {
  listen: string;
  /** Addresses by which machines reach it. */
  servers: string[];
}

/** An invitation for one machine. */
export interface RunnerInvitation {
  /** The text for `svc runner join` on the other machine. A secret until it is used. */
  line: string;
  pool: string;
}

/** The waiting and running work of each pool. */
export interface FleetStatus {
  /** Null for a fleet without one. */
  broker: {
    servers: string[];
    /** Why it does not work, a sentence; null if it does. */
    problem: string | null;
  } | null;
  pools: PoolStatus[];
}

export interface PoolStatus {
  pool: string;
  machines: number;
  /** Sessions that no machine takes now. */
  waiting: number;
  /** When the one that waits longest was created, RFC 3339; null for none. */
  oldest: string | null;
  running: number;
  /** Free slots of connected machines that get runs. */
  free: number;
}

/** A session that waits for a machine. */
interface QueuedSession {
  pool: string;
  /** RFC 3339. */
  createdAt: string;
}

interface Deps {
  fleet: FleetAccess;
  storage: Storage;
  events: EventLog;
  clock: Clock;
  countWorking(): ReadonlyMap<string, number>;
  listQueued(): readonly QueuedSession[];
}

const DEFAULT_LISTEN = '0.0.0.0:4222';

/** Operations on the broker of a fleet, and on the fleet as a whole. */
export function brokerOperations({ fleet, storage, events, clock, countWorking, listQueued }: Deps) {
  function describePool(pool: string, queued: readonly QueuedSession[]): PoolStatus {
    const machines = fleet.records.list().filter((each) => each.pool === pool);
    const working = countWorking();
    let [running, free] = [0, 0];
    for (const record of machines) {
      const state = fleet.readState(record.id);
      const here = working.get(record.id) ?? 0;
      running += here;
      if (state?.state === 'ready' && !record.isDrained && !record.isRevoked)
        free += Math.max(0, countSlots(record, state) - here);
    }
    const waiting = queued.filter((each) => each.pool === pool);
    const oldest = waiting.map(({ createdAt }) => createdAt).sort()[0] ?? null;
    return { pool, machines: machines.length, waiting: waiting.length, oldest, running, free };
  }

  return [
    operation({
      name: 'fleet.status',
      about:
        'The sessions that wait and run in each pool of machines, its free slots, and whether the broker works.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({}),
      run(): FleetStatus & { at: string } {
        const queued = listQueued();
        const pools = [...fleet.records.list(), ...queued].map(({ pool }) => pool);
        const broker = fleet.findBroker();
        const described = broker?.describe() ?? null;
        return {
          at: rfc3339(clock.now()),
          broker:
            broker === null || described === null
              ? null
              : { servers: described.servers, problem: broker.findProblem() },
          pools: [...new Set(pools)].sort().map((pool) => describePool(pool, queued)),
        };
      },
    }),
    operation({
      name: 'fleet.init',
      about:
        'Creates the broker by which machines join that ssh does not reach, and starts it; again with another address, it is moved.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        listen: z
          .string()
          .regex(/^.*:\d{1,5}$/, 'expected an address and a port, such as 0.0.0.0:4222')
          .optional()
          .describe('where it listens; 0.0.0.0:4222'),
        host: z
          .array(z.string().regex(/^[A-Za-z0-9][A-Za-z0-9.:-]{0,252}$/, 'expected a host name or an address'))
          .min(1)
          .max(10)
          .describe('the names or addresses by which machines reach this one'),
      }),
      async run({ listen = DEFAULT_LISTEN, host }, caller): Promise<FleetBroker> {
        const broker = await fleet.loadBroker();
        await broker.init({ listen, hosts: [...new Set(host)] });
        await storage.write(() =>
          events.append({ kind: 'broker_created', ...by(caller), data: { listen, hosts: host } }),
        );
        return { listen, servers: broker.describe()?.servers ?? [] };
      },
    }),
    operation({
      name: 'runner.invite',
      about:
        'Prints a line by which one machine joins the fleet over the broker, valid once and for an hour.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        pool: hostInput.pool,
        name: hostInput.name,
        max: z.int().min(1).max(1000).optional().describe('the most workers at a time; 4'),
      }),
      async run({ pool = DEFAULT_POOL, name, max: most = 4 }, caller): Promise<RunnerInvitation> {
        checkPool(pool);
        const line = await fleet.invite({ pool, name: name ?? null, most });
        await storage.write(() =>
          events.append({ kind: 'runner_invited', ...by(caller), data: { pool, max: most } }),
        );
        return { line, pool };
      },
    }),
  ];
}
