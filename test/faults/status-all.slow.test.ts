import assert from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { until } from '../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

interface Row {
  workspace: string;
  root: string;
  state: string;
  problem: string | null;
  status: { workers: { running: number }; decisions_pending: number } | null;
}

describe('svc status --all with engines that hang, die and move', () => {
  let one: TestWorkspace;
  let other: TestWorkspace;
  before(async () => {
    one = await makeWorkspace();
    other = await makeWorkspace({ env: { SVC_HOME: one.env.SVC_HOME ?? '' } });
  });
  after(async () => {
    await other.close();
    await one.close();
  });
  const readAll = async (): Promise<Map<string, Row>> => {
    const ran = await one.svc(['status', '--all', '--json'], { cwd: '/' });
    assert.equal(ran.code, 0, ran.stderr);
    return new Map((ran.json() as Row[]).map((row) => [row.root, row]));
  };

  test('the command prints a line for each, from any folder, with the state of each', async () => {
    assert.deepEqual(await readAll(), new Map());
    const none = await one.svc(['status', '--all'], { cwd: '/' });
    assert.match(none.stderr, /no engine has been started on this machine yet/);

    await one.svc(['up']);
    await other.svc(['up']);
    await other.post('Say hello');
    const both = await readAll();
    assert.equal(both.get(one.root)?.status?.decisions_pending, 0);
    assert.equal(both.get(other.root)?.status?.decisions_pending, 1);
    assert.deepEqual(
      [...both.values()].map(({ state, problem }) => [state, problem]),
      [
        ['running', null],
        ['running', null],
      ],
    );

    // A hanging engine delays the answer only up to its limit.
    const pid = other.daemonPid() ?? assert.fail();
    process.kill(pid, 'SIGSTOP');
    try {
      const stuck = (await readAll()).get(other.root);
      assert.equal(stuck?.state, 'stuck');
      assert.match(stuck?.problem ?? '', new RegExp(`pid ${pid}.*did not answer within 2 s`));
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(async () => (await readAll()).get(other.root)?.state === 'running', 'its answer');

    await other.killDaemon();
    assert.match((await readAll()).get(other.root)?.problem ?? '', /ended unexpectedly; svc up there/);
    await one.svc(['down']);
    const stopped = (await readAll()).get(one.root);
    assert.deepEqual([stopped?.state, stopped?.problem], ['stopped', null]);
    const text = await one.svc(['status', '--all'], { cwd: '/' });
    assert.match(text.stdout, /^test\tstopped\t-\t-\t-\t-\t/m);
    assert.match(text.stderr, /is crashed: its engine \(pid \d+\) ended unexpectedly/);

    // A moved workspace is gone, and the next engine that starts forgets it; after it moves back, its own engine's
    // start lists it again.
    renameSync(other.root, `${other.root}-moved`);
    assert.equal((await readAll()).get(other.root)?.state, 'gone');
    await one.svc(['up']);
    assert.deepEqual([...(await readAll()).keys()], [one.root]);
    renameSync(`${other.root}-moved`, other.root);
    await other.svc(['up']);
    assert.equal((await readAll()).get(other.root)?.state, 'running');
  });

  test('the command names an unreachable workspace, and continues', async () => {
    await other.svc(['down']);
    const record = join(one.env.SVC_HOME ?? '', 'data-folders');
    renameSync(record, `${record}-away`);
    try {
      const rows = await readAll();
      assert.equal(rows.get(other.root)?.state, 'refused');
      assert.match(rows.get(other.root)?.problem ?? '', /was not created by svc here/);
    } finally {
      rmSync(record, { recursive: true, force: true });
      renameSync(`${record}-away`, record);
    }
  });
});
