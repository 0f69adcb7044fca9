import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { until } from '../../../support/wait.ts';
import { makeWorkspace, SECRET, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('a secret for each route', () => {
  test('routes with a secret are open, samples are signed with it, and config stores it as a map', async (t) => {
    const ws = await makeWorkspace({ env: { SVC_CHAT_SECRET: 'a secret of the chat alone' } });
    t.after(() => ws.close());
    const set = (key: string, value: string) => ws.svc(['config', 'set', key, value]);
    assert.equal((await set('webhook.templates', '{ fix: { agent: scripted, prompt: x } }')).code, 0);
    assert.equal(
      (await set('webhook.secret_env', '{ task: SVC_WEBHOOK_SECRET, chat: SVC_CHAT_SECRET }')).code,
      0,
    );
    assert.equal((await set('webhook.secret_env.chat', 'SVC_CHAT_SECRET')).code, 0);
    const addr = await ws.receiver();
    const send = (...words: string[]) => ws.svc(['webhook', 'test', '--addr', addr, '--json', ...words]);
    const chat = (await send('--route', 'chat', '--template', 'fix')).json() as { status: number };
    const task = (await send('--template', 'fix')).json() as { status: number };
    assert.deepEqual([chat.status, task.status], [200, 201]);
    const plain = await send('--prompt', 'to the default agent');
    assert.equal(plain.json<{ status: number }>().status, 201, plain.stderr);
    const unasked = await send();
    assert.match(unasked.stderr, /a sample task needs --prompt/);
    const unknown = await ws.svc(['webhook', 'test', '--addr', addr, '-a', 'nope', '-p', 'x']);
    assert.match(unknown.stdout, /^http +422\n.*\nerror +unknown_agent\ndetail +no agent "nope"/);
    const closed = await send('--route', 'approve', '--decision', 'd-1');
    assert.match(closed.stderr, /no variable for decisions: that route is closed/);
    assert.equal((await set('webhook.secret_env.task', 'SVC_NOT_THERE')).code, 0);
    const refused = await ws.svc(['webhook', 'serve', '--addr', '127.0.0.1:0']);
    assert.match(refused.stderr, /SVC_NOT_THERE is not set \(webhook\.secret_env\.task\)/);
  });
});

describe('svc webhook test where ui.addr has port 0', () => {
  test('svc webhook test finds where the receiver listens, and says when none does', async (t) => {
    const ws = await makeWorkspace();
    t.after(() => ws.close());
    assert.equal((await ws.svc(['config', 'set', 'ui.addr', '127.0.0.1:0'])).code, 0);
    const none = await ws.svc(['webhook', 'test', '--prompt', 'x', '--agent', 'scripted']);
    assert.match(none.stderr, /engine|receiver/);
    assert.doesNotMatch(none.stderr, /127\.0\.0\.1:0/);
    const address = await ws.receiver();
    assert.doesNotMatch(address, /:0$/);
    const sent = await ws.svc(['webhook', 'test', '--prompt', 'x', '--agent', 'scripted', '--json']);
    assert.equal(sent.json<{ status: number }>().status, 201, sent.stderr);
  });
});

describe('svc webhook serve', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace();
  });
  after(() => ws.close());

  async function serve(
    ...args: string[]
  ): Promise<{ child: ChildProcess; address: string; output: () => string; stop(): Promise<number | null> }> {
    const child = spawn(process.execPath, [SVC, 'webhook', 'serve', ...args], {
      cwd: ws.root,
      env: ws.env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    child.stderr.on('data', (chunk) => (output += chunk));
    const address = await until(() => /receiver on http:\/\/(\S+)/.exec(output)?.[1], 'the receiver');
    return {
      child,
      address,
      output: () => output,
      async stop() {
        child.kill('SIGINT');
        const [code] = (await once(child, 'exit')) as [number | null];
        return code;
      },
    };
  }

  const send = (address: string, ...args: string[]) =>
    ws.svc(['webhook', 'test', '--addr', address, '--json', ...args]);

  test('every address that others can reach is refused, unless it is allowed', async () => {
    for (const addr of [
      '0.0.0.0:0',
      ':0',
      '8790',
      '[::]:0',
      '192.168.1.5:0',
      '10.0.0.1:0',
      '[fe80::1]:0',
      '[::ffff:10.0.0.1]:0',
    ]) {
      const refused = await ws.svc(['webhook', 'serve', '--addr', addr, '--json']);
      assert.equal(refused.code, 2, `${addr}: ${refused.stdout}${refused.stderr}`);
    }
    const allowed = await serve('--addr', '0.0.0.0:0', '--allow-remote');
    assert.equal(await allowed.stop(), 0);
  });

  test("svc webhook serve stops immediately when the secret's variable is unset, and never prints a secret", async () => {
    const refused = await ws.svc(['webhook', 'serve', '--addr', '127.0.0.1:0', '--json'], {
      env: { SVC_WEBHOOK_SECRET: '' },
    });
    assert.equal(refused.code, 1);
    assert.equal(refused.json<{ error: { code: string } }>().error.code, 'secret_missing');
  });

  test('svc webhook serve hosts the engine when none runs, answers every route, and prints its access log', async () => {
    const served = await serve('--addr', '127.0.0.1:0');
    const task = await send(served.address, '--agent', 'scripted', '--prompt', 'say hello', '--dispatch');
    const { body } = task.json<{ body: { task_id: string; decision_id: string } }>();
    const polled = await send(served.address, '--route', 'poll', '--decision', body.decision_id);
    assert.equal(polled.json<{ body: { state: string } }>().body.state, 'pending');
    const approved = await send(served.address, '--route', 'approve', '--decision', body.decision_id);
    assert.equal(approved.json<{ body: { state: string } }>().body.state, 'approved');
    assert.equal(
      (await send(served.address, '--route', 'chat', '--template', 'status', '--prompt', 't-1')).code,
      0,
    );
    assert.equal((await send(served.address, '--route', 'codehost', '--prompt', 'an issue')).code, 0);
    const wrong = await send(served.address, '--agent', 'no-such-agent', '--prompt', 'x');
    assert.equal(wrong.code, 1);
    await until(() => /POST \/task 422 .*unknown_agent/.test(served.output()), 'the access log');
    assert.match(served.output(), /POST \/task 201/);
    assert.doesNotMatch(served.output(), new RegExp(SECRET));
    assert.doesNotMatch(served.output(), /say hello/);
    assert.equal(await served.stop(), 0);
    assert.equal((await ws.svc(['status'])).code, 4, 'the engine has ended too');
  });

  test('a running engine borrows the address and the secret, and returns them at the end', async () => {
    await ws.svc(['up'], { env: { SVC_WEBHOOK_SECRET: '' } });
    const served = await serve('--addr', '127.0.0.1:0');
    assert.match(served.output(), /in the engine/);
    assert.equal((await send(served.address, '--agent', 'scripted', '--prompt', 'x')).code, 0);
    await until(() => /POST \/task 201/.test(served.output()), 'the access log');
    assert.equal(await served.stop(), 0);
    await until(
      async () =>
        (await ws.svc(['status', '--json'])).json<{ receivers: unknown[] }>().receivers.length === 0,
      'the receiver to close',
    );
    const gone = await send(served.address, '--agent', 'scripted', '--prompt', 'x');
    assert.equal(gone.json<{ error: { code: string } }>().error.code, 'engine_unreachable');
  });

  test('an address in use is named', async () => {
    const served = await serve('--addr', '127.0.0.1:0');
    const second = await ws.svc(['webhook', 'serve', '--addr', served.address, '--json']);
    assert.equal(second.json<{ error: { code: string } }>().error.code, 'address_in_use');

    const other = await makeWorkspace();
    const hosting = await other.svc(['webhook', 'serve', '--addr', served.address, '--json']);
    assert.equal(hosting.json<{ error: { code: string } }>().error.code, 'address_in_use');
    assert.deepEqual(other.survivors(), [], 'the host process has ended too');
    await other.close();
    await served.stop();
  });
});
