import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { SvcError } from '../../../engine/core/base/errors.ts';
import { findWorkspace, openEngine, readDaemonRecord } from '../../../engine/index.ts';
import { until } from '../../support/wait.ts';
import { awaitEvent } from '../../support/workspaces/events.ts';
import { isRunning, makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

describe('the host of a workspace', () => {
  let ws: TestWorkspace;
  const data = () => join(ws.root, '.svc');
  before(async () => {
    ws = await makeWorkspace();
    await ws.svc(['up']);
  });
  after(() => ws.close());

  test('a second host is refused with the pid of the first', async () => {
    await assert.rejects(
      openEngine({ file: findWorkspace({ cwd: ws.root, env: ws.env }).file, env: ws.env }),
      (error: SvcError) => {
        assert.equal(error.code, 'already_running');
        assert.equal(error.data.pid, ws.daemonPid());
        return true;
      },
    );
    const second = await ws.program(['daemon', '--json']);
    assert.equal(second.code, 5);
    assert.match(second.stderr, new RegExp(`pid ${ws.daemonPid()}`));
  });

  test('the host keeps its files private: folder 0700, socket, database and record 0600', () => {
    const mode = (path: string) => statSync(path).mode & 0o777;
    assert.equal(mode(data()), 0o700);
    for (const name of ['svc.sock', 'svc.db', 'daemon.json', 'host.lock']) {
      assert.equal(mode(join(data(), name)), 0o600, name);
    }
  });

  async function http(
    path: string,
    headers: Record<string, string>,
  ): Promise<{ status: number; body: string; type: string }> {
    const { http: address } = readDaemonRecord(data()) ?? assert.fail();
    const sent = request({ ...address, path, headers });
    sent.end();
    const [response] = await once(sent, 'response');
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk);
    return {
      status: response.statusCode,
      body: Buffer.concat(chunks).toString(),
      type: response.headers['content-type'],
    };
  }

  test('the host answers /healthz only to its token, its own Host and no foreign Origin', async () => {
    const { token } = readDaemonRecord(data()) ?? assert.fail();
    const authorization = `Bearer ${token}`;
    const healthy = await http('/healthz', { authorization });
    assert.equal(healthy.status, 200);
    assert.equal(JSON.parse(healthy.body).pid, ws.daemonPid());
    assert.equal((await http('/healthz', {})).status, 401);
    assert.equal((await http('/healthz', { authorization: 'Bearer wrong' })).status, 401);
    const rebound = await http('/healthz', { authorization, host: 'evil.example:80' });
    assert.deepEqual([rebound.status, JSON.parse(rebound.body).code], [403, 'host_refused']);
    assert.match(rebound.type, /problem\+json/);
    assert.equal((await http('/healthz', { authorization, origin: 'https://evil.example' })).status, 403);
    assert.equal(
      (await http('/healthz', { authorization, origin: 'http://127.0.0.1.evil.example' })).status,
      403,
    );
    assert.equal((await http('/other', { authorization })).status, 404);
  });

  test('the host answers each malformed line of JSON-RPC 2.0 with its own error', async () => {
    const socket = connectSocket(readDaemonRecord(data())?.socket ?? '');
    const lines: { id: unknown; error?: { code: number; data?: { code: string } } }[] = [];
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk;
      const parts = text.split('\n');
      text = parts.pop() ?? '';
      for (const part of parts) lines.push(JSON.parse(part));
    });
    const ask = async (line: string) => {
      const count = lines.length;
      socket.write(`${line}\n`);
      await until(() => lines.length > count, line);
      return lines.at(-1)!;
    };
    assert.equal((await ask('this is not JSON')).error?.code, -32700);
    assert.equal((await ask('{"jsonrpc":"2.0","id":1,"method":"no.such"}')).error?.code, -32601);
    const early = await ask('{"jsonrpc":"2.0","id":2,"method":"task.list"}');
    assert.deepEqual([early.id, early.error?.data?.code], [2, 'usage']);
    const wrong = await ask('{"jsonrpc":"2.0","id":3,"method":"hello","params":{"protocol":1,"pid":"x"}}');
    assert.equal(wrong.error?.data?.code, 'fields_invalid');
    socket.destroy();
    assert.equal((await ws.svc(['status'])).code, 0);
  });

  test('the host lets a client resume where it stopped, over a restart, and misses nothing', async () => {
    const first = await ws.connect();
    const from = first.welcome.last_seq;
    await first.call('task.add', { title: 'one' });
    const one = await awaitEvent(first, (event) => event.kind === 'task_created', from);
    first.close();
    await ws.svc(['task', 'add', 'two']);
    await ws.killDaemon();
    await ws.svc(['task', 'add', 'three']);
    const again = await ws.connect();
    const titles: unknown[] = [];
    await new Promise<void>((resolve) => {
      void again.subscribe(
        'events.subscribe',
        { after: one.seq, log_id: again.welcome.log_id },
        ({ params }) => {
          const event = params.event as { kind: string; data: { title: string } };
          if (event.kind === 'task_created') titles.push(event.data.title);
          if (titles.length === 2) resolve();
        },
      );
    });
    assert.deepEqual(titles, ['two', 'three']);
  });

  test('the host asks a client whose resume point belongs to another log to start over', async () => {
    const client = await ws.connect();
    const answer = await client.subscribe<{ subscription: number; reset: boolean; from: number }>(
      'events.subscribe',
      { after: 1, log_id: 'of a data folder that was deleted' },
      () => undefined,
    );
    assert.deepEqual([answer.reset, answer.from], [true, client.welcome.last_seq]);
  });

  test('the host refuses every change by an actor who is not listed, and shows lists', async () => {
    await ws.svc(['config', 'set', 'policy.actors', '[ada]']);
    await ws.svc(['config', 'set', 'policy.mode', 'allowlist']);
    const as = (actor: string) => ({ env: { SVC_ACTOR: actor } });
    await until(
      async () => (await ws.svc(['task', 'add', 'x'], as('eve'))).code === 3,
      'the policy to be taken',
    );
    const refused = await ws.svc(['task', 'add', 'x', '--json'], as('eve'));
    assert.equal(refused.json<{ error: { code: string } }>().error.code, 'actor_denied');
    assert.equal((await ws.svc(['task', 'list'], as('eve'))).code, 0);
    assert.equal((await ws.svc(['task', 'add', 'x'], as('ada'))).code, 0);

    // From outside, a task is always created, but an unlisted sender can approve neither in advance nor afterwards.
    const addr = await ws.receiver();
    const send = (...args: string[]) => ws.svc(['webhook', 'test', '--addr', addr, '--json', ...args]);
    const made = await send('-a', 'scripted', '-p', 'x', '--dispatch', '--approve');
    const { body } = made.json<{ body: { dispatched: boolean; decision_id: string } }>();
    assert.equal(body.dispatched, false);
    const denied = await send('--route', 'approve', '--decision', body.decision_id);
    assert.equal(denied.json<{ body: { code: string } }>().body.code, 'actor_denied');
    assert.equal((await ws.svc(['decision', 'deny', body.decision_id, 'enough'], as('ada'))).code, 0);
    await ws.svc(['config', 'set', 'policy.mode', 'solo'], as('ada'));
    await until(
      async () => (await ws.svc(['task', 'add', 'x'], as('eve'))).code === 0,
      'the policy to be taken',
    );
  });

  test('the host stops on request: the socket and the record are gone, and the next start works', async () => {
    const pid = ws.daemonPid() ?? 0;
    assert.equal((await ws.svc(['down'])).code, 0);
    assert.equal(isRunning(pid), false);
    assert.equal(readDaemonRecord(data()), null);
    assert.equal((await ws.svc(['status'])).code, 4);
    assert.equal((await ws.svc(['up'])).code, 0);
  });

  test('one client at a time starts the host, and one that died while starting it blocks no other', async () => {
    const starting = join(data(), 'starting');
    await ws.svc(['down']);
    // Another client is starting it: this process.
    writeFileSync(starting, `${process.pid}\n`);
    const up = ws.svc(['up']);
    assert.equal((await ws.svc(['status'])).code, 4);
    rmSync(starting);
    assert.equal((await up).code, 0);
    await ws.svc(['down']);
    const { pid } = spawnSync('true');
    writeFileSync(starting, `${pid}\n`);
    assert.equal((await ws.svc(['up'])).code, 0);
    assert.equal(existsSync(starting), false);
  });

  test('a host whose HTTP address is taken fails immediately with the address, and leaves nothing behind', async () => {
    const folder = join(ws.repository.folder, 'taken');
    mkdirSync(folder);
    const { http: address } = readDaemonRecord(data()) ?? assert.fail();
    writeFileSync(join(folder, 'svc.yaml'), `daemon: { addr: "127.0.0.1:${address.port}" }\n`);
    const refused = await ws.svc(['up', '--json'], { cwd: folder });
    assert.equal(refused.json<{ error: { code: string } }>().error.code, 'address_in_use');
    assert.equal(readDaemonRecord(join(folder, '.svc')), null);
    assert.equal((await ws.svc(['status'], { cwd: folder })).code, 4);
  });

  test('the host works below a path that is too long for a socket', async () => {
    const deep = join(
      ws.repository.folder,
      ...Array.from({ length: 8 }, (_, index) => `a-rather-long-folder-name-${index}`),
    );
    mkdirSync(deep, { recursive: true });
    writeFileSync(join(deep, 'svc.yaml'), 'workspace: { name: deep }\n');
    assert.equal((await ws.svc(['task', 'add', 'deep down'], { cwd: deep })).code, 0);
    assert.equal((await ws.svc(['down'], { cwd: deep })).code, 0);
  });

  test('clients find a host whose data folder was moved', async () => {
    const moved = join(ws.repository.folder, 'moved');
    mkdirSync(moved);
    writeFileSync(join(moved, 'svc.yaml'), 'paths: { data: elsewhere/data }\n');
    assert.equal((await ws.svc(['task', 'add', 'there'], { cwd: moved })).code, 0);
    assert.equal(statSync(join(moved, 'elsewhere', 'data', 'svc.db')).isFile(), true);
    assert.equal(statSync(join(moved, '.svc'), { throwIfNoEntry: false }), undefined);
    assert.equal((await ws.svc(['task', 'list'], { cwd: moved })).stdout.includes('there'), true);
    assert.equal((await ws.svc(['down'], { cwd: moved })).code, 0);
  });
});
