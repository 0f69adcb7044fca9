import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EngineClient } from '../../../engine/index.ts';
import { impossible } from '../../support/agents/strict.ts';
import {
  awaitEnd,
  dispatch,
  makeFleet,
  readLogHere,
  showSession,
  type TestFleet,
  type TestMachine,
  writeScript,
} from '../../support/fleet.ts';
import { isRunning } from '../../support/processes/processes.ts';
import { until } from '../../support/wait.ts';
import type { TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('the rules of a machine’s own person', () => {
  let fleet: TestFleet;
  let ws: TestWorkspace;
  let box: TestMachine;
  let client: EngineClient;
  before(async () => {
    const projects = [
      {
        id: 'own',
        path: '.',
        setup: ['sh setup.sh'],
        teardown: ['sh teardown.sh'],
        env_files: ['secret.env'],
      },
    ];
    fleet = await makeFleet(
      { yaml: `projects: ${JSON.stringify(projects)}\n`, commands: { other: 'true {{prompt}}' } },
      {
        flags: ['--share', 'own'],
        prepare(machine) {
          const files = join(machine.home, 'files');
          mkdirSync(files);
          writeFileSync(join(files, 'secret.env'), 'of that machine');
          machine.rule(`agents: [scripted]\nmax: 1\nenv: { own: ${files} }\n`);
        },
      },
    );
    ({ ws, box } = fleet);
    client = await ws.connect();
    ws.repository.commit({
      '.gitignore': '.svc/\n*.out\n*.env\n',
      'setup.sh': 'echo set up for $SVC_TASK; cat secret.env > setup.out\n',
      'teardown.sh': `echo torn >>${join(box.home, 'torn')}\n`,
    });
    writeFileSync(join(ws.root, 'secret.env'), 'of this machine');
  });
  after(() => fleet?.close());

  const start = async (body: string, agent = 'scripted'): Promise<string> => {
    const { task_id: id } = await client.call('task.add', { title: 'work', agent, body, project: 'own' });
    const { session_id: session } = await client.call('task.run', { id, on: 'box2' });
    return session!;
  };

  it('allow its agents only', async () => {
    const session = await start('x', 'other');
    const why = 'the person of box2 does not allow other';
    const shown = await until(async () => {
      const found = await showSession(client, session);
      return found.waits_for === why ? found : null;
    });
    await client.call('task.cancel', { id: shown.task_id });
  });

  it('limit its workers, and the next one starts after the first', async () => {
    const go = join(box.home, 'go');
    const { digest } = await client.call('project.show', { id: 'own' });
    await client.call('project.trust', { id: 'own', digest });
    const first = await start(writeScript(`wait-for ${go}`, 'no-change'));
    await until(async () => (await showSession(client, first)).state === 'running');
    const second = await start(writeScript('no-change'));
    await until(async () => (await showSession(client, second)).waits_for === 'box2 is full: 1 of 1');
    const [listed] = await client.call('runner.list', {});
    assert.deepEqual([listed?.state, listed?.running, listed?.max], ['full', 1, 1]);
    writeFileSync(go, '');
    for (const session of [first, second]) assert.equal((await awaitEnd(client, session)).exit_code, 0);
  });

  it('run the agreed setup there, with the environment files of that machine', async () => {
    const session = await start(writeScript('run cat setup.out; git status --short', 'edit a.txt x'));
    assert.equal((await awaitEnd(client, session)).exit_code, 0);
    const log = readLogHere(ws, session).toString();
    assert.match(log, /set up for t-\d+/);
    assert.match(log, /of that machine/);
    assert.doesNotMatch(log, /of this machine/);
    await client.call('worktree.promote', { session });
    assert.equal(readFileSync(join(box.home, 'torn'), 'utf8'), 'torn\n');
  });

  it('start nothing whose setup was not agreed to', async () => {
    await client.call('project.untrust', { id: 'own' });
    const session = await start(writeScript('no-change'));
    assert.equal((await awaitEnd(client, session)).failure?.code, 'consent_missing');
    await client
      .call('task.cancel', { id: (await showSession(client, session)).task_id })
      .catch(() => undefined);
  });

  it('can be read again when the runner starts, and broken ones allow nothing', async () => {
    const pid = box.runnerPid() ?? 0;
    box.rule('agents: [');
    process.kill(pid, 'SIGTERM');
    await until(() => !isRunning(pid));
    const [listed] = await until(async () => {
      const all = await client.call('runner.list', {});
      return all[0]?.state === 'silent' && /runner\.yaml/.test(all[0].reason ?? '') ? all : null;
    });
    assert.match(listed?.reason ?? '', /runner\.yaml cannot be read/);
    box.rule('');
    await until(async () => (await client.call('runner.list', {}))[0]?.state === 'ready');
  });
});

describe('a machine whose person wants confined workers', { skip: impossible ?? false }, () => {
  it('confines those that the board would not', async () => {
    const fleet = await makeFleet({}, { prepare: (box) => box.rule('profile: strict\n') });
    const { ws, box } = fleet;
    try {
      const client = await ws.connect();
      const { session } = await dispatch(client, {
        body: writeScript(
          'run ls /run/svc; svc lock acquire README.md',
          `run ls ${box.home}/svc 2>&1; ls ${ws.root} 2>&1; true`,
          'edit made.txt x',
        ),
        on: 'box2',
      });
      const shown = await awaitEnd(client, session);
      const log = readLogHere(ws, session).toString();
      assert.equal(shown.exit_code, 0, `${JSON.stringify(shown.failure)} ${log}`);
      assert.match(log, /daemon\.json/);
      assert.match(log, /holds README\.md/);
      assert.equal(log.match(/No such file|cannot access|Permission denied/g)?.length, 2, log);
      assert.equal(ws.repository.git('show', `${shown.branch}:made.txt`), 'x');
    } finally {
      await fleet.close();
    }
  });
});

describe('removing a machine', () => {
  it('is refused while work is there, and then leaves nothing', async () => {
    const fleet = await makeFleet();
    const { ws, box } = fleet;
    try {
      const client = await ws.connect();
      const { session } = await dispatch(client, { body: writeScript('edit a.txt x'), on: 'box2' });
      await awaitEnd(client, session);
      await assert.rejects(client.call('runner.remove', { name: 'box2' }), { code: 'conflict' });
      assert.deepEqual(box.listWorktrees(), [session]);
      await client.call('worktree.promote', { session });
      const root = box.root();
      const pid = box.runnerPid() ?? 0;
      assert.deepEqual(readdirSync(root).includes('.svc'), true);
      const removed = await ws.svc(['runner', 'remove', 'box2']);
      assert.equal(removed.code, 0, removed.stderr);
      assert.equal(existsSync(root), false);
      assert.equal(isRunning(pid), false);
      assert.deepEqual(await client.call('runner.list', {}), []);
      await assert.rejects(dispatch(client, { body: 'x', on: 'box2' }), { code: 'no_runner' });
    } finally {
      await fleet.close();
    }
  });

  it('can be forced: its workers end there, and their sessions here', async () => {
    const fleet = await makeFleet({ yaml: 'daemon: { reap_interval_sec: 1 }\n' });
    const { ws, box } = fleet;
    try {
      const client = await ws.connect();
      const { session } = await dispatch(client, { body: writeScript('hang'), on: 'box2' });
      await until(async () => (await showSession(client, session)).state === 'running');
      await until(
        async () => (await client.call('worktree.diff', { session })).commits.length === 1,
        'its commit',
      );
      await client.call('runner.remove', { name: 'box2', force: true });
      assert.deepEqual(box.listWorkers(), []);
      const ended = await awaitEnd(client, session);
      assert.equal(ended.exit_code, null);
      assert.equal(ended.commits, 1);
    } finally {
      await fleet.close();
    }
  });
});
