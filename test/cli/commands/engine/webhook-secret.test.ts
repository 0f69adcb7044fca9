import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { makeWorkspace } from '../../../support/workspaces/workspace.ts';

async function makeUnset(t: TestContext) {
  const ws = await makeWorkspace({ hosted: true });
  t.after(ws.close);
  const env = { SVC_WEBHOOK_SECRET: undefined };
  const file = join(ws.env.SVC_HOME ?? '', 'keys.env');
  const create = (...names: string[]) => ws.svc(['webhook', 'secret', ...names], { env });
  const read = () => readFileSync(file, 'utf8');
  return { ws, env, file, create, read };
}

describe('svc webhook secret', () => {
  test('a secret is created once, is readable only by its owner, and is never printed', async (t) => {
    const { ws, env, file, create, read } = await makeUnset(t);
    const { code, stdout, stderr } = await create();
    assert.equal(code, 0, stderr);
    const [, secret = ''] = /^SVC_WEBHOOK_SECRET=([0-9a-f]{64})\n$/.exec(read()) ?? assert.fail(read());
    assert.ok(!`${stdout}${stderr}`.includes(secret));
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.match((await create()).stdout, /SVC_WEBHOOK_SECRET is set already/);
    assert.equal(read(), `SVC_WEBHOOK_SECRET=${secret}\n`);
    assert.match((await ws.svc(['doctor'], { env })).stdout, /webhook\.secret_env +SVC_WEBHOOK_SECRET/);
  });

  test('the other lines of keys.env stay, and others can no longer read it', async (t) => {
    const { file, create, read, ws } = await makeUnset(t);
    mkdirSync(ws.env.SVC_HOME ?? '', { recursive: true });
    writeFileSync(file, '# mine\nCLOUD_KEY=x');
    chmodSync(file, 0o644);
    await create('SVC_NOTIFY_SECRET');
    assert.match(read(), /^# mine\nCLOUD_KEY=x\nSVC_NOTIFY_SECRET=[0-9a-f]{64}\n$/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
  });

  test('a name that is not a variable changes nothing', async (t) => {
    const { create } = await makeUnset(t);
    const { code, stderr } = await create('A=B');
    assert.equal(code, 2);
    assert.match(stderr, /"A=B" is not the name of a variable/);
  });
});
