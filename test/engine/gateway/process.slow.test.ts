import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { readGatewayRecord } from '../../../engine/gateway/record.ts';
import { type EngineClient, readDaemonRecord } from '../../../engine/index.ts';
import { MODEL, startUpstream, type Upstream } from '../../../fixtures/upstream/upstream.ts';
import { isRunning } from '../../support/processes/processes.ts';
import { awaitQuietDay, until } from '../../support/wait.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

/** Provider keys, one in each place that can hold one. */
const PLANTED = {
  environment: 'sk-planted-5f2c9d7e1b3a4860',
  keysEnv: 'sk-home-8d1e6a0c4b7f2935',
  svcYaml: 'sk-file-2b9f4e7d0c8a6153',
  aiYaml: 'sk-account-7a3c5e9b1d4f8026',
};
const CHAT = { model: MODEL, messages: [{ role: 'user', content: 'Hello' }] };

describe('the gateway as a process', () => {
  let ws: TestWorkspace;
  let upstream: Upstream;
  let client: EngineClient;
  before(async () => {
    await awaitQuietDay();
    upstream = await startUpstream();
    ws = await makeWorkspace({
      yaml: `gateway: { addr: "127.0.0.1:0" }
ai:
  mode: live
  providers:
    - { name: up, base_url: "${upstream.url}/v1", api_key_env: PLANTED_KEY, tier: local, model: "${MODEL}", context: 9000 }
    - { name: home, base_url: "${upstream.url}/v1", api_key_env: HOME_KEY, context: 9000 }
    - { name: file, base_url: "${upstream.url}/v1", api_key: ${PLANTED.svcYaml}, context: 9000 }
`,
      env: { PLANTED_KEY: PLANTED.environment },
    });
    const home = ws.env.SVC_HOME ?? '';
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'keys.env'), `HOME_KEY=${PLANTED.keysEnv}\n`, { mode: 0o600 });
    writeFileSync(
      join(home, 'ai.yaml'),
      `ai: { passthrough: { anthropic: { base_url: "${upstream.url}", api_key: ${PLANTED.aiYaml} } } }\n`,
      { mode: 0o600 },
    );
    client = await ws.connect();
  });
  after(async () => {
    await ws.close();
    await upstream.close();
  });
  const data = (): string => join(ws.root, '.svc');
  const record = () => readGatewayRecord(data(), readDaemonRecord(data())?.dataId ?? '');
  const post = (url: string, key: string, body: object, signal?: AbortSignal): Promise<Response> =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...(signal === undefined ? {} : { signal }),
    });

  test("the engine starts the gateway, which accepts a person's key immediately, and refuses it once removed", async () => {
    assert.equal(await client.call('gateway.status', {}), null);
    const { url } = await client.call('gateway.serve', {});
    const { key } = await client.call('gateway.add_key', { name: 'ada' });
    const answer = await post(url, key, CHAT);
    assert.equal(answer.status, 200, await answer.text());
    assert.equal(upstream.asked.at(-1)?.headers.authorization, `Bearer ${PLANTED.environment}`);
    await client.call('gateway.remove_key', { name: 'ada' });
    assert.equal((await post(url, key, CHAT)).status, 401);
    const state = await client.call('gateway.status', {});
    assert.equal(state?.mode, 'live');
  });

  test('provider keys are used, and appear in no answer, log, event, database, metric or argument', async () => {
    const { url } = await client.call('gateway.serve', {});
    const { key } = await client.call('gateway.add_key', { name: 'curious' });
    // The key is not logged even if a person has enabled the content log.
    const { logged } = await client.call('gateway.log_content', { key: 'curious' });
    const seen: string[] = [];
    const providers: Record<string, string> = {
      up: PLANTED.environment,
      home: PLANTED.keysEnv,
      file: PLANTED.svcYaml,
      anthropic: PLANTED.aiYaml,
    };
    for (const [name, secret] of Object.entries(providers)) {
      for (const fault of [
        'none',
        'status_401_with_key',
        'key_in_header',
        'key_within',
        'status_529',
      ] as const)
        for (const stream of [false, true]) {
          upstream.plan(fault);
          const answer = await post(url, key, { ...CHAT, model: `svc/${name}/${MODEL}`, stream });
          seen.push(JSON.stringify([...answer.headers]), await answer.text().catch(() => 'cut'));
          const { headers } = upstream.asked.at(-1)!;
          assert.equal(headers['x-api-key'] ?? headers.authorization?.slice(7), secret, `${name} ${fault}`);
        }
      // A whole answer that quotes the key.
      upstream.plan('status_401_with_key');
    }
    const live = await ws.svc(['doctor', '--live']);
    seen.push(live.stdout, live.stderr);
    upstream.plan('none');
    seen.push(JSON.stringify(await client.call('gateway.status', {})));
    const { text } = await client.call('gateway.metrics', {});
    assert.match(text, /svc_gateway_calls_total\{.*outcome="ok".*\} \d/);
    seen.push(text);
    for (const by of ['provider', 'model', 'person'] as const)
      seen.push(JSON.stringify(await client.call('gateway.usage', { by })));
    for (const args of [
      ['gateway', 'status', '--json'],
      ['gateway', 'usage'],
      ['config', 'show'],
      ['config', 'show', '--json'],
      ['doctor'],
    ]) {
      const ran = await ws.svc(args);
      seen.push(ran.stdout, ran.stderr);
    }
    seen.push(JSON.stringify(await client.call('event.list', {})));
    const gateway = record()?.pid ?? 0;
    const pids = [gateway, ws.daemonPid() ?? 0, ws.supervisorPid() ?? 0].filter((pid) => pid > 0);
    for (const pid of pids) seen.push(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
    seen.push(readFileSync(`/proc/${gateway}/environ`, 'utf8'));
    for (const [where, secret] of Object.entries(PLANTED)) {
      const found = seen.find((each) => each.includes(secret));
      assert.equal(found, undefined, `the key of ${where} occurs in: ${found?.slice(0, 300)}`);
      const files = execFileSync('sh', ['-c', `grep -rl -- '${secret}' '${data()}' || true`]).toString();
      assert.equal(files, '', `the key of ${where}`);
    }
    assert.match(readFileSync(logged[0]?.file ?? '', 'utf8'), /Hello/);
    await client.call('gateway.remove_key', { name: 'curious' });
  });

  test('the content of calls is logged for the named person, and not for a later key of that name', async () => {
    const { url } = await client.call('gateway.serve', {});
    const { key } = await client.call('gateway.add_key', { name: 'watched' });
    await assert.rejects(client.call('gateway.log_content', { key: 'nobody' }), { code: 'not_found' });
    await assert.rejects(client.call('gateway.log_content', { session: 's-99' }), { code: 'not_found' });
    const on = await ws.svc(['gateway', 'log', '--key', 'watched', '--json']);
    const [{ file }] = JSON.parse(on.stdout) as [{ file: string }];
    assert.match((await ws.svc(['gateway', 'status'])).stdout, /content +of key:watched is logged/);
    assert.equal((await post(url, key, CHAT)).status, 200);
    const before = await until(
      () => existsSync(file) && /^.*\n$/.exec(readFileSync(file, 'utf8'))?.[0],
      'the content of a call',
    );
    const off = await ws.svc(['gateway', 'log', '--key', 'watched', '--off']);
    assert.match(off.stderr, /the content of no call is logged/);
    assert.equal((await post(url, key, CHAT)).status, 200);
    await ws.svc(['gateway', 'log', '--key', 'watched']);
    await client.call('gateway.remove_key', { name: 'watched' });
    const again = await client.call('gateway.add_key', { name: 'watched' });
    assert.equal((await post(url, again.key, CHAT)).status, 200);
    assert.equal(readFileSync(file, 'utf8'), before);
    await client.call('gateway.remove_key', { name: 'watched' });
  });

  test('a stream continues while the engine is killed and restarted, which takes the gateway over', async () => {
    const { url } = await client.call('gateway.serve', {});
    const { key } = await client.call('gateway.add_key', { name: 'long' });
    const { pid } = record()!;
    upstream.plan('one_byte_chunks');
    const answer = await post(url, key, { ...CHAT, stream: true });
    await ws.crashDaemon();
    assert.match(await answer.text(), /\[DONE\]/);
    client = await ws.connect();
    assert.equal((await client.call('gateway.status', {}))?.pid, pid);
    upstream.plan('none');
    assert.equal((await post(url, key, CHAT)).status, 200);
  });

  test('a gateway that is killed in the middle of a stream has booked what it forwarded, and is restarted in place', async () => {
    const { url } = await client.call('gateway.serve', {});
    const { key } = await client.call('gateway.add_key', { name: 'cut' });
    const { pid } = record()!;
    const usage = async () =>
      (await client.call('gateway.usage', { by: 'person' })).rows.find((row) => row.key === 'cut');
    upstream.plan('stall_within');
    const answer = await post(url, key, { ...CHAT, stream: true });
    await answer.body?.getReader().read();
    await until(async () => ((await usage())?.tokens ?? 0) > 0, 'the call to be noted');
    process.kill(pid, 'SIGKILL');
    await until(() => !isRunning(pid));
    await until(() => {
      const next = record();
      return next !== null && next.pid !== pid && isRunning(next.pid);
    }, 'the next one');
    const after = await usage();
    assert.ok((after?.tokens ?? 0) > 0 && after?.estimated_tokens === after?.tokens);
    upstream.plan('none');
    assert.equal((await post(url, key, CHAT)).status, 200, 'at the same address');
  });

  test('svc doctor calls each provider once, and only with --live', async () => {
    const asked = (): number =>
      upstream.asked.filter(
        ({ path, headers }) =>
          path.endsWith('/chat/completions') && headers.authorization === `Bearer ${PLANTED.environment}`,
      ).length;
    const before = asked();
    const find = (text: string) =>
      (JSON.parse(text) as { check: string; state: string; found: string }[]).filter(({ check }) =>
        check.startsWith('provider up'),
      );
    assert.deepEqual(find((await ws.svc(['doctor', '--json'])).stdout), []);
    assert.equal(asked(), before);
    const [found, ...others] = find((await ws.svc(['doctor', '--live', '--json'])).stdout);
    assert.deepEqual([found?.check, found?.state, others], ['provider up', 'ok', []]);
    assert.match(found?.found ?? '', new RegExp(`^${MODEL} by chat answered in \\d+ ms$`));
    assert.equal(asked(), before + 1);
    upstream.plan('status_401_with_key');
    const { stdout, code } = await ws.svc(['doctor', '--live', '--json']);
    upstream.plan('none');
    assert.equal(code, 1);
    assert.match(
      find(stdout)[0]?.found ?? '',
      /up refuses the key that the gateway has for it \(status 401\)/,
    );
    for (const secret of Object.values(PLANTED)) assert.ok(!stdout.includes(secret));
    assert.ok(
      (await client.call('gateway.keys', {})).every(({ name }) => !name.startsWith('doctor')),
      'its key is removed afterwards',
    );
  });

  test('a gateway that learns the context sizes of its models', async () => {
    const { models } = await client.call('gateway.serve', {});
    // Other models go to a provider that does not list its models.
    assert.equal(models?.other, null);
    assert.deepEqual(
      models?.named.find(({ name }) => name === MODEL),
      { name: MODEL, context: 9000, output: null },
    );
    const today = await client.call('gateway.today', {});
    assert.deepEqual([today.mode, today.is_running, today.hours.length], ['live', true, 24]);
    assert.equal(
      today.hours.reduce((sum, each) => sum + each, 0),
      today.total.tokens,
    );
    assert.deepEqual(today.groups.provider[0]?.key, 'up');
  });

  test('svc.yaml takes effect immediately, and svc gateway test tries every protocol', async () => {
    await ws.svc(['config', 'set', 'ai.mode', 'stub']);
    await until(async () => (await client.call('gateway.status', {}))?.mode === 'stub');
    const trial = await ws.svc(['gateway', 'test', '--json']);
    assert.equal(trial.code, 0, trial.stderr);
    const rows = trial.json() as { status: number; is_stub: boolean }[];
    assert.deepEqual(
      rows.map(({ status, is_stub }) => [status, is_stub]),
      [1, 2, 3, 4].map(() => [200, true]),
    );
  });

  test("svc gateway run starts a person's own agent, whose key ends with it; svc gateway env prints one for a shell", async () => {
    const bin = join(ws.repository.folder, 'bin');
    mkdirSync(bin);
    const ask = `const { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: key } = process.env;
const answer = await fetch(url + '/v1/messages', { method: 'POST', headers: { authorization: 'Bearer ' + key }, body: '{"messages":[]}' });
console.log(JSON.stringify({ url, key, status: answer.status, words: process.argv.slice(2) }));
process.exit(7);`;
    writeFileSync(join(bin, 'ask.mjs'), ask);
    writeFileSync(
      join(bin, 'claude'),
      `#!/bin/sh\nexec '${process.execPath}' '${join(bin, 'ask.mjs')}' "$@"\n`,
      {
        mode: 0o755,
      },
    );
    const PATH = `${bin}:${ws.env.PATH}`;
    const ran = await ws.program(['gateway', 'run', 'claude', '--', '-p', 'say "it"'], { env: { PATH } });
    assert.equal(ran.code, 7, ran.stderr);
    const { url, key, status, words } = JSON.parse(ran.stdout);
    assert.equal(status, 200);
    assert.deepEqual(words.slice(-2), ['-p', 'say "it"']);
    assert.ok(!words.join(' ').includes(key), 'no argument contains the key');
    assert.equal((await post(url, key, CHAT)).status, 401);
    // Options of the agent's own screen do not belong to its other commands.
    writeFileSync(join(bin, 'opencode'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
    const other = await ws.program(['gateway', 'run', 'opencode', 'run', 'hello'], { env: { PATH } });
    assert.match(other.stdout, /^run hello$/m, other.stderr);
    const told = await ws.svc(['gateway', 'env', 'claude', '--name', 'shell']);
    assert.equal(told.code, 0, told.stderr);
    const line = `eval "$ROUTE"; claude -p 'say "it"'`;
    const sh = (): { key: string; status: number; words: string[] } =>
      JSON.parse(
        spawnSync('sh', ['-c', line], { env: { PATH, ROUTE: told.stdout }, encoding: 'utf8' }).stdout,
      );
    const first = sh();
    assert.deepEqual([first.status, first.words.slice(-2)], [200, ['-p', 'say "it"']]);
    assert.ok(first.words.some((word) => word.startsWith('--settings=')));
    assert.ok(!first.words.join(' ').includes(first.key) && !told.stderr.includes(first.key));
    assert.match(told.stderr, /the key shell is valid until svc gateway keys remove shell/);
    await ws.svc(['gateway', 'keys', 'remove', 'shell']);
    assert.equal(sh().status, 401);

    const gemini = (await ws.svc(['gateway', 'env', 'gemini', '--name', 'g', '--json'])).json() as {
      env: Record<string, string>;
      files: string[];
    };
    assert.ok(gemini.files[0]?.startsWith(gemini.env.GEMINI_CLI_HOME ?? '-') && existsSync(gemini.files[0]));
    await ws.svc(['gateway', 'keys', 'remove', 'g']);
    assert.ok(!existsSync(gemini.files[0]!));
    const fish = await ws.svc(['gateway', 'env', 'codex', '--shell', 'fish']);
    assert.match(
      fish.stdout,
      /^set -gx SVC_VKEY 'svc-vkey-[\w-]+'\nfunction codex; command codex '-c' .* \$argv; end\n$/,
    );
    assert.match((await ws.svc(['gateway', 'env', 'cursor'])).stderr, /cannot be sent through the gateway/);
    for (const args of [
      ['env', 'clod'],
      ['run', 'clod'],
      ['env', 'cursor'],
    ]) {
      const { stderr } = await ws.svc(['gateway', ...args]);
      assert.match(stderr, /agents that can: (?:[a-z-]+, )*claude, (?:[a-z-]+, )*codex, /, args.join(' '));
    }
    const unknown = await ws.svc(['gateway', 'run', 'nobody']);
    assert.match(unknown.stderr, /send "nobody" through the gateway/);
  });

  test('the key of svc gateway run ends with it, also when it is killed', async () => {
    const bin = join(ws.repository.folder, 'killed');
    const told = join(bin, 'told.json');
    mkdirSync(bin);
    // The agent outlives its starter and tries the key again.
    const ask = `import { writeFileSync, renameSync, readFileSync } from 'node:fs';
const { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: key } = process.env;
const ask = async () => (await fetch(url + '/v1/messages', { method: 'POST', headers: { authorization: 'Bearer ' + key }, body: '{"messages":[]}' })).status;
const parent = process.ppid;
const before = await ask();
process.kill(parent, 'SIGKILL');
while (process.ppid === parent) await new Promise((next) => setImmediate(next));
writeFileSync('${told}.part', JSON.stringify([before, await ask()]));
renameSync('${told}.part', '${told}');`;
    writeFileSync(join(bin, 'ask.mjs'), ask);
    writeFileSync(join(bin, 'claude'), `#!/bin/sh\nexec '${process.execPath}' '${join(bin, 'ask.mjs')}'\n`, {
      mode: 0o755,
    });
    const PATH = `${bin}:${ws.env.PATH}`;
    await ws.program(['gateway', 'run', 'claude'], { env: { PATH } });
    const answers = await until(
      () => existsSync(told) && readFileSync(told, 'utf8'),
      'the agent to have asked',
    );
    assert.deepEqual(JSON.parse(answers), [200, 401]);
    const names = (await client.call('gateway.keys', {})).map(({ name }) => name);
    assert.ok(!names.some((name) => name.startsWith('claude-')), names.join());
    await assert.rejects(client.call('gateway.add_key', { name: 'nobody', pid: 2 ** 22 + 1 }), {
      code: 'usage',
    });
  });

  test('the gateway ends with the engine when no worker runs', async () => {
    const { pid } = record()!;
    await ws.svc(['down']);
    await until(() => !isRunning(pid));
    assert.equal(record(), null);
  });
});
