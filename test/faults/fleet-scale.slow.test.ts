import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { asSvcError } from '../../engine/core/base/errors.ts';
import { mapLimit } from '../../engine/core/base/map-limit.ts';
import type { Api } from '../../engine/index.ts';
import { BROKER_MISSING } from '../support/broker.ts';
import { report } from '../support/processes/faults.ts';
import { isRunning } from '../support/processes/processes.ts';
import { judgeSessions, type SessionRow } from '../support/simulated-fleet/judge-sessions.ts';
import { collectRuns } from '../support/simulated-fleet/ledger.ts';
import {
  openSimulatedFleet,
  readMemory,
  type SimulatedFleet,
} from '../support/simulated-fleet/open-fleet.ts';
import { until } from '../support/wait.ts';

// A larger fleet takes longer than .ci/test.js allows:
// SVC_FLEET_MACHINES=1000 SVC_FLEET_SESSIONS=10000 node --test dist/test/faults/fleet-scale.slow.test.js
const MACHINES = Number(process.env.SVC_FLEET_MACHINES ?? 100);
const SESSIONS = Number(process.env.SVC_FLEET_SESSIONS ?? 1000);
const LIMIT_MS = 120_000 + SESSIONS * 600;
/** The simulated machines share the processors of one: a thousand of them answer late. */
const LOST_AFTER_SEC = Math.max(30, MACHINES / 10);
/** Calls of the person who orders the work, at the same time. */
const CALLING = 16;
/** Files of the broker that the engine can write again: all but its keys. */
const BROKER_FILES = ['nats.conf', 'users.conf', 'server.pem', 'server.key', 'nats.log', 'process.json'];

/** Adds a task for each session, and runs it. Calls whose engine was killed are repeated, by the same key. */
async function orderAll(fleet: SimulatedFleet): Promise<void> {
  let client = fleet.client();
  async function call<Name extends 'task.add' | 'task.run'>(
    name: Name,
    input: Api[Name]['input'],
    key: string,
  ): Promise<Api[Name]['output']> {
    for (;;) {
      const used = client;
      try {
        return await (await used).run(name, input, { key });
      } catch (error) {
        if (asSvcError(error).code !== 'engine_unreachable') throw error;
        if (client === used) client = fleet.client();
      }
    }
  }
  const all = Array.from({ length: SESSIONS }, (_, at) => at);
  await mapLimit(all, CALLING, async (at) => {
    const task = { title: 'work', agent: 'scripted', body: 'x' };
    const { task_id: id } = await call('task.add', task, `add-${at}`);
    await call('task.run', { id, pool: 'default' }, `run-${at}`);
  });
  (await client).close();
}

const countEnded = ({ query }: SimulatedFleet): number =>
  query<{ n: number }>("SELECT count(*) AS n FROM session WHERE state = 'ended'")[0]?.n ?? 0;

async function killBroker({ ws, brokerPid }: SimulatedFleet, files: readonly string[]): Promise<void> {
  const pid = await brokerPid();
  process.kill(pid, 'SIGKILL');
  await until(() => !isRunning(pid), 'the end of the broker');
  for (const file of files) rmSync(join(ws.root, '.svc/fleet', file), { force: true });
}

async function restoreLost(fleet: SimulatedFleet): Promise<void> {
  const find = 'SELECT count(DISTINCT runner) AS n FROM lost_run';
  await until(
    () => (fleet.query<{ n: number }>(find)[0]?.n ?? 0) >= fleet.slow.length,
    'the loss of the silent machines',
    LIMIT_MS,
  );
  for (const name of fleet.slow) await fleet.restore(name);
}

