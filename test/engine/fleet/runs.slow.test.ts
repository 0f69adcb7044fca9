import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import {
  awaitEnd,
  dispatch,
  makeFleet,
  readLogHere,
  showSession,
  type TestFleet,
  type TestMachine,
} from '../../support/fleet.ts';
import { until } from '../../support/wait.ts';
import type { TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('a run on another machine', () => {
  let fleet: TestFleet;
  let ws: TestWorkspace;
  let box: TestMachine;
  let client: EngineClient;
  before(async () => {
    const commands = {
      onlythere: 'onlythere {{prompt}}',
      later: 'later {{prompt}}',
      elsewhere: 'elsewhere {{prompt}}',
    };
    fleet = await makeFleet(
      { commands },
      {
        prepare(machine) {
          machine.install('onlythere', 'echo it ran there; echo "$1" >ran');
          for (const agent of ['claude', 'codex']) machine.install(agent, 'exit 1');
          mkdirSync(join(machine.home, '.claude'));
          writeFileSync(join(machine.home, '.claude/.credentials.json'), '{}');
        },
      },
    );
    ({ ws, box } = fleet);
    client = await ws.connect();
  });
  after(() => fleet?.close());

  it('is followed here, leaves its branch here, is promoted, and leaves nothing there', async () => {
    const prompt = 'adds a file\n#agent: say from there\n#agent: edit made.txt there';
    const flags = ['-a', 'scripted', '-p', prompt, '--run', '-f', '--on', 'box2'];
    const { code, stdout, stderr } = await ws.svc(['task', 'add', ...flags]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /from there\n(?:.*\n)*t-1 done\n/);
    const shown = await showSession(client, 's-1');
    assert.deepEqual([shown.runner, shown.machine, shown.commits, shown.files], ['r-1', 'box2', 1, 1]);
    assert.deepEqual(readLogHere(ws, 's-1'), box.readLog('s-1'));
    assert.deepEqual(box.listWorktrees(), ['s-1']);
    assert.equal(ws.repository.git('show', 'svc/s-1:made.txt'), 'there');
    assert.equal(existsSync(join(ws.root, '.svc/worktrees/s-1')), false);
    const opened = await ws.svc(['worktree', 'open', 's-1', join(ws.repository.folder, 'look')]);
    assert.equal(opened.code, 0, opened.stderr);
    assert.equal(readFileSync(join(ws.repository.folder, 'look/made.txt'), 'utf8'), 'there\n');
    const promoted = await ws.svc(['worktree', 'promote', 's-1']);
    assert.equal(promoted.code, 0, promoted.stderr);
    assert.match(promoted.stdout, /worktree {2}removed/);
    assert.deepEqual(box.listWorktrees(), []);
    assert.equal(ws.repository.git('show', 'main:made.txt'), 'there');
    assert.equal(readFileSync(join(ws.root, 'made.txt'), 'utf8'), 'there\n');
    assert.deepEqual(box.listWorkers(), []);
  });

  it('goes to a machine of the named pool, and stays here if that is named', async () => {
    const far = await dispatch(client, { body: 'x', pool: 'default' });
    const near = await dispatch(client, { body: 'x', on: 'local' });
    assert.equal((await awaitEnd(client, far.session)).runner, 'r-1');
    assert.equal((await awaitEnd(client, near.session)).runner, null);
  });

  it('is refused for unknown names, in the project’s own folder, and without a share', async () => {
    const { task_id: id } = await client.call('task.add', { title: 'x', agent: 'scripted', body: 'x' });
    const refused = (options: Record<string, unknown>, code: string) =>
      assert.rejects(client.call('task.run', { id, ...options }), { code });
    await refused({ on: 'box9' }, 'no_runner');
    await refused({ pool: 'gpu' }, 'no_runner');
    await refused({ on: 'box2', pool: 'gpu' }, 'no_runner');
    await refused({ on: 'box2', inplace: true }, 'usage');
    await client.call('project.unshare', { id: 'workspace', pool: 'default' });
    await refused({ on: 'box2' }, 'share_missing');
    await refused({ pool: 'default' }, 'share_missing');
    const [listed] = await client.call('runner.list', {});
    assert.match(listed?.reason ?? '', /no project is shared/);
    await client.call('project.share', { id: 'workspace', pool: 'default' });
    const { session_id: session } = await client.call('task.run', { id, on: 'box2' });
    assert.equal((await awaitEnd(client, session!)).exit_code, 0);
  });

  it('reports the agents of the machine, and whether each is logged in', async () => {
    const agents = await until(async () => {
      const [row] = await client.call('runner.list', {});
      return (row?.agents.length ?? 0) > 0 && row?.agents;
    });
    const installed = agents.filter(({ name }) => ['claude', 'codex'].includes(name));
    assert.deepEqual(installed, [
      { name: 'claude', logged_in: true },
      { name: 'codex', logged_in: false },
    ]);
    const { stdout } = await ws.svc(['runner', 'list']);
    assert.match(stdout, /claude, codex \(not logged in\)/);
  });

  it('uses an agent that only that machine has', async () => {
    const { session } = await dispatch(client, { body: 'x', agent: 'onlythere', on: 'box2' });
    assert.equal((await awaitEnd(client, session)).exit_code, 0);
    assert.match(readLogHere(ws, session).toString(), /it ran there/);
    const near = dispatch(client, { body: 'x', agent: 'onlythere', on: 'local' });
    await assert.rejects(near, { code: 'tool_missing' });
  });

  it('waits while its machine is drained, and while its project is not shared', async () => {
    const drained = await client.call('runner.drain', { name: 'box2' });
    assert.deepEqual([drained.state, drained.running], ['draining', 0]);
    const { session } = await dispatch(client, { body: 'x', on: 'box2' });
    assert.match((await showSession(client, session)).waits_for ?? '', /^box2 is drained$/);
    await client.call('project.unshare', { id: 'workspace', pool: 'default' });
    assert.equal((await client.call('runner.drain', { name: 'box2', undo: true })).state, 'ready');
    assert.match((await showSession(client, session)).waits_for ?? '', /may not be sent/);
    await client.call('project.share', { id: 'workspace', pool: 'default' });
    assert.equal((await awaitEnd(client, session)).exit_code, 0);
  });

  it('waits for an agent that the machine lacks, and starts once it is installed there', async () => {
    const { session } = await dispatch(client, { body: 'x', agent: 'later', on: 'box2' });
    await until(async () => /^box2 has no later$/.test((await showSession(client, session)).waits_for ?? ''));
    assert.match((await ws.svc(['worker', 'list'])).stdout, /box2 has no later/);
    assert.match(
      (await ws.svc(['worker', 'show', session])).stdout,
      /waits for another machine: box2 has no later/,
    );
    box.install('later', 'echo late');
    assert.equal((await awaitEnd(client, session)).exit_code, 0);
  });

  it('starts once its agent is installed in a folder that the shell there has learnt since', async () => {
    const { session } = await dispatch(client, { body: 'x', agent: 'elsewhere', on: 'box2' });
    await until(async () => /has no elsewhere/.test((await showSession(client, session)).waits_for ?? ''));
    box.installBeside('elsewhere', 'echo beside');
    assert.equal((await awaitEnd(client, session)).exit_code, 0);
  });
});

describe('a pool that is configured', () => {
  it('takes runs of the workspace, and of a project with another one', async () => {
    const projects = [{ id: 'app', path: 'app', pool: 'gpu' }];
    const yaml = `fleet: { pool: default }\nprojects: ${JSON.stringify(projects)}\n`;
    const fleet = await makeFleet({ yaml });
    try {
      const client = await fleet.ws.connect();
      const own = await dispatch(client, { body: 'x' });
      assert.equal((await awaitEnd(client, own.session)).runner, 'r-1');
      const { task_id: id } = await client.call('task.add', {
        ...{ title: 'x', agent: 'scripted', body: 'x', project: 'app' },
      });
      await assert.rejects(client.call('task.run', { id }), { code: 'no_runner' });
      const { session_id: near } = await client.call('task.run', { id, pool: 'local' });
      assert.equal((await awaitEnd(client, near!)).runner, null);
    } finally {
      await fleet.close();
    }
  });
});
