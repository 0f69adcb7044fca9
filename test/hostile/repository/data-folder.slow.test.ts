import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'node:test';
import Database from 'better-sqlite3';
import { openForOneCall } from '../../../engine/daemon/one-call.ts';
import { hostile } from '../../support/hostile.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

let ws: TestWorkspace;
beforeEach(async () => {
  ws = await makeWorkspace({
    commands: { evil: `touch ${join('/tmp', `svc-ran-${process.pid}`)} {{prompt}}` },
  });
});
afterEach(async () => {
  rmSync(ran(), { force: true });
  await ws.close();
});

const ran = (): string => join('/tmp', `svc-ran-${process.pid}`);
const data = (): string => join(ws.root, '.svc');
const codeOf = ({ stdout }: { stdout: string }): string =>
  (JSON.parse(stdout) as { error: { code: string } }).error.code;

/** A data folder from another machine, with a session that waits under a consumed approval. */
async function plantQueued(): Promise<void> {
  await ws.svc(['up']);
  await ws.svc(['task', 'add', 'innocent', '--agent', 'evil', '--prompt', 'x']);
  await ws.svc(['down']);
  const db = new Database(join(data(), 'svc.db'));
  db.exec(`
    INSERT INTO decision (task_id, kind, state, agent, hash, why, source, created_at, decided_at, decided_by, consumed_at)
      VALUES (1, 'dispatch', 'approved', 'evil', 'x', 'x', 'cli', 1, 1, 'ada', 1);
    INSERT INTO worker (name) VALUES (NULL);
    INSERT INTO session (task_id, decision_id, worker_id, title, agent, state, timeout_sec, idle_timeout_sec, created_at)
      VALUES (1, 1, 1, 'innocent', 'evil', 'queued', 60, 60, 1);
    UPDATE task SET status = 'assigned', session_id = 1;
  `);
  db.close();
}

