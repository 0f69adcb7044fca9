import assert from 'node:assert/strict';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { awaitEnd, dispatch, makeFleet, showSession, writeScript } from '../../support/fleet.ts';
import { isRunning } from '../../support/processes/processes.ts';
import { until } from '../../support/wait.ts';

describe('a machine that cannot be reached', () => {
  it('ends its run in time, though the engine learns of it after the time limit', async () => {
    const fleet = await makeFleet();
    const { ws, box } = fleet;
    const svc = join(box.home, 'bin/svc');
    try {
      const client = await ws.connect();
      const begun = performance.now();
      const { session } = await dispatch(client, {
        ...{ body: writeScript('edit a.txt x', 'sleep 3000', 'edit b.txt y'), on: 'box2', timeout_sec: 6 },
      });
      await until(async () => (await showSession(client, session)).state === 'running');
      await until(() => box.listWorkers().length > 0);
      chmodSync(svc, 0o000);
      for (const pid of box.transportPids()) process.kill(pid, 'SIGKILL');
      await until(() => box.listWorkers().length === 0, 'the end of the worker');
      await until(() => performance.now() - begun > 8000, 'the time limit');
      assert.equal((await showSession(client, session)).stop_reason, null);
      chmodSync(svc, 0o755);
      // A person who looks does not wait for the pause to end.
      await client.call('runner.list', {});
      const { failure, commits } = await awaitEnd(client, session);
      assert.deepEqual([failure, commits], [null, 1]);
      assert.equal(ws.repository.git('show', `svc/${session}:b.txt`), 'y');
    } finally {
      chmodSync(svc, 0o755);
      await fleet.close();
    }
  });

  it('keeps its work: the session waits, is stopped when it is back, and no command waits for it', async () => {
    const fleet = await makeFleet({ hosted: false });
    const { ws, box } = fleet;
    const svc = join(box.home, 'bin/svc');
    try {
      const client = await ws.connect();
      const { session } = await dispatch(client, { body: writeScript('edit a.txt x', 'hang'), on: 'box2' });
      await until(async () => (await showSession(client, session)).state === 'running');
      await until(() => box.listWorkers().length > 0);
      chmodSync(svc, 0o000);
      for (const pid of box.transportPids()) process.kill(pid, 'SIGKILL');
      const listed = await until(async () => {
        const [found] = await client.call('runner.list', {});
        return found?.state === 'silent' && /svc/.test(found.reason ?? '') ? found : null;
      });
      assert.equal(listed.running, 1);
      const { session: waiting } = await dispatch(client, { body: 'x', on: 'box2' });
      assert.match((await showSession(client, waiting)).waits_for ?? '', /^box2 is not connected: /);
      await client.call('worktree.diff', { session });
      await client.call('worker.kill', { session });
      assert.equal((await showSession(client, session)).state, 'running');
      const pid = ws.daemonPid() ?? 0;
      client.close();
      const down = await ws.svc(['down', '--stop-workers', '--json']);
      assert.deepEqual([down.code, down.json().left], [0, [session]], down.stderr);
      await until(() => !isRunning(pid), 'the end of the engine');
      assert.ok(box.listWorkers().length > 0);
      chmodSync(svc, 0o755);
      const next = await ws.connect();
      assert.equal((await awaitEnd(next, session)).stop_reason, 'cancelled');
      await until(() => box.listWorkers().length === 0);
      assert.equal((await awaitEnd(next, waiting)).stop_reason, 'cancelled');
      assert.equal(ws.repository.git('show', `svc/${session}:a.txt`), 'x');
    } finally {
      chmodSync(svc, 0o755);
      await fleet.close();
    }
  });

  it('may stop answering while the engine stops its workers: the engine ends, and its worker is stopped later', async () => {
    const fleet = await makeFleet({ hosted: false });
    const { ws, box } = fleet;
    const svc = join(box.home, 'bin/svc');
    try {
      const client = await ws.connect();
      const { session } = await dispatch(client, { body: writeScript('edit a.txt x', 'hang'), on: 'box2' });
      await until(async () => (await showSession(client, session)).state === 'running');
      await until(() => box.listWorkers().length > 0);
      // Connected again, it would stop the worker before the engine ends.
      chmodSync(svc, 0o000);
      const frozen = box.transportPids();
      for (const pid of frozen) process.kill(pid, 'SIGSTOP');
      assert.equal((await client.call('runner.list', {}))[0]?.state, 'ready');
      assert.deepEqual(await client.call('engine.stop', { stop_workers: true }), { left: [session] });
      // It answers before it has closed, and would take the next connection.
      await client.closed;
      for (const pid of frozen) process.kill(pid, 'SIGKILL');
      chmodSync(svc, 0o755);
      const next = await ws.connect();
      assert.equal((await awaitEnd(next, session)).stop_reason, 'cancelled');
      await until(() => box.listWorkers().length === 0);
    } finally {
      chmodSync(svc, 0o755);
      await fleet.close();
    }
  });
});
