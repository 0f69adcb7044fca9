import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Database from 'better-sqlite3';
import { dispatch, makeFleet, makeMachine, type TestMachine, writeScript } from '../support/fleet.ts';
import { report } from '../support/processes/faults.ts';
import { until } from '../support/wait.ts';

/** Each run writes a line five times a second while it lives; the first one commits between. Later ones are short. */
const body = (ledger: string): string =>
  writeScript(
    [
      'run n=60; [ -e begun.txt ] && n=10; echo begun > begun.txt; git add begun.txt; git commit -qm begun;',
      `for i in $(seq $n); do echo "$SVC_SESSION $SVC_RUN_ID $(date +%s%3N)" >> ${ledger};`,
      'echo $i >> lines.txt; [ $((i % 10)) = 0 ] && git add lines.txt && git commit -qm $i; sleep 0.2; done',
    ].join(' '),
    'edit done.txt done',
  );

const STRIKES: Record<string, (box: TestMachine) => () => void> = {
  'is cut off from it'(box) {
    const svc = join(box.home, 'bin/svc');
    chmodSync(svc, 0o000);
    for (const pid of box.transportPids()) process.kill(pid, 'SIGKILL');
    return () => chmodSync(svc, 0o755);
  },
  'hears nothing any more, on a connection that stays open'(box) {
    const pids = box.transportPids();
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    const svc = join(box.home, 'bin/svc');
    chmodSync(svc, 0o000);
    return () => {
      for (const pid of pids)
        try {
          process.kill(pid, 'SIGCONT');
        } catch {
          // The engine has ended it.
        }
      chmodSync(svc, 0o755);
    };
  },
};

const readRows = (root: string) => {
  const db = new Database(join(root, '.svc/svc.db'), { readonly: true });
  try {
    return {
      sessions: db.prepare('SELECT * FROM session ORDER BY id').all() as Record<string, unknown>[],
      events: db.prepare('SELECT * FROM event').all() as Record<string, unknown>[],
      open: db.prepare('SELECT * FROM lost_run WHERE settled_at IS NULL').all(),
    };
  } finally {
    db.close();
  }
};

/** Reads when each run of a session wrote its first and its last line. */
function readLives(ledger: string): Map<string, Map<string, [number, number]>> {
  const lives = new Map<string, Map<string, [number, number]>>();
  for (const line of readFileSync(ledger, 'utf8').trim().split('\n')) {
    const [session = '', run = '', at = ''] = line.split(' ');
    const runs = lives.get(session) ?? new Map<string, [number, number]>();
    lives.set(session, runs);
    runs.set(run, [runs.get(run)?.[0] ?? Number(at), Number(at)]);
  }
  return lives;
}

describe('a machine that works while the engine', () => {
  for (const [what, strike] of Object.entries(STRIKES))
    it(`${what} has its runs given up, and none of them lives twice or ends twice`, async () => {
      const fleet = await makeFleet({
        ...{ hosted: false, yaml: 'fleet:\n  on_lost: retry\n  lost_after_sec: 30\n' },
      });
      const { ws, box } = fleet;
      const other = makeMachine(ws, 'box3');
      let restore = (): void => undefined;
      try {
        await other.add();
        const ledger = join(box.home, 'ledger');
        const client = await ws.connect();
        const begin = (): Promise<{ session: string }> =>
          dispatch(client, { body: body(ledger), on: 'box2' });
        const { session: first } = await begin();
        await until(() => existsSync(ledger));
        const { session: second } = await begin();
        await until(() => readFileSync(ledger, 'utf8').includes(`${second} `));
        // The last one is being placed or set up.
        const { session: third } = await begin();
        client.close();
        restore = strike(box);
        const all = [first, second, third];
        await until(
          () => readRows(ws.root).sessions.every(({ state }) => state === 'ended'),
          'the ends',
          120_000,
        );
        restore();
        await until(() => readRows(ws.root).open.length === 0, 'the cleaning of the machine', 120_000);
        const { sessions, events } = readRows(ws.root);
        const why = JSON.stringify(sessions);
        const lives = readLives(ledger);
        for (const [at, session] of all.entries()) {
          assert.deepEqual([sessions[at]?.exit_code, sessions[at]?.failure_code], [0, null], why);
          const ofSession = events.filter(({ session_id: id }) => id === Number(session.slice(2)));
          assert.equal(ofSession.filter(({ kind }) => kind === 'sealed').length, 1, why);
          assert.equal(ws.repository.git('show', `svc/${session}:done.txt`), 'done');
          const runs = [...(lives.get(session) ?? new Map<string, [number, number]>()).values()];
          runs.sort((one, next) => one[0] - next[0]);
          for (const [index, [, last]] of runs.entries()) {
            const next = runs[index + 1];
            assert.ok(next === undefined || last < next[0], `two runs of ${session} lived at once`);
          }
        }
        assert.deepEqual(box.listWorktrees(), [], 'given up worktrees are left there');
        assert.deepEqual(box.listWorkers(), []);
        ws.repository.git('fsck', '--strict', '--no-dangling');
        const lost = events.filter(({ kind }) => kind === 'run_lost').length;
        report(
          `${lost} of 3 runs lost with their machine: ${what}`,
          'each ended once, and never lived twice',
        );
        assert.ok(lost >= 2);
      } finally {
        restore();
        await fleet.close();
        await other.close();
      }
    });
});
