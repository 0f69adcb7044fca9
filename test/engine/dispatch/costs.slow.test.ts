import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { formatSession } from '../../../cli/sessions/session-text.ts';
import { formatGroupCost, type Session, type WireValue } from '../../../engine/index.ts';
import { MODEL, startUpstream, type Upstream } from '../../../fixtures/upstream/upstream.ts';
import { awaitQuietDay, until } from '../../support/wait.ts';
import { claimed, claudeSays, makeRig, type Rig } from './rig.ts';

/** A model call by the run's own route: whole, as a stream, or as a stream that its client leaves. */
const CALL = `
const [how = 'whole', text = 'Hello'] = process.argv.slice(2);
const { ANTHROPIC_BASE_URL: url, ANTHROPIC_AUTH_TOKEN: key } = process.env;
const answer = await fetch(url + '/v1/messages', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json' },
  body: JSON.stringify({
    model: '${MODEL}', max_tokens: 10, stream: how !== 'whole', messages: [{ role: 'user', content: text }],
  }),
});
if (how === 'leave') {
  await answer.body.getReader().read();
  process.exit();
}
console.log('status ' + answer.status);
await answer.text().catch(() => console.log('cut off'));
`;

/** Nine input tokens, three read from a cache, and five of output at these prices. */
const ONE_CALL = {
  ...{ input: 12, cached: 3, output: 5, cost_usd: 0.193 },
  ...{ unpriced: 0, estimated_tokens: 0, estimated: false },
};
const times = (n: number) => ({
  ...ONE_CALL,
  ...{ input: 12 * n, cached: 3 * n, output: 5 * n, cost_usd: 0.193 * n },
});
/** The costs that `claudeSays.result()` claims. */
const CLAIM = claimed({ input: 140, cached: 40, output: 7, cost_usd: 0.25 });
const NOTHING = { ...times(0), cost_usd: 0 };

type Usage = WireValue<Session>['usage'];

/** Compares costs to a thousandth of a cent. */
function assertUsage(found: Usage | undefined, wanted: NonNullable<Usage>): void {
  assert.ok(found, 'there is no usage');
  assert.equal(found.cost_usd?.toFixed(5), wanted.cost_usd?.toFixed(5));
  assert.deepEqual({ ...found, cost_usd: wanted.cost_usd }, wanted);
}

