import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { until } from '../../support/wait.ts';
import { claudeSays, makeRig, type Rig } from './rig.ts';

describe('the way to the gateway', () => {
  let rig: Rig;
  let gateway: Server;
  let url: string;
  before(async () => {
    gateway = createServer().listen(0, '127.0.0.1');
    await new Promise((done) => gateway.once('listening', done));
    const addr = `127.0.0.1:${(gateway.address() as { port: number }).port}`;
    url = `http://${addr}`;
    rig = await makeRig({ yaml: `gateway: { addr: "${addr}" }\n` });
    await configure('gateway');
  });
  after(async () => {
    gateway.close();
    await rig.close();
  });

  async function configure(auth: string): Promise<void> {
    await rig.ws.svc(['config', 'set', 'agents.auth', JSON.stringify({ claude: auth })]);
    await rig.down();
    await rig.up();
  }

  function keysOf(id: string): number {
    const db = new Database(join(rig.ws.root, '.svc', 'svc.db'), { readonly: true });
    const { n } = db
      .prepare("SELECT count(*) AS n FROM virtual_key WHERE 's-' || session_id = ?")
      .get(id) as { n: number };
    db.close();
    return n;
  }

  const environment = (id: string): Record<string, string> =>
    JSON.parse(
      rig
        .log(id)
        .split('\n')
        .find((line) => line.startsWith('{"') && line.includes('SVC_SESSION')) ?? '{}',
    );

  test('is told to the agent with a key of its own run, which holds until its end', async () => {
    const { session_id } = await rig.run(['no-change', 'echo-env']);
    const ended = await rig.settled(session_id);
    assert.deepEqual([ended.failure, ended.auth], [null, 'gateway']);
    const env = environment(session_id);
    assert.equal(env.ANTHROPIC_BASE_URL, url);
    const key = env.ANTHROPIC_AUTH_TOKEN ?? '';
    assert.match(key, /^svc-vkey-/);
    assert.equal(env.SVC_VKEY, key);
    // No argument has it: those are for everybody on the machine to read.
    assert.ok(rig.starts().every((words) => words.every((word) => !word.includes(key))));
    const db = new Database(join(rig.ws.root, '.svc', 'svc.db'), { readonly: true });
    const row = db
      .prepare('SELECT session_id, revoked_at FROM virtual_key WHERE hash = ?')
      .get(createHash('sha256').update(key).digest()) as { session_id: number; revoked_at: number | null };
    db.close();
    assert.equal(`s-${row.session_id}`, session_id);
    assert.notEqual(row.revoked_at, null);
  });

  test('is left out of one dispatch by SVC_GATEWAY_BYPASS', async () => {
    const { session_id } = await rig.run(['no-change', 'echo-env'], { env: { SVC_GATEWAY_BYPASS: '1' } });
    assert.equal((await rig.settled(session_id)).auth, 'account');
    const env = environment(session_id);
    assert.deepEqual([env.ANTHROPIC_AUTH_TOKEN, env.SVC_VKEY], [undefined, undefined]);
  });

  test('is what the configuration says when a run starts, also of a session that has paused; a bypass stays', async () => {
    const limited = [
      'no-change',
      claudeSays.init('c-2'),
      claudeSays.limit(Date.now() + 86_400_000),
      claudeSays.result({ is_error: true, api_error_status: 429, result: 'usage limit', session_id: 'c-2' }),
    ];
    const routed = (await rig.run(limited)).session_id;
    const bypassing = (await rig.run(limited, { env: { SVC_GATEWAY_BYPASS: '1' } })).session_id;
    const auths = async () =>
      Promise.all([routed, bypassing].map(async (id) => (await rig.settled(id)).auth));
    assert.deepEqual(await auths(), ['gateway', 'account']);
    const resume = async (id: string) => {
      await rig.here().call('worker.resume', { session: id });
      await until(async () => (await rig.session(id)).state === 'ended');
      const { failure, runs } = await rig.session(id);
      assert.deepEqual([failure, runs], [null, 2]);
    };
    await resume(bypassing);
    await configure('account');
    await resume(routed);
    assert.deepEqual(await auths(), ['account', 'account']);
    assert.deepEqual([keysOf(routed), keysOf(bypassing)], [1, 0]);
    await configure('gateway');
  });

  test('ends the start when nothing is there, and nothing was run', async () => {
    const before = rig.starts().length;
    gateway.close();
    const { session_id } = await rig.run(['no-change']);
    assert.equal((await rig.settled(session_id)).failure?.code, 'gateway_unreachable');
    assert.equal(rig.starts().length, before);
  });

  test('a budget of tokens holds over all runs of a task', async () => {
    const env = { SVC_GATEWAY_BYPASS: '1', SVC_TASK_TOKEN_BUDGET: '120' };
    const first = await rig.run(
      ['no-change', claudeSays.result({ is_error: true, subtype: 'error_max_turns' })],
      { env },
    );
    const ended = await rig.settled(first.session_id);
    assert.deepEqual([ended.failure?.code, ended.token_budget], ['turn_limit', 120]);
    const again = await rig
      .here()
      .call<{ session_id: string }>('worker.resume', { session: first.session_id });
    const next = await rig.settled(again.session_id);
    assert.equal(next.failure?.code, 'budget_exceeded');
    assert.match(next.failure?.text ?? '', /has spent 147 of its 120 tokens/);
    await assert.rejects(rig.run([], { env: { SVC_TASK_TOKEN_BUDGET: 'much' } }), { code: 'config_invalid' });
  });
});
