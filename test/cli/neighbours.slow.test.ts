import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { EngineStatus, WireValue } from '../../engine/index.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

interface Sent {
  status: number;
  workspace: string | null;
  body: { code?: string; detail?: string; task_id?: string };
}

/** Two workspaces of one person, as on a machine that exports the secret for all programs. */
describe('two workspaces of one person', { timeout: 120_000 }, () => {
  let one: TestWorkspace;
  let other: TestWorkspace;
  before(async () => {
    one = await makeWorkspace();
    other = await makeWorkspace({ yaml: 'paths: { data: .svc }' });
    // Both workspaces share one machine home.
    other.env.SVC_HOME = one.env.SVC_HOME;
    other.agree();
    await other.svc(['config', 'set', 'workspace.name', 'the other']);
    await one.svc(['up']);
  });
  after(async () => {
    await other.close();
    await one.close();
  });

  const send = async (ws: TestWorkspace, addr: string): Promise<Sent> =>
    (await ws.svc(['webhook', 'test', '--addr', addr, '--json', '-a', 'scripted', '-p', 'x'])).json<Sent>();
  const tasks = async (ws: TestWorkspace): Promise<number> =>
    (await ws.svc(['task', 'list', '--json'])).json<unknown[]>().length;

  test('a test request is answered by its own workspace, which is named, and refused by the other', async () => {
    const addr = await one.receiver();
    const own = await send(one, addr);
    assert.deepEqual([own.status, own.workspace], [201, 'test']);
    for (const state of ['without a data folder', 'with one']) {
      const lost = await send(other, addr);
      assert.deepEqual([lost.status, lost.body.code, lost.workspace], [409, 'conflict', 'test'], state);
      assert.match(
        lost.body.detail ?? '',
        /belongs to workspace test, but the request is for workspace the other/,
      );
      await other.svc(['up']);
    }
    assert.deepEqual([await tasks(one), await tasks(other)], [1, 0]);
  });

  test('an untrusted caller learns no name of any workspace it requests', async () => {
    const addr = await one.receiver();
    for (const header of [{}, { 'x-svc-workspace': 'none somewhere' }]) {
      const answer = await fetch(`http://${addr}/task`, {
        method: 'POST',
        headers: {
          'x-svc-timestamp': String(Math.floor(Date.now() / 1000)),
          'x-svc-signature': '00',
          ...header,
        },
        body: '{}',
      });
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('x-svc-workspace'), null);
      assert.doesNotMatch(await answer.text(), /test/);
    }
    const unknown = await other.svc(['webhook', 'test', '--addr', addr, '-a', 'scripted', '-p', 'x'], {
      env: { SVC_WEBHOOK_SECRET: 'another secret' },
    });
    assert.match(unknown.stderr, /does not know the secret of workspace the other/);
  });

  test('the engine explains why its receiver is off: who has its port, or what is missing', async () => {
    const status = async (): Promise<WireValue<EngineStatus>> =>
      (await other.svc(['status', '--json'])).json<WireValue<EngineStatus>>();
    const restart = async (env: Record<string, string> = {}): Promise<string | null> => {
      await other.svc(['down']);
      await other.svc(['up'], { env });
      return (await status()).receiver_problem;
    };
    await other.svc(['config', 'set', 'ui.addr', await one.receiver()]);
    assert.match(
      (await restart()) ?? '',
      new RegExp(`is in use by the engine of ${one.root} \\(pid ${one.daemonPid()}\\)$`),
    );
    assert.match((await other.svc(['up'])).stdout, /receiver +off: .* by the engine of/);
    const stranger = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => stranger.once('listening', resolve));
    const { port } = stranger.address() as { port: number };
    await other.svc(['config', 'set', 'ui.addr', `127.0.0.1:${port}`]);
    assert.match((await restart()) ?? '', new RegExp(`is in use by pid ${process.pid}$`));
    stranger.close();
    assert.equal(await restart(), null);
    assert.equal(await restart({ SVC_WEBHOOK_SECRET: '' }), 'SVC_WEBHOOK_SECRET is not set');
    await other.svc(['config', 'set', 'ui.addr', '0.0.0.0:0']);
    assert.match((await restart()) ?? '', /is reachable from other machines/);
  });

  test('svc init gives the second workspace its own addresses, and says so', async () => {
    const init = async (name: string): Promise<{ text: string; yaml: string }> => {
      const folder = join(one.repository.folder, name);
      mkdirSync(folder);
      const ran = await one.svc(['init', '--dir', folder]);
      assert.equal(ran.code, 0, ran.stderr);
      return { text: ran.stdout, yaml: readFileSync(join(folder, 'svc.yaml'), 'utf8') };
    };
    const ports = (yaml: string): string[] =>
      [...yaml.matchAll(/^ {2}addr: \S+?:(\d+)$/gm)].map(([, port = '']) => port);
    await init('first');
    const made = [await init('second'), await init('third')];
    for (const { text, yaml } of made) {
      assert.equal(ports(yaml).length, 2, yaml);
      assert.match(
        text,
        /so this workspace has ui\.addr 127\.0\.0\.1:\d+ and gateway\.addr 127\.0\.0\.1:\d+/,
      );
    }
    assert.equal(new Set([...made.flatMap(({ yaml }) => ports(yaml)), '8790', '8788']).size, 6);
  });
});