describe('the cost of a run', () => {
  let rig: Rig;
  let upstream: Upstream;
  let script: string;
  before(async () => {
    await awaitQuietDay();
    upstream = await startUpstream();
    rig = await makeRig({
      yaml: `gateway: { addr: "127.0.0.1:0" }
ai:
  mode: live
  passthrough: { anthropic: { base_url: "${upstream.url}", api_key: "sk-of-the-upstream" } }
  prices: { "${MODEL}": { input: 10000, output: 20000, cache_read: 1000 } }
`,
    });
    await rig.ws.svc(['config', 'set', 'agents.auth', '{"claude":"gateway"}']);
    await rig.down();
    await rig.up();
    script = join(rig.ws.repository.folder, 'call.mjs');
    writeFileSync(script, CALL);
  });
  after(async () => {
    await rig?.close();
    await upstream.close();
  });
  beforeEach(() => upstream.plan('none'));

  const call = (how = 'whole', text = 'Hello'): string =>
    `run '${process.execPath}' '${script}' ${how} ${text}`;
  async function ended(directives: readonly string[], wish = {}): Promise<WireValue<Session>> {
    const { session_id } = await rig.run(['no-change', ...directives], wish);
    return rig.settled(session_id);
  }
  const outside = { env: { SVC_GATEWAY_BYPASS: '1' } };
  const spentToday = async () => (await rig.here().call('gateway.today')).spent;

  test('a run through the gateway costs what the gateway counted, and not what its agent claims', async () => {
    const before = await spentToday();
    const { session_id, task_id, usage } = await ended([call(), call(), claudeSays.result()]);
    assertUsage(usage, times(2));
    const here = rig.here();
    const [listed] = await here.call('session.list', { ids: [session_id] });
    assertUsage(listed?.usage, times(2));
    assertUsage((await here.call('task.show', { id: task_id })).sessions[0]?.usage, times(2));
    const spent = await spentToday();
    assert.deepEqual([spent?.input, spent?.output], [(before?.input ?? 0) + 24, (before?.output ?? 0) + 10]);
    const { rows } = await here.call('gateway.usage', { by: 'task' });
    assert.equal(rows.find(({ key }) => key === task_id)?.tokens, 34);
    const shown = formatSession(await rig.session(session_id), { next: null });
    assert.match(shown, /tokens +24 in \(6 from cache\), 10 out, \$0\.39\n/);
    const messages = await here.call('msg.list', {});
    assert.match(
      messages.find(({ body }) => body.includes(session_id))?.body ?? '',
      /tokens: 24 in .*, \$0\.39\n/,
    );
  });

  test('a run outside the gateway costs what its agent claims, marked as an estimate', async () => {
    const before = await spentToday();
    const { session_id, usage } = await ended([claudeSays.result()], outside);
    assertUsage(usage, CLAIM);
    const spent = await spentToday();
    assert.equal(spent?.estimated, true);
    assert.equal(spent.estimated_tokens - (before?.estimated_tokens ?? 0), 147);
    const shown = formatSession(await rig.session(session_id), { next: null });
    assert.match(shown, /tokens +~140 in \(40 from cache\), 7 out, ~\$0\.25\n/);
  });

  test('an agent that ignores its route is counted by its claim', async () => {
    const { auth, usage } = await ended([claudeSays.init('c-1'), claudeSays.result()]);
    assert.equal(auth, 'gateway');
    assertUsage(usage, CLAIM);
  });

  test('the runs of one session are added, each counted once', async () => {
    const bin = join(rig.ws.repository.folder, 'bin');
    const program = readFileSync(join(bin, 'claude'), 'utf8');
    const print = (said: string): string => `printf '%s\\n' '${said.slice('say '.length)}'`;
    const limited = { is_error: true, api_error_status: 429, result: 'Try again in 5 hours.' };
    // Its second run makes no call through the gateway.
    writeFileSync(
      join(bin, 'claude'),
      `#!/bin/sh
case "$*" in
  *--resume=*) ${print(claudeSays.result())} ;;
  *) '${process.execPath}' '${script}'; ${print(claudeSays.result(limited))} ;;
esac
`,
    );
    try {
      const { session_id } = await rig.run([]);
      const paused = await rig.settled(session_id);
      assert.deepEqual([paused.state, paused.runs], ['queued', 1], rig.log(session_id));
      assertUsage(paused.usage, ONE_CALL);
      await rig.down();
      await rig.up();
      assertUsage((await rig.session(session_id)).usage, ONE_CALL);
      await rig.here().call('worker.resume', { session: session_id });
      await until(async () => (await rig.session(session_id)).state === 'ended', 'the end of the second run');
      const { runs, usage } = await rig.session(session_id);
      assert.equal(runs, 2);
      assertUsage(usage ?? undefined, {
        ...{ input: 12 + 140, cached: 3 + 40, output: 5 + 7, cost_usd: 0.193 + 0.25 },
        ...{ unpriced: 0, estimated_tokens: 147, estimated: true },
      });
    } finally {
      writeFileSync(join(bin, 'claude'), program);
    }
  });

  test('a running session shows its calls, and no claim in addition', async () => {
    const wait = join(rig.ws.repository.folder, 'go-on');
    const { session_id } = await rig.run(['no-change', call(), claudeSays.result(), `wait-for ${wait}`]);
    await until(async () => (await rig.session(session_id)).usage !== null, 'its usage');
    const live = await until(async () => {
      const { usage, agent_session } = await rig.session(session_id);
      return agent_session !== null && usage;
    }, 'the report of its agent');
    assertUsage(live, ONE_CALL);
    const { sessions } = await rig.here().call('task.show', { id: (await rig.session(session_id)).task_id });
    assertUsage(sessions[0]?.usage, ONE_CALL);
    writeFileSync(wait, '');
    assertUsage((await rig.settled(session_id)).usage, ONE_CALL);
  });

  test('a call that fails over to another try is counted once', async () => {
    upstream.plan('status_503', 'none');
    const { session_id, usage } = await ended([call()]);
    assert.match(rig.log(session_id), /status 200/);
    assertUsage(usage, ONE_CALL);
  });

  test('an answer that breaks off, ends in an error or loses its client is charged as an estimate', async () => {
    for (const [fault, how] of [
      ['error_within', 'stream'],
      ['reset_within', 'stream'],
      ['stall_within', 'leave'],
      ['usage_never', 'stream'],
    ] as const) {
      upstream.plan(fault);
      const { usage } = await ended([call(how, fault), claudeSays.result()]);
      assert.ok(usage !== null && usage.input > 0, fault);
      assert.deepEqual([usage.estimated, usage.estimated_tokens], [true, usage.input + usage.output], fault);
      assert.ok(usage.cost_usd !== null && usage.cost_usd > 0 && usage.cost_usd < 1, fault);
    }
  });

  test('a call that the provider refused costs nothing', async () => {
    upstream.plan('status_400');
    const { usage } = await ended([call(), claudeSays.result()]);
    assertUsage(usage, NOTHING);
  });

  test('the sessions of a race are compared by what the gateway counted', async () => {
    const body = ['do it', 'no-change', call(), claudeSays.result()].join('\n#agent: ');
    const { task_id } = await rig.here().call('task.add', { body });
    await rig.here().call('task.race', { id: task_id, agents: ['claude', 'claude'] });
    const { sessions } = await until(async () => {
      const compared = await rig.here().call('task.compare', { id: task_id });
      return compared.sessions.every(({ state }) => state === 'ended') && compared;
    }, 'the end of the race');
    for (const { usage } of sessions) assertUsage(usage, ONE_CALL);
  });

  test('the statistics add what was counted to what agents claim, at the current prices', async () => {
    const { total: before } = await rig.here().call('stats.read', {});
    await ended([call(), claudeSays.result()]);
    await ended([claudeSays.result()], outside);
    const { total } = await rig.here().call('stats.read', {});
    assert.equal(total.tokens.input - before.tokens.input, ONE_CALL.input + CLAIM.input);
    assert.equal(total.estimated_tokens - before.estimated_tokens, 147);
    assert.equal(((total.cost_usd ?? 0) - (before.cost_usd ?? 0)).toFixed(3), '0.443');
    assert.deepEqual([total.estimated, total.untold_cost - before.untold_cost], [true, 0]);
    assert.match(formatGroupCost(total), /^~\$\d/);
  });

  test('a budget of a task covers its claimed and its counted tokens', async () => {
    const env = { SVC_TASK_TOKEN_BUDGET: '160' };
    const failing = claudeSays.result({ is_error: true, subtype: 'error_max_turns' });
    const routed = `run test -z "$SVC_VKEY" || '${process.execPath}' '${script}'`;
    const first = await ended([routed, routed, failing], { env: { ...env, ...outside.env } });
    assert.equal(first.failure?.code, 'turn_limit');
    assertUsage(first.usage, CLAIM);
    const again = await rig.here().call('task.run', { id: first.task_id }, { env });
    const { session_id, usage } = await rig.settled(again.session?.session_id ?? '');
    assert.match(rig.log(session_id), /status 200\n(?:.*\n)*status 402\n/);
    assertUsage(usage, ONE_CALL);
    const third = await rig.here().call('task.run', { id: first.task_id }, { env });
    const { failure } = await rig.settled(third.session?.session_id ?? '');
    assert.match(failure?.text ?? '', /has spent 164 of its 160 tokens/);
  });

  test('answers of the stub cost nothing and count no tokens, whatever their agent claims', async () => {
    await rig.ws.svc(['config', 'set', 'ai.mode', 'stub']);
    await rig.down();
    await rig.up();
    const before = await rig.here().call('gateway.today');
    const { session_id, usage } = await ended([call(), call('stream'), claudeSays.result()]);
    assertUsage(usage, NOTHING);
    const after = await rig.here().call('gateway.today');
    assert.equal(after.total.calls - before.total.calls, 2);
    assert.deepEqual([after.total.tokens, after.spent], [before.total.tokens, before.spent]);
    const row = after.groups.session.find(({ key }) => key === session_id);
    assert.deepEqual([row?.calls, row?.tokens, row?.cost_usd, row?.estimated], [2, 0, 0, false]);
    assert.match(formatSession(await rig.session(session_id), { next: null }), /tokens +0 in .* \$0\.00\n/);
  });
});