/** Returns everything in a folder with its content, to show that nothing changed. */
function snapshot(folder: string): string {
  if (!lstatSync(folder).isDirectory()) return String(lstatSync(folder).ino);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path} ${entry.isFile() ? readFileSync(path).toString('base64') : 'x'}`;
    })
    .sort()
    .join('\n');
}

async function refusedUntouched(reason: string): Promise<void> {
  const before = snapshot(data());
  for (const args of [['task', 'list'], ['up'], ['status'], ['down'], ['daemon']]) {
    const refused = await ws.program([...args, '--json']);
    assert.notEqual(refused.code, 0, `${args}: ${refused.stdout}`);
    assert.equal(codeOf(refused), 'data_folder_unknown', `${args}: ${refused.stdout}`);
    assert.equal(
      (JSON.parse(refused.stdout) as { error: { data: { reason: string } } }).error.data.reason,
      reason,
      refused.stdout,
    );
  }
  await assert.rejects(openForOneCall({ cwd: ws.root, env: ws.env }), { code: 'data_folder_unknown' });
  const bridge = await ws.program(['mcp'], {
    input:
      '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}\n{"jsonrpc":"2.0","method":"notifications/initialized"}\n{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"task_list","arguments":{}}}\n',
  });
  assert.doesNotMatch(bridge.stdout, /innocent/);
  assert.equal(snapshot(data()), before, 'the data folder is unchanged');
  assert.equal(existsSync(ran()), false, 'nothing was run');
}

hostile(
  {
    attacker: 'repository',
    tries: 'include a .svc with a queued session under a used approval',
    lite: 'refused, untouched',
    strict: 'refused, untouched',
  },
  async () => {
    await plantQueued();
    // The bytes are the same as in a clone on another machine, but the machine home is empty.
    rmSync(join(ws.env.SVC_HOME ?? '', 'data-folders'), { recursive: true });
    await refusedUntouched('not_recorded');
    // Without the id, with a variation of it, and with nothing but the database.
    rmSync(join(data(), 'id'));
    await refusedUntouched('no_id');
    for (const name of readdirSync(data()))
      if (name !== 'svc.db') rmSync(join(data(), name), { recursive: true });
    await refusedUntouched('no_id');
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'include a copy of a data folder with a recorded id',
    lite: 'refused, untouched',
    strict: 'refused, untouched',
  },
  async () => {
    await plantQueued();
    const away = join(ws.repository.folder, 'away');
    renameSync(data(), away);
    cpSync(away, data(), { recursive: true });
    await refusedUntouched('moved');
    // The folder stays valid in its original location.
    rmSync(data(), { recursive: true });
    renameSync(away, data());
    assert.equal((await ws.svc(['status'])).code, 4);
    rmSync(join(data(), 'svc.db'));
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'include a daemon.json that names its own socket',
    lite: 'refused, nothing is sent there',
    strict: 'refused, nothing is sent there',
  },
  async (t) => {
    const heard: Buffer[] = [];
    const path = join(ws.repository.folder, 'evil.sock');
    const server = createServer((socket) => socket.on('data', (chunk) => heard.push(chunk))).listen(path);
    t.after(() => server.close());
    const record = {
      pid: process.pid,
      version: '0.1.0',
      root: ws.root,
      socket: path,
      http: { host: '', port: 0 },
      token: '',
      startedAt: '',
    };
    mkdirSync(data(), { mode: 0o700 });
    writeFileSync(join(data(), 'daemon.json'), JSON.stringify(record), { mode: 0o600 });
    await refusedUntouched('no_id');
    symlinkSync('/run/svc/daemon.json', join(data(), 'other'));
    await refusedUntouched('no_id');
    // A record that a pull has replaced is invalid, even in our own folder.
    rmSync(data(), { recursive: true });
    await ws.svc(['up']);
    await ws.svc(['down']);
    for (const dataId of [undefined, '', '0'.repeat(32)]) {
      writeFileSync(join(data(), 'daemon.json'), JSON.stringify({ ...record, dataId }), { mode: 0o600 });
      assert.equal((await ws.svc(['status', '--json'])).code, 4);
      assert.equal(await openForOneCall({ cwd: ws.root, env: ws.env }), null);
    }
    assert.equal(heard.length, 0);
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'include .svc or its content as a link to other files',
    lite: 'refused, the files are unchanged',
    strict: 'refused, the files are unchanged',
  },
  async () => {
    const elsewhere = join(ws.repository.folder, 'elsewhere');
    const precious = join(elsewhere, 'precious');
    mkdirSync(elsewhere, { mode: 0o700 });
    writeFileSync(precious, 'precious');
    symlinkSync(elsewhere, data());
    await refusedUntouched('link');
    rmSync(data());
    // An empty folder behind a link is not our folder either.
    mkdirSync(join(elsewhere, 'empty'), { mode: 0o700 });
    symlinkSync(join(elsewhere, 'empty'), data());
    await refusedUntouched('link');
    rmSync(data());

    await ws.svc(['up']);
    await ws.svc(['task', 'add', 'ours']);
    await ws.svc(['down']);
    const names = ['host.pid', 'host.lock', 'svc.db-wal', 'svc.db-shm', 'svc.db-journal', 'svc.sock'];
    for (const name of [
      ...names,
      'daemon.json.tmp',
      'log/engine.9.log',
      'log/bus.log',
      'log/daemon.out',
      'notices/s-1.md',
      'agents/s-9',
      'agents/worktrees/s-9',
    ]) {
      const path = join(data(), name);
      const kept = existsSync(path) ? readFileSync(path) : null;
      rmSync(path, { force: true });
      mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
      symlinkSync(name.startsWith('agents') ? elsewhere : precious, path);
      const refused = await ws.program(['task', 'list', '--json']);
      assert.notEqual(refused.code, 0, `${name}: ${refused.stdout}`);
      assert.match(codeOf(refused), /^(?:data_folder_unknown|storage_unsafe)$/, name);
      assert.equal(readFileSync(precious, 'utf8'), 'precious', name);
      assert.deepEqual(readdirSync(elsewhere).sort(), ['empty', 'precious'], name);
      rmSync(path);
      if (kept !== null) writeFileSync(path, kept, { mode: 0o600 });
    }
    // A marker with an untrusted owner is removed, and the link's target stays.
    symlinkSync(precious, join(data(), 'starting'));
    assert.match((await ws.svc(['task', 'list'])).stdout, /ours/);
    assert.equal(readFileSync(precious, 'utf8'), 'precious');
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'include a pipe, a folder or a hard link in place of a file of svc',
    lite: 'refused at once',
    strict: 'refused at once',
  },
  async () => {
    await ws.svc(['up']);
    await ws.svc(['down']);
    const shapes: Record<string, (path: string) => void> = {
      pipe: (path) => void execFileSync('mkfifo', ['-m', '600', path]),
      'hard link': (path) => linkSync(join(data(), 'svc.db'), path),
    };
    for (const name of ['host.pid', 'host.lock', 'svc.db-wal', 'daemon.json', 'id']) {
      for (const [shape, make] of Object.entries(shapes)) {
        if (name === 'id' && shape === 'hard link') continue;
        const path = join(data(), name);
        const kept = existsSync(path) ? readFileSync(path) : null;
        rmSync(path, { force: true });
        make(path);
        const began = performance.now();
        const refused = await ws.program(['task', 'list', '--json']);
        assert.ok(performance.now() - began < 5000, `${name} as a ${shape} must not block`);
        assert.equal(codeOf(refused), 'data_folder_unknown', `${name} as a ${shape}: ${refused.stdout}`);
        rmSync(path, { force: true });
        if (kept !== null) writeFileSync(path, kept, { mode: 0o600 });
      }
    }
    execFileSync('mkfifo', ['-m', '600', join(data(), 'starting')]);
    assert.equal((await ws.svc(['task', 'list'])).code, 0);
    await ws.svc(['down']);
    // `.svc` itself is not a folder.
    rmSync(data(), { recursive: true });
    for (const make of [() => writeFileSync(data(), 'x'), () => void execFileSync('mkfifo', [data()])]) {
      make();
      await refusedUntouched('not_a_folder');
      rmSync(data());
    }
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'write into a recorded data folder by a pull of tracked files',
    lite: 'refused',
    strict: 'refused',
  },
  async () => {
    await ws.svc(['task', 'add', 'ours']);
    await ws.svc(['down']);
    const git = (...args: string[]) =>
      execFileSync('git', ['-C', ws.root, ...args], { env: ws.env, stdio: 'pipe' });
    // A merge overwrites ignored files silently, and leaves this behind.
    for (const name of ['svc.db-wal', '../.SVC/x', 'agents/s-2/x']) {
      const path = join(data(), name);
      mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
      writeFileSync(path, '', { mode: 0o600 });
      git('add', '--force', path);
      const refused = await ws.program(['up', '--json']);
      assert.equal(codeOf(refused), 'data_folder_unknown', `${name}: ${refused.stdout}`);
      git('rm', '--cached', '--quiet', path);
      rmSync(path);
      rmSync(join(ws.root, '.SVC'), { recursive: true, force: true });
    }
    assert.match((await ws.svc(['task', 'list'])).stdout, /ours/);
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'replace the database',
    lite: 'refused, untouched',
    strict: 'refused, untouched',
  },
  async () => {
    await plantQueued();
    const planted = join(ws.repository.folder, 'planted.db');
    cpSync(join(data(), 'svc.db'), planted);
    rmSync(data(), { recursive: true });
    await ws.svc(['up']);
    await ws.svc(['down']);
    for (const change of [
      '',
      "UPDATE meta SET value = 'x' WHERE key = 'data_id'",
      "DELETE FROM meta WHERE key = 'data_id'",
      "ALTER TABLE meta RENAME TO old; CREATE VIEW meta AS WITH RECURSIVE r(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM r) SELECT 'data_id' AS key, x AS value FROM r",
    ]) {
      cpSync(planted, join(data(), 'svc.db'));
      chmodSync(join(data(), 'svc.db'), 0o600);
      const db = new Database(join(data(), 'svc.db'));
      db.exec(change);
      db.close();
      const before = readFileSync(join(data(), 'svc.db'));
      const refused = await ws.program(['task', 'list', '--json']);
      assert.equal(codeOf(refused), 'data_folder_unknown', `${change}: ${refused.stdout}`);
      assert.deepEqual(readFileSync(join(data(), 'svc.db')), before);
      for (const beside of ['-wal', '-shm']) rmSync(join(data(), `svc.db${beside}`), { force: true });
    }
    // The next database would adopt a log without its database.
    rmSync(join(data(), 'svc.db'));
    writeFileSync(join(data(), 'svc.db-wal'), 'x'.repeat(100), { mode: 0o600 });
    assert.equal(codeOf(await ws.program(['up', '--json'])), 'data_folder_unknown');
    assert.equal(existsSync(ran()), false);
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'have its data folder taken over by svc adopt, and run what waits in it',
    lite: 'held: nothing runs, nothing is sent',
    strict: 'held: nothing runs, nothing is sent',
  },
  async () => {
    await plantQueued();
    rmSync(join(ws.env.SVC_HOME ?? '', 'data-folders'), { recursive: true });
    const db = new Database(join(data(), 'svc.db'));
    db.exec(`
      -- An engine that was told to end may have left some of its own.
      DELETE FROM delivery;
      INSERT INTO delivery (event_seq, event, message_id, url, body, state, created_at, first_at, next_at)
        VALUES (1, 'done', 'm', 'http://127.0.0.1:1/', '{}', 'pending', 1, 1, 1);
      UPDATE session SET run_id = 'known', cwd = '/etc', worktree = '/etc', repository = '/etc';
      INSERT INTO link_event (message_id, body, created_at) VALUES ('m', '{}', 1);
      INSERT INTO telemetry (one, counting_since, counted_seq, seen_schema) VALUES (1, 1, 0, 99);
      INSERT INTO telemetry_day (day, counts, is_due) VALUES ('2026-01-01', '{}', 1);
    `);
    db.close();
    const shown = await ws.program(['adopt']);
    assert.equal(shown.code, 2);
    assert.match(shown.stderr, /1 queued, 0 running/);
    assert.match(shown.stderr, /1 event,/);
    assert.equal(existsSync(ran()), false);
    const adopted = await ws.program(['adopt', '--yes']);
    assert.equal(adopted.code, 0, adopted.stderr);
    const sessions = await ws.svc(['worker', 'list', '--all', '--json']);
    assert.match((await ws.svc(['task', 'list'])).stdout, /innocent/);
    assert.doesNotMatch(sessions.stdout, /queued|"\/etc"/);
    assert.equal(existsSync(ran()), false);
    await ws.svc(['down']);
    const held = new Database(join(data(), 'svc.db'), { readonly: true });
    const row = held.prepare('SELECT state, run_id, cwd, worktree FROM session').get();
    assert.deepEqual(row, { state: 'ended', run_id: null, cwd: null, worktree: null });
    assert.deepEqual(held.prepare('SELECT state FROM delivery WHERE message_id = ?').pluck().all('m'), [
      'dead',
    ]);
    // Data for a foreign server is never sent.
    for (const table of ['link_event', 'telemetry', 'telemetry_day'])
      assert.equal(held.prepare(`SELECT count(*) FROM ${table}`).pluck().get(), 0, table);
    held.close();
    const again = await ws.program(['adopt']);
    assert.equal(again.code, 0);
    assert.match(again.stdout, /already belongs/);
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'have a database with triggers, views or damage taken over',
    lite: 'refused',
    strict: 'refused',
  },
  async () => {
    for (const change of [
      "CREATE TRIGGER t AFTER UPDATE ON session BEGIN UPDATE session SET state = 'queued' WHERE id = new.id; END",
      'ALTER TABLE lock RENAME TO l; CREATE VIEW lock AS SELECT * FROM l',
      'CREATE TABLE extra (x)',
      'CREATE INDEX evil ON task (abs(id))',
      'PRAGMA user_version = 0',
      'DROP INDEX session_one_live',
    ]) {
      await plantQueued();
      rmSync(join(ws.env.SVC_HOME ?? '', 'data-folders'), { recursive: true });
      const db = new Database(join(data(), 'svc.db'));
      db.exec(change);
      db.close();
      const before = snapshot(data());
      const refused = await ws.program(['adopt', '--yes', '--json']);
      assert.equal(codeOf(refused), 'data_folder_unknown', `${change}: ${refused.stdout}`);
      assert.equal(snapshot(data()), before);
      rmSync(data(), { recursive: true });
    }
    await plantQueued();
    rmSync(join(data(), 'id'));
    const bytes = readFileSync(join(data(), 'svc.db'));
    bytes.fill(0xff, 4096 * 3, 4096 * 9);
    writeFileSync(join(data(), 'svc.db'), bytes, { mode: 0o600 });
    assert.equal(codeOf(await ws.program(['adopt', '--yes', '--json'])), 'data_folder_unknown');
    spawnSync('truncate', ['-s', '20G', join(data(), 'svc.db')]);
    assert.equal(codeOf(await ws.program(['adopt', '--yes', '--json'])), 'data_folder_unknown');
    assert.equal(existsSync(ran()), false);
    // The other option, which leaves the folder unchanged.
    const fresh = await ws.program(['adopt', '--fresh', '--yes', '--json']);
    assert.equal(fresh.code, 0, fresh.stderr);
    assert.equal(lstatSync(fresh.json<{ moved: { to: string }[] }>().moved[0]?.to ?? '').isDirectory(), true);
    assert.equal((await ws.svc(['task', 'list', '--json'])).stdout.trim(), '[]');
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'make svc adopt --fresh move a foreign folder, or a link’s target',
    lite: 'refused; a link itself is moved',
    strict: 'refused; a link itself is moved',
  },
  async () => {
    const precious = join(ws.repository.folder, 'precious');
    mkdirSync(precious, { mode: 0o700 });
    writeFileSync(join(precious, 'key'), 'x');
    symlinkSync(precious, data());
    assert.equal((await ws.program(['adopt', '--yes', '--json'])).code, 3);
    assert.equal((await ws.program(['adopt', '--fresh', '--yes'])).code, 0);
    assert.deepEqual(readdirSync(precious), ['key']);
    assert.equal((await ws.svc(['task', 'list'])).code, 0);
    await ws.svc(['down']);
    const yaml = join(ws.root, 'svc.yaml');
    writeFileSync(yaml, `${readFileSync(yaml, 'utf8')}paths: { data: ${precious} }\n`);
    // Consents like a person who has not read the file.
    ws.agree();
    assert.equal(codeOf(await ws.program(['task', 'list', '--json'])), 'data_folder_unknown');
    assert.equal(codeOf(await ws.program(['adopt', '--fresh', '--yes', '--json'])), 'conflict');
    assert.deepEqual(readdirSync(precious), ['key']);
  },
);

hostile(
  {
    attacker: 'repository',
    tries: 'track its .svc, so that a checkout restores it',
    lite: 'refused until git tracks none of it',
    strict: 'refused until git tracks none of it',
  },
  async () => {
    await plantQueued();
    execFileSync('git', ['-C', ws.root, 'add', '--force', '.svc'], { env: ws.env });
    await refusedUntouchedTracked();
    const fresh = await ws.program(['adopt', '--fresh', '--yes']);
    assert.equal(fresh.code, 0, fresh.stderr);
    assert.equal(
      execFileSync('git', ['-C', ws.root, 'ls-files', '.svc'], { env: ws.env, encoding: 'utf8' }),
      '',
    );
    assert.equal((await ws.svc(['task', 'list', '--json'])).stdout.trim(), '[]');
    assert.equal(existsSync(ran()), false);
  },
);

async function refusedUntouchedTracked(): Promise<void> {
  for (const args of [['up'], ['adopt', '--yes']]) {
    const refused = await ws.program([...args, '--json']);
    assert.equal(codeOf(refused), 'data_folder_unknown', refused.stdout);
  }
}
