import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import Database from 'better-sqlite3';
import { until } from '../../support/wait.ts';
import { claudeSays, makeRoutedRig, type RoutedRig } from './rig.ts';

describe('the route to the gateway', () => {
  let rig: RoutedRig;
  before(async () => {
    rig = await makeRoutedRig();
    await configure('gateway');
  });
  after(() => rig.close());

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

  /** Returns the row of an issued key. */
  function keyRow(key = ''): { session_id: number; revoked_at: number | null } {
    const db = new Database(join(rig.ws.root, '.svc', 'svc.db'), { readonly: true });
    const row = db
      .prepare('SELECT session_id, revoked_at FROM virtual_key WHERE hash = ?')
      .get(createHash('sha256').update(key).digest());
    db.close();
    return (row as ReturnType<typeof keyRow> | undefined) ?? assert.fail('no such key was issued');
  }
  const holds = (key?: string): boolean => keyRow(key).revoked_at === null;

  test('the agent gets the route with a key that is valid until its run ends', async () => {
    const { session_id } = await rig.run(['no-change', 'echo-env']);
    const ended = await rig.settled(session_id);
    assert.deepEqual([ended.failure, ended.auth], [null, 'gateway']);
    const env = rig.environment(session_id);
    assert.equal(env.ANTHROPIC_BASE_URL, rig.url);
    const key = env.ANTHROPIC_AUTH_TOKEN ?? '';
    assert.match(key, /^svc-vkey-/);
    assert.equal(env.SVC_VKEY, key);
    // The key is not in the arguments, because every user of the machine can read those.
    assert.ok(rig.starts().every((words) => words.every((word) => !word.includes(key))));
    const row = keyRow(key);
    assert.equal(`s-${row.session_id}`, session_id);
    assert.notEqual(row.revoked_at, null);
  });

  test('the route is reported as bypassed when an agent reports tokens that the books do not have', async () => {
    const { session_id } = await rig.run(['no-change', claudeSays.init('c-9'), claudeSays.result()]);
    assert.equal((await rig.settled(session_id)).auth, 'gateway');
    const leaks = (await rig.here().call('usage.status', { view: 'leaks' })) as {
      bypassing_sessions: { session_id: string; tokens: number }[];
    };
    assert.deepEqual(
      leaks.bypassing_sessions.find((each) => each.session_id === session_id),
      { session_id, agent: 'claude', tokens: 147 },
    );
    const rules = await rig.here().call('usage.status', { view: 'governance' });
    assert.deepEqual(
      [rules.mode, rules.budget_tokens_day, rules.spent_tokens_day, rules.cost_usd_day, rules.policy],
      ['stub', 0, 0, null, 'solo'],
    );
    assert.deepEqual(rules.routed_agents, ['claude']);
  });

  test('calls are logged with content when a person names the session, which frees the log once it has ended', async () => {
    const { session_id } = await rig.run(['no-change', claudeSays.init('c-10'), claudeSays.result()]);
    const logContent = (input: object) => rig.here().call('gateway.log_content', input);
    const { logged } = await logContent({ session: session_id.slice(2) });
    assert.deepEqual(
      logged.map((each) => [each.of, each.file.endsWith(`/log/content.${session_id}.log`)]),
      [[session_id, true]],
    );
    const rules = await rig.here().call('usage.status', { view: 'governance' });
    assert.deepEqual(rules.content_logged, [session_id]);
    await rig.settled(session_id);
    await rig.here().call('gateway.add_key', { name: 'watched' });
    assert.deepEqual(
      (await logContent({ key: 'watched' })).logged.map((each) => each.of),
      ['key:watched'],
    );
    await assert.rejects(logContent({ session: session_id, key: 'watched' }), { code: 'usage' });
    await rig.here().call('gateway.remove_key', { name: 'watched' });
    assert.deepEqual((await logContent({})).logged, []);
  });

  test('a person who enters gets the route too, with a key that is valid until they leave, or are gone', async () => {
    const { session_id } = await rig.run(['no-change']);
    await rig.settled(session_id);
    const enter = (pid: number, more = {}) =>
      rig.here().call('worker.attach', {
        session: session_id,
        pid,
        ...more,
      });
    const entered = await enter(process.pid);
    assert.equal(entered.gateway?.url, rig.url);
    assert.equal(entered.agent_folder, join(rig.ws.root, '.svc', 'agents', session_id, 'agent'));
    assert.equal(holds(entered.gateway?.key), true);
    await rig.here().call('worker.leave', { session: session_id });
    assert.equal(holds(entered.gateway?.key), false);

    assert.equal((await enter(process.pid, { account: true })).gateway, null);
    await rig.here().call('worker.leave', { session: session_id });

    // A killed agent reports nothing; the next engine detects it.
    const person = spawn('tail', ['-f', '/dev/null']);
    const { gateway: left } = await enter(person.pid ?? 0);
    person.kill('SIGKILL');
    await once(person, 'close');
    assert.equal(holds(left?.key), true);
    await rig.down();
    await rig.up();
    assert.equal(holds(left?.key), false);
  });

  test('a person who leaves late does not take the route from a run', async () => {
    const wait = join(rig.ws.repository.folder, 'go-on');
    const { session_id } = await rig.run(['no-change', 'echo-env', 'say begun', `wait-for ${wait}`]);
    await until(async () => (await rig.session(session_id)).state === 'running');
    await until(() => rig.log(session_id).includes('begun\n'));
    const key = rig.environment(session_id).SVC_VKEY;
    await rig.here().call('worker.leave', { session: session_id });
    assert.equal(holds(key), true);
    writeFileSync(wait, '');
    await rig.settled(session_id);
    assert.equal(holds(key), false);
  });

  test('SVC_GATEWAY_BYPASS leaves the route out of one dispatch, and of the run that continues it', async () => {
    const { session_id } = await rig.run(['fail', 'echo-env'], { env: { SVC_GATEWAY_BYPASS: '1' } });
    assert.equal((await rig.settled(session_id)).auth, 'account');
    const env = rig.environment(session_id);
    assert.deepEqual([env.ANTHROPIC_AUTH_TOKEN, env.SVC_VKEY], [undefined, undefined]);
    const next = await rig.here().call('worker.resume', { session: session_id });
    assert.equal((await rig.settled(next.session_id)).auth, 'account');
  });

  test('a run uses the approved route; another one needs approval, and continues the work; a bypass stays', async () => {
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
    // A run with another account is a separate run: the person who changed it must decide, and the work so far is
    // kept.
    await rig.here().call('worker.resume', { session: routed });
    await until(async () => (await rig.session(routed)).state === 'ended');
    const { failure, task_id } = await rig.session(routed);
    assert.equal(failure?.code, 'inputs_changed');
    await rig.here().call('task.run', { id: task_id });
    const next = (await rig.here().call('task.show', { id: task_id })).sessions;
    const last = await rig.settled(next.at(-1)?.session_id ?? '');
    assert.deepEqual([last.continues, last.auth, last.failure], [routed, 'account', null]);
    assert.deepEqual([keysOf(routed), keysOf(bypassing)], [1, 0]);
    await configure('gateway');
  });

  test('the start fails when the gateway is unreachable, and nothing runs', async () => {
    const before = rig.starts().length;
    rig.listener.close();
    const { session_id } = await rig.run(['no-change']);
    assert.equal((await rig.settled(session_id)).failure?.code, 'gateway_unreachable');
    assert.equal(rig.starts().length, before);
  });

  test('a token budget covers all runs of a task', async () => {
    const env = { SVC_GATEWAY_BYPASS: '1', SVC_TASK_TOKEN_BUDGET: '120' };
    const first = await rig.run(
      ['no-change', claudeSays.result({ is_error: true, subtype: 'error_max_turns' })],
      { env },
    );
    const ended = await rig.settled(first.session_id);
    assert.deepEqual([ended.failure?.code, ended.token_budget], ['turn_limit', 120]);
    const again = await rig.here().call('worker.resume', { session: first.session_id });
    const next = await rig.settled(again.session_id);
    assert.equal(next.failure?.code, 'budget_exceeded');
    assert.match(next.failure?.text ?? '', /has spent 147 of its 120 tokens/);
    await assert.rejects(rig.run([], { env: { SVC_TASK_TOKEN_BUDGET: 'much' } }), { code: 'config_invalid' });
  });
});
