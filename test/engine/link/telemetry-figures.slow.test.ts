import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addCount, makeDayCounts } from '../../../engine/core/link-protocol/telemetry-day.ts';
import { countEvent } from '../../../engine/link/telemetry/count-event.ts';
import {
  CLAUDE,
  countedWorkspace,
  DAY,
  dayOf,
  lookUntil,
  noteCalls,
  runToEnd,
} from '../../support/workspaces/counted-workspace.ts';

const PROVIDERS = ['local', 'free', 'cheap', 'paid'].map(
  (tier) => `{ name: my-${tier}, base_url: "http://127.0.0.1:9/v1", model: my-model, tier: ${tier} }`,
);

test('tokens are counted for runs under an account, and for calls by the tier of their provider', async (t) => {
  const counted = await countedWorkspace({
    workspace: {
      commands: { claude: CLAUDE },
      yaml: `ai: { providers: [${PROVIDERS.join(', ')}] }\n`,
    },
  });
  t.after(() => counted.close());
  const { here, clock, ws } = counted;
  const said = {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: 'done',
    session_id: 'c-1',
    usage: { input_tokens: 100, cache_read_input_tokens: 40, output_tokens: 7 },
  };
  await runToEnd(counted, `#agent: say ${JSON.stringify(said)}`, 'claude');
  const at = clock.now();
  noteCalls(ws, [
    { at: at - 300_000, input: 1_000_000 },
    { at, provider: 'my-local', input: 20, output: 1 },
    { at, provider: 'my-free', input: 300, output: 2, cache_read: 30, cache_write: 3 },
    { at, provider: 'my-cheap', input: 4000, output: 3 },
    { at, provider: 'my-paid', input: 50_000, output: 4 },
    { at, provider: 'my-paid', input: 0, output: 1, outcome: 'failed' },
    { at, provider: 'my-paid', input: 0, output: 0, outcome: 'cached' },
    { at, provider: 'ollama', input: 600, output: 0 },
    { at, provider: 'one-that-svc-yaml-no-longer-names', input: 70, output: 0 },
  ]);
  const { next } = await here.call('telemetry.show', {});
  clock.move(2 * DAY);
  const told = await lookUntil(counted.look, async () => (await counted.told())[0]);
  assert.deepEqual(told.tokens, {
    account: 147,
    local: 621,
    free: 335,
    cheap: 4003,
    paid: 50_005,
    other: 70,
  });
  assert.deepEqual(told, JSON.parse(next[0]!.body));
});

test('a day with only gateway calls is sent, even when the engine was off for days, and not again once it was deleted', async (t) => {
  const counted = await countedWorkspace({ daysAhead: -6 });
  t.after(() => counted.close());
  const { here, clock, ws } = counted;
  const day = dayOf(clock.now());
  noteCalls(ws, [{ at: clock.now(), provider: 'gone' }]);
  const shown = (await here.call('telemetry.show', {})).next;
  assert.deepEqual(
    shown.map((each) => [each.day, each.is_finished]),
    [[day, false]],
  );
  clock.move(4 * DAY);
  await lookUntil(counted.look, async () => (await counted.told()).length > 0);
  const [told, ...others] = await counted.told();
  assert.deepEqual(others, []);
  assert.deepEqual(told, JSON.parse(shown[0]!.body));
  const { tasks, decisions, runs, durations, tokens } = told!;
  assert.deepEqual(
    { tasks, decisions, runs, durations },
    { tasks: {}, decisions: {}, runs: {}, durations: {} },
  );
  assert.deepEqual(tokens, { other: 15 });

  await lookUntil(counted.look, async () => (await here.call('telemetry.show', {})).sent.length === 1);
  await here.call('telemetry.delete', {});
  await counted.look();
  const after = await here.call('telemetry.show', {});
  assert.deepEqual([after.next, after.sent], [[], []]);
  // A later day is sent, and the deleted days do not come back.
  const later = dayOf(clock.now());
  await here.call('task.add', { body: 'later' });
  clock.move(2 * DAY);
  const days = await lookUntil(counted.look, async () => {
    const found = await counted.told();
    return found.length > 0 ? found : null;
  });
  assert.deepEqual(
    days.map((each) => each.day),
    [later],
  );
});

test("counts above the server's limit are cut", () => {
  const counts = makeDayCounts();
  for (const more of [4e14, 4e14, 4e14]) addCount(counts.tokens, 'account', more);
  assert.deepEqual(counts.tokens, { account: 1e15 });
});

test("a person's own names are counted as other, even if they are names of JavaScript", () => {
  const counts = makeDayCounts();
  const count = (data: object, more: object = {}): void =>
    countEvent(counts, { kind: 'failed', via: 'cli', sessionId: 's-1', data, ...more } as never, () => null);
  for (const agent of ['constructor', '__proto__', 'claude ', 'Claude', 'my-agent', null, 7])
    count({ agent, code: 'exit_code' });
  for (const code of ['toString', 'my_code', 'EXIT_CODE', null, {}]) count({ agent: 'claude', code });
  count({ agent: 'claude', code: 'timeout' });
  count({ agent: 'codex' }, { kind: 'sealed' });
  count({}, { kind: 'task_created', via: 'my-way' });
  count({}, { kind: 'task_created', via: 'constructor' });
  assert.deepEqual(counts, {
    tasks: { other: 2 },
    decisions: {},
    runs: { other: { exit_code: 7 }, claude: { other: 5, timeout: 1 }, codex: { sealed: 1 } },
    durations: {},
    tokens: {},
  });
  assert.deepEqual(Object.getPrototypeOf(counts.runs), Object.prototype);
});

test('runs are counted by their end, each under its code', async (t) => {
  const counted = await countedWorkspace({ workspace: { commands: { claude: CLAUDE, 'my-agent': CLAUDE } } });
  t.after(() => counted.close());
  const tooLong = { type: 'result', subtype: 'error_max_turns', is_error: true, session_id: 'c-1' };
  await runToEnd(counted, '#agent: no-change', 'my-agent');
  await runToEnd(counted, '#agent: fail 3', 'my-agent');
  await runToEnd(counted, `#agent: say ${JSON.stringify(tooLong)}\n#agent: fail 1`, 'claude');
  counted.clock.move(2 * DAY);
  const told = await lookUntil(counted.look, async () => (await counted.told())[0]);
  assert.deepEqual(told.runs, { other: { sealed: 1, exit_code: 1 }, claude: { turn_limit: 1 } });
  assert.deepEqual(told.durations, { under_1_min: 3 });
});
