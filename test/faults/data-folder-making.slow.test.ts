import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { report } from '../support/processes/faults.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { makeWorkspace, SVC } from '../support/workspaces/workspace.ts';

describe('creating a data folder', async () => {
  const ws = await makeWorkspace();
  after(ws.close);
  const data = join(ws.root, '.svc');
  const records = join(ws.env.SVC_HOME ?? '', 'data-folders');
  const begin = async (): Promise<void> => {
    await ws.svc(['down']);
    await ws.killDaemon();
    rmSync(data, { recursive: true, force: true });
  };
  const id = (): string => readFileSync(join(data, 'id'), 'utf8').trim();

  test('a new data folder has an id that the machine home knows, both for this user alone', async () => {
    assert.equal((await ws.program(['task', 'list'])).code, 0);
    assert.match(id(), /^[0-9a-f]{32}$/);
    const record = JSON.parse(readFileSync(join(records, `${id()}.json`), 'utf8')) as Record<string, unknown>;
    assert.equal(record.path, data);
    assert.equal(record.inode, statSync(data).ino);
    assert.equal(statSync(records).mode & 0o777, 0o700);
    for (const file of [join(records, `${id()}.json`), join(data, 'id'), join(data, 'daemon.json')])
      assert.equal(statSync(file).mode & 0o777, 0o600, file);
  });

  test('a new data folder is created once, however many race for it', async () => {
    for (let round = 0; round < 3; round += 1) {
      await begin();
      rmSync(records, { recursive: true, force: true });
      const ran = await Promise.all(Array.from({ length: 8 }, () => ws.program(['task', 'list', '--json'])));
      for (const { code, stdout } of ran) assert.equal(code, 0, stdout);
      assert.deepEqual(readdirSync(records), [`${id()}.json`]);
    }
    report('eight commands that race for a new data folder', 'one id, one record, all of them answered');
  });

  test('a new data folder is either empty or known when its creation is killed, at any moment', async () => {
    let made = 0;
    for (let round = 0; round < 12; round += 1) {
      await begin();
      const child = spawn(process.execPath, [SVC, 'daemon'], { cwd: ws.root, env: ws.env, stdio: 'ignore' });
      const ended = new Promise((resolve) => child.once('exit', resolve));
      // From before the first file to after the last one.
      const until = performance.now() + 2000;
      const mark = join(data, round % 3 === 0 ? 'id' : round % 3 === 1 ? '' : 'svc.db');
      while (!existsSync(mark) && performance.now() < until) await delay(0);
      await delay(round % 4);
      child.kill('SIGKILL');
      await ended;
      made += existsSync(join(data, 'id')) ? 1 : 0;
      const next = await ws.program(['task', 'list', '--json']);
      assert.equal(next.code, 0, next.stdout);
    }
    report(
      'the making of a data folder killed 12 times',
      `${made} times it had its id; the next command always went on`,
    );
  });

  test('the remains of an interrupted creation are ignored', async () => {
    await begin();
    mkdirSync(data, { mode: 0o755 });
    for (const name of ['id.0123456789abcdef.new', 'id.fedcba9876543210.new'])
      writeFileSync(join(data, name), '0123');
    assert.equal((await ws.program(['task', 'list'])).code, 0);
    assert.equal(statSync(data).mode & 0o777, 0o700);
    // A folder with anything else is not empty.
    await begin();
    mkdirSync(data);
    writeFileSync(join(data, 'id'), '');
    const refused = await ws.program(['task', 'list', '--json']);
    assert.equal(refused.json<{ error: { code: string } }>().error.code, 'data_folder_unknown');
  });

  test('a data folder with a lost machine home is refused, and can be taken over with its content', async () => {
    await begin();
    await ws.svc(['task', 'add', 'not to be lost']);
    const before = await ws.svc(['task', 'list', '--json']);
    const token = readFileSync(join(data, 'daemon.json'), 'utf8');
    rmSync(ws.env.SVC_HOME ?? '', { recursive: true });
    // An open engine does not make the folder trusted.
    const running = await ws.program(['adopt', '--yes', '--json']);
    assert.match(running.stdout, /kill \d+/);
    await ws.killDaemon();
    const refused = await ws.program(['task', 'list']);
    assert.equal(refused.code, 3);
    assert.match(refused.stderr, /^hint: svc adopt .*svc adopt --fresh/m);
    assert.equal((await ws.program(['adopt'])).code, 2);
    assert.equal((await ws.program(['task', 'list'])).code, 3);
    const adopted = await ws.program(['adopt', '--yes']);
    assert.equal(adopted.code, 0, adopted.stderr);
    const listed = await ws.svc(['task', 'list', '--json']);
    assert.equal(listed.stdout, before.stdout);
    assert.notEqual(readFileSync(join(data, 'daemon.json'), 'utf8'), token);
  });

  test('a data folder of a moved workspace is taken over in its new place', async () => {
    await begin();
    await ws.svc(['task', 'add', 'moved']);
    await ws.svc(['down']);
    const moved = join(ws.repository.folder, 'moved');
    renameSync(ws.root, moved);
    try {
      const refused = await ws.program(['task', 'list'], { cwd: moved });
      assert.match(refused.stderr, /moved or restored/);
      assert.equal((await ws.program(['adopt', '--yes'], { cwd: moved })).code, 0);
      assert.match((await ws.program(['task', 'list'], { cwd: moved })).stdout, /moved/);
      await ws.program(['down'], { cwd: moved });
    } finally {
      renameSync(moved, ws.root);
    }
    const back = await ws.program(['adopt', '--yes']);
    assert.equal(back.code, 0, back.stderr);
    assert.match((await ws.svc(['task', 'list'])).stdout, /moved/);
  });

  test('a data folder is not created on a full disk, and is when there is room', async (t) => {
    const mount = temporaryFolder('svc-full-home-');
    if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k,mode=700', 'tmpfs', mount]).status !== 0) {
      rmSync(mount, { recursive: true });
      t.skip('no tmpfs can be mounted here');
      return;
    }
    await begin();
    try {
      spawnSync('dd', ['if=/dev/zero', `of=${mount}/filler`, 'bs=4096']);
      const env = { SVC_HOME: mount };
      const refused = await ws.program(['task', 'list', '--json'], { env });
      assert.equal(refused.json<{ error: { code: string } }>().error.code, 'storage_full', refused.stdout);
      assert.deepEqual(readdirSync(data), []);
      rmSync(join(mount, 'filler'));
      assert.equal((await ws.program(['task', 'list'], { env })).code, 0);
      await ws.program(['down'], { env });
      report(
        'a full disk under the machine home',
        'the folder stayed empty, and was made when there was room',
      );
    } finally {
      rmSync(data, { recursive: true, force: true });
      spawnSync('umount', [mount]);
      rmSync(mount, { recursive: true });
    }
  });
});
