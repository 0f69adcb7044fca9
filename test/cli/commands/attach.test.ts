import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../support/wait.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

/** Prints what a run of gemini prints, however it receives the prompt; for a person it prints its arguments. */
const GEMINI = `#!/bin/sh
case "$*" in *--output-format*)
  echo '{"type":"init","session_id":"g-1","model":"a-model"}'
  echo '{"type":"result","status":"success"}'; exit 0;;
esac
echo "words:$*:"
echo "home:$GEMINI_CLI_HOME:"
echo "url:$GOOGLE_GEMINI_BASE_URL:"
echo "key:$GEMINI_API_KEY:"
exit 3
`;

/** An agent that stores its conversations in the person's home on every route. */
const QWEN = `#!/bin/sh
echo '{"type":"system","subtype":"init","session_id":"q-1","model":"a-model"}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"q-1"}'
`;

test('a person enters a session the way its runs did', async (t) => {
  const gateway = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => gateway.once('listening', done));
  t.after(() => gateway.close());
  const addr = `127.0.0.1:${(gateway.address() as { port: number }).port}`;
  const ws = await makeWorkspace({
    yaml: `gateway: { addr: "${addr}" }\n`,
    // Another program listens there, so the engine does not start a gateway.
    env: { SVC_SKIP_GATEWAY_AUTOSTART: '1' },
  });
  t.after(ws.close);
  const bin = join(ws.repository.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'gemini'), GEMINI, { mode: 0o755 });
  writeFileSync(join(bin, 'qwen'), QWEN, { mode: 0o755 });
  ws.env.PATH = `${bin}:${ws.env.PATH}`;
  await ws.svc(['config', 'set', 'agents.auth', '{ "qwen": "gateway" }']);
  const client = await ws.connect();
  async function worked(agent: string): Promise<string> {
    const { task_id } = await client.call('task.add', { body: 'look', agent });
    const { session } = await client.call('task.run', { id: task_id });
    assert.ok(session);
    await until(async () => {
      const { state, failure } = await client.call('session.show', {
        session: session.session_id,
      });
      assert.equal(failure, null);
      return state === 'ended';
    });
    return session.session_id;
  }
  const [id, other] = [await worked('gemini'), await worked('qwen')];
  const attach = (...words: string[]) => ws.program(['worker', 'attach', id, ...words]);
  const given = (stdout: string, name: string) => new RegExp(`^${name}:(.*):$`, 'm').exec(stdout)?.[1];

  const routed = await attach();
  assert.equal(routed.code, 3, routed.stderr);
  assert.match(routed.stderr, /through the gateway/);
  const home = join(ws.root, '.svc', 'agents', id, 'agent', 'gemini');
  assert.deepEqual(
    ['words', 'home', 'url'].map((name) => given(routed.stdout, name)),
    ['--resume=g-1', home, `http://${addr}`],
  );
  assert.match(given(routed.stdout, 'key') ?? '', /^svc-vkey-/);
  const settings = readFileSync(join(home, '.gemini', 'settings.json'), 'utf8');
  assert.ok(JSON.parse(settings).mcpServers.svc, settings);

  const printed = await ws.svc(['worker', 'attach', id, '--print']);
  assert.equal(printed.code, 2);
  assert.match(printed.stderr, /--print --account/);
  const line = (await ws.svc(['worker', 'attach', id, '--print', '--account'])).stdout;
  assert.match(line, /gemini$/m);
  assert.doesNotMatch(line, /vkey|resume/);
  const found = (await ws.svc(['worker', 'attach', other, '--print', '--account'])).stdout;
  assert.match(found, /qwen .*--resume=q-1/);

  gateway.close();
  const alone = await ws.svc(['worker', 'attach', id]);
  assert.equal(alone.code, 1);
  assert.match(alone.stderr, /nothing listens at gateway\.addr[\s\S]*svc worker attach s-1 --account/);
  const own = await attach('--account');
  assert.match(own.stderr, /with your own login, in a new conversation/);
  assert.deepEqual(
    ['words', 'home', 'url', 'key'].map((name) => given(own.stdout, name)),
    ['', '', '', ''],
  );
});