/** Reads what the board has recorded, in its database and on the branches. */
function readBoard({ ws, query }: SimulatedFleet) {
  const count = (kinds: string): Map<number, number> =>
    new Map(
      query<{ id: number; n: number }>(
        `SELECT session_id AS id, count(*) AS n FROM event WHERE kind IN (${kinds}) GROUP BY session_id`,
      ).map(({ id, n }) => [id, n]),
    );
  const [ends, lost, pauses] = [count("'sealed', 'failed'"), count("'run_lost'"), count("'session_paused'")];
  const sessions = query<SessionRow>(
    'SELECT id, state, failure_code, failure_text, run_id FROM session ORDER BY id',
  );
  const work = new Map<number, string[]>();
  const told = ws.repository.git('log', '--format=%S%x09%s', '--branches=svc/*', '--not', 'main');
  for (const line of told.split('\n')) {
    const [branch = '', subject = ''] = line.split('\t');
    const id = Number(/s-(\d+)/.exec(branch)?.[1] ?? 0);
    work.set(id, [...(work.get(id) ?? []), subject]);
  }
  const counts = new Map(
    sessions.map(({ id }) => [
      id,
      { ends: ends.get(id) ?? 0, lost: lost.get(id) ?? 0, pauses: pauses.get(id) ?? 0 },
    ]),
  );
  return { sessions, counts, work };
}

describe('a fleet of many machines', { skip: BROKER_MISSING }, () => {
  it(`${SESSIONS} sessions on ${MACHINES} machines end once each while engine, broker and machines are killed`, async () => {
    const few = Math.ceil(MACHINES / 20);
    const begun = performance.now();
    const since = (): string => `${Math.round((performance.now() - begun) / 1000)} s`;
    const fleet = await openSimulatedFleet({
      ...{ machines: MACHINES, most: 2, processes: 3, runMs: [200, 3000], lossRate: 0.01 },
      ...{ slow: few, late: few, yaml: `fleet:\n  on_lost: retry\n  lost_after_sec: ${LOST_AFTER_SEC}\n` },
    });
    try {
      const joinedAfter = since();
      const before = readMemory(fleet.enginePid(), 'VmRSS');
      const ordering = orderAll(fleet);
      ordering.catch(() => undefined);
      const reach = (share: number): Promise<unknown> =>
        until(() => countEnded(fleet) >= SESSIONS * share, `the end of ${share * 100} %`, LIMIT_MS);
      await reach(0.05);
      for (const name of fleet.slow) await fleet.cut(name);
      const restored = restoreLost(fleet);
      restored.catch(() => undefined);
      await reach(0.1);
      await fleet.ws.crashDaemon();
      await reach(0.2);
      // The last time: the silence of a machine counts from the start of an engine.
      await Promise.all([fleet.ws.crashDaemon(), fleet.killMachines(1)]);
      await reach(0.35);
      await killBroker(fleet, []);
      await reach(0.5);
      await fleet.killMachines(0);
      await reach(0.65);
      await killBroker(fleet, BROKER_FILES);
      await reach(0.8);
      const memory = [readMemory(fleet.enginePid(), 'VmHWM'), readMemory(await fleet.brokerPid(), 'VmHWM')];
      await Promise.all([restored, ordering]);
      await reach(1);
      const endedAfter = since();
      await until(
        () => fleet.query('SELECT 1 FROM lost_run WHERE settled_at IS NULL').length === 0,
        'the cleaning of the machines',
        LIMIT_MS,
      );
      const board = readBoard(fleet);
      const ledgers = fleet.readLedgers();
      assert.deepEqual(judgeSessions(board, ledgers), {
        ...{ lost: [], acceptedTwice: [], startedTwice: [], aliveTwice: [] },
      });
      assert.equal(board.sessions.length, SESSIONS);
      const runs = [...ledgers.values()].flatMap((lines) => [...collectRuns(lines).values()]);
      const late = fleet.ws.repository.git('for-each-ref', '--format=%(refname)', 'refs/svc/');
      report(
        `${SESSIONS} sessions on ${MACHINES} machines, with the engine killed twice, the broker twice, and processes of machines twice; ${few} machines silent, ${few} late`,
        `${runs.length} runs started, ${runs.filter(({ isStopped }) => isStopped).length} ended by their lease, ${late.split('\n').filter(Boolean).length} kept late; none lost, accepted twice, started twice or alive twice`,
      );
      const [engine = 0, broker = 0] = memory.map(Math.round);
      console.log(
        `joined after ${joinedAfter}, ended after ${endedAfter}; engine ${Math.round(before)} MB before, ${engine} MB at most; broker ${broker} MB at most`,
      );
    } finally {
      await fleet.close();
    }
  });
});
