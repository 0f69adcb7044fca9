import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { dispatch, makeFleet, readLogHere, type TestFleet } from '../support/fleet.ts';
import { report } from '../support/processes/faults.ts';
import { isRunning } from '../support/processes/processes.ts';
import { until } from '../support/wait.ts';

const COMMIT = (name: string): string =>
  `run echo ${name} > ${name}.txt && git add ${name}.txt && git commit -qm ${name}`;

/** Works for about two seconds, prints all the time, and commits three times. */
const body = (ledger: string): string =>
  [
    'work',
    ...[`count ${ledger}`, 'lines 40 10', COMMIT('one'), 'lines 40 10', 'print 300KB', COMMIT('two')],
    ...['lines 40 10', 'edit three.txt three'],
  ]
    .map((line, at) => (at === 0 ? line : `#agent: ${line}`))
    .join('\n');

/** The same numbers in each run, between 0 and 1. */
function* draw(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    yield state / 2 ** 32;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}

const KILLS: Record<string, (fleet: TestFleet) => Promise<void>> = {
  'the engine': async ({ ws }) => void (await ws.crashDaemon()),
  'the runner': async ({ box }) => {
    const pid = box.runnerPid();
    if (pid === null) return;
    kill(pid);
    await until(() => !isRunning(pid));
  },
  'the transport': async ({ box }) => {
    for (const pid of box.transportPids()) kill(pid);
  },
};

/** Reads what the database has recorded. */
const readSessions = (root: string) => {
  const db = new Database(join(root, '.svc/svc.db'), { readonly: true });
  try {
    return {
      sessions: db.prepare('SELECT * FROM session').all() as Record<string, unknown>[],
      events: db.prepare('SELECT * FROM event').all() as Record<string, unknown>[],
    };
  } finally {
    db.close();
  }
};

describe('a run on another machine, whose parts are killed', () => {
  for (const [what, strike] of Object.entries(KILLS))
    it(`ends once, with all commits and its whole log, when ${what} is killed at any moment`, async () => {
      const fleet = await makeFleet({ hosted: false });
      const { ws, box } = fleet;
      const numbers = draw(what.length);
      const moments: number[] = [];
      try {
        for (let round = 1; round <= 4; round += 1) {
          const ledger = join(box.home, `ledger-${round}`);
          const client = await ws.connect();
          await until(
            async () => (await client.call('runner.list', {}))[0]?.state === 'ready',
            'the machine',
            90_000,
          );
          const { session } = await dispatch(client, { body: body(ledger), on: 'box2' });
          client.close();
          // The last two strike while the agent works, or at the end while work is on its way.
          const moment = Math.round((numbers.next().value ?? 0) * 700 + (round - 1) * 700);
          moments.push(moment);
          await delay(moment);
          await strike(fleet);
          const id = Number(session.slice(2));
          const row = await until(
            () =>
              readSessions(ws.root).sessions.find((each) => each.id === id && each.state === 'ended') ?? null,
            `the end of ${session}, struck after ${moment} ms`,
            90_000,
          );
          const log = readLogHere(ws, session);
          const why = `${what} after ${moment} ms: ${JSON.stringify(row)}\n${log.toString().slice(-1500)}`;
          assert.equal(row.exit_code, 0, why);
          assert.equal(readFileSync(ledger, 'utf8').trim().split('\n').length, 1, why);
          const subjects = ws.repository.git('log', '--format=%s', `main..svc/${session}`).split('\n');
          assert.deepEqual(subjects, ['work', 'two', 'one'], why);
          assert.ok(log.equals(box.readLog(session)), why);
          const kinds = readSessions(ws.root)
            .events.filter((each) => each.session_id === id)
            .map(({ kind }) => kind);
          for (const kind of ['dispatched', 'session_started', 'sealed'])
            assert.equal(kinds.filter((each) => each === kind).length, 1, `${kinds.join()} ${why}`);
          assert.equal(existsSync(join(ws.root, '.svc/worktrees', session)), false);
        }
        report(
          `${what} killed after ${moments.join(', ')} ms`,
          'every run ended once, its agent ran once, nothing is missing',
        );
      } finally {
        await fleet.close();
      }
    });
});
