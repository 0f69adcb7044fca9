import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import {
  PRESET_NAMES,
  RUN_ENDS,
  TELEMETRY_SCHEMA,
  telemetryDay,
} from '../../../engine/core/link-protocol/telemetry-day.ts';
import { catalogues } from '../../../engine/index.ts';
import { PRESETS } from '../../../engine/workers/agents/presets/index.ts';
import { openBesideHostileServer, startHostileServer } from '../../support/server/hostile-server.ts';
import { until } from '../../support/wait.ts';
import {
  CLAUDE,
  countedWorkspace,
  DAY,
  dayOf,
  lookUntil,
  runToEnd,
  settableClock,
} from '../../support/workspaces/counted-workspace.ts';
import { engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

test('the words for presets and ends are complete, and a schema with more of them has a new number', async () => {
  assert.deepEqual(
    PRESET_NAMES,
    [...PRESETS.map(({ name }) => name), 'other'],
    'a new preset is a new name: raise TELEMETRY_SCHEMA and add the name below',
  );
  const { SESSION_FAILURES } = await catalogues();
  assert.deepEqual([...RUN_ENDS].sort(), ['sealed', ...Object.keys(SESSION_FAILURES), 'other'].sort());
  const words: Record<number, number> = { 1: 82, 2: 83, 3: 84 };
  const text = JSON.stringify(z.toJSONSchema(telemetryDay));
  const listed = [...text.matchAll(/"enum":\[([^\]]*)\]/g)].flatMap(([, all = '']) => all.split(','));
  const fields = Object.keys(telemetryDay.shape);
  assert.equal(listed.length + fields.length, words[TELEMETRY_SCHEMA]);
});

test('a finished day is sent once, byte for byte as it was shown, and an unfinished day is not', async (t) => {
  const counted = await countedWorkspace({ workspace: { commands: { claude: CLAUDE } } });
  t.after(() => counted.close());
  const { here, clock } = counted;
  const day = dayOf(clock.now());
  await runToEnd(counted, 'say hello', 'claude');
  await runToEnd(counted, '#agent: fail 3');
  const denied = await here.ask('say hello', { now: clock.now() });
  await here.call('decision.deny', { id: denied.decision_id, reason: 'no' });
  await counted.look();
  assert.deepEqual(await counted.told(), []);
  const shown = await here.call('telemetry.show', {});
  assert.equal(shown.obstacle, null);
  assert.deepEqual(
    shown.next.map((each) => [each.day, each.is_finished]),
    [[day, false]],
  );
  clock.move(2 * DAY);
  const [told] = await lookUntil(counted.look, async () => {
    const days = await counted.told();
    return days.length > 0 ? days : null;
  });
  assert.deepEqual(told, JSON.parse(shown.next[0]!.body));
  assert.deepEqual(told?.tasks, { tui: 2, task: 1 });
  assert.deepEqual(told?.decisions, { approved: 2, denied: 1 });
  assert.deepEqual(told?.runs, { claude: { sealed: 1 }, other: { exit_code: 1 } });
  assert.deepEqual(told?.durations, { under_1_min: 2 });
  await until(async () => (await here.call('telemetry.show', {})).sent.length === 1);
  const after = await here.call('telemetry.show', {});
  assert.deepEqual(after.next, []);
  assert.equal(after.sent[0]!.body, shown.next[0]!.body);
  const { received_at } = await counted.server.parts.db
    .selectFrom('usage_days')
    .select('received_at')
    .executeTakeFirstOrThrow();
  await counted.look();
  const again = await counted.server.parts.db
    .selectFrom('usage_days')
    .select('received_at')
    .executeTakeFirstOrThrow();
  assert.equal(again.received_at, received_at, 'it is sent once');
});

test('a day that a clock change reopened is sent again, whole', async (t) => {
  const counted = await countedWorkspace();
  t.after(() => counted.close());
  const { here, clock } = counted;
  await here.call('task.add', { body: 'first' });
  clock.move(2 * DAY);
  await lookUntil(counted.look, async () => (await counted.told()).length === 1);
  clock.move(-2 * DAY);
  await here.call('task.add', { body: 'second' });
  clock.move(2 * DAY);
  const days = await lookUntil(counted.look, async () => {
    const found = await counted.told();
    return found[0]?.tasks.tui === 2 ? found : null;
  });
  assert.equal(days.length, 1);
});

test('nothing before the link is counted, however much there was', async (t) => {
  const clock = settableClock(-2);
  const { server, here } = await openBesideHostileServer(t, { clock });
  for (let made = 0; made < 20; made += 1) await here.call('task.add', { body: 'before' });
  const preview = await here.call('telemetry.show', {});
  assert.match(preview.obstacle ?? '', /^this workspace is not linked$/);
  assert.match(preview.next[0]!.body, /"tasks":{"tui":20}/);
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await here.call('telemetry.agree', { schema: TELEMETRY_SCHEMA });
  assert.deepEqual((await here.call('telemetry.show', {})).next, []);
  await here.call('task.add', { body: 'after' });
  assert.match((await here.call('telemetry.show', {})).next[0]!.body, /"tasks":{"tui":1}/);
});

test('nothing is sent before a person has seen the report', async (t) => {
  const counted = await countedWorkspace({ isSeen: false });
  t.after(() => counted.close());
  const { here, clock } = counted;
  await here.call('task.add', { body: 'say hello' });
  clock.move(2 * DAY);
  for (let looks = 0; looks < 3; looks += 1) await counted.look();
  const shown = await here.call('telemetry.show', {});
  assert.equal(shown.is_waiting, true);
  assert.equal((await here.call('link.status', {})).is_telemetry_waiting, true);
  assert.deepEqual(await counted.told(), []);
  await assert.rejects(here.call('telemetry.agree', { schema: TELEMETRY_SCHEMA + 1 }), { code: 'conflict' });
  await here.call('telemetry.agree', { schema: TELEMETRY_SCHEMA });
  await lookUntil(counted.look, async () => (await counted.told()).length === 1);
  assert.equal((await here.call('link.status', {})).is_telemetry_waiting, false);
});

test('off stops counting and drops pending reports, and the time in between is not counted later', async (t) => {
  const counted = await countedWorkspace();
  t.after(() => counted.close());
  const { here, clock } = counted;
  await here.call('task.add', { body: 'dropped' });
  assert.equal((await here.call('telemetry.show', {})).next.length, 1);
  await here.call('config.set', { key: 'telemetry.work', value: 'off' });
  await here.call('task.add', { body: 'never counted' });
  const off = await here.call('telemetry.show', {});
  assert.equal(off.obstacle, 'telemetry.work is off');
  await here.call('config.set', { key: 'telemetry.work', value: 'on' });
  await here.call('task.add', { body: 'counted' });
  await here.call('task.add', { body: 'counted' });
  assert.match((await here.call('telemetry.show', {})).next[0]!.body, /"tasks":{"tui":2}/);
  clock.move(2 * DAY);
  await lookUntil(counted.look, async () => (await counted.told())[0]?.tasks.tui === 2);
});

test('DO_NOT_TRACK overrides svc.yaml', async (t) => {
  const counted = await countedWorkspace({
    workspace: { env: { DO_NOT_TRACK: '1' }, yaml: 'telemetry: { work: on }\n' },
  });
  t.after(() => counted.close());
  await counted.here.call('task.add', { body: 'say hello' });
  counted.clock.move(2 * DAY);
  for (let looks = 0; looks < 3; looks += 1) await counted.look();
  assert.match((await counted.here.call('telemetry.show', {})).obstacle ?? '', /^DO_NOT_TRACK is set/);
  assert.deepEqual(await counted.told(), []);
});

test('counts outlive a restart, and no event is counted twice', async (t) => {
  const counted = await countedWorkspace();
  t.after(() => counted.close());
  const { clock, ws } = counted;
  await counted.here.call('task.add', { body: 'say hello' });
  await counted.here.call('telemetry.show', {});
  await counted.here.end();
  counted.here = await engineHere(ws, { clock });
  await counted.here.call('task.add', { body: 'say hello' });
  assert.match((await counted.here.call('telemetry.show', {})).next[0]!.body, /"tasks":{"tui":2}/);
});

test('a server that refuses a day, fails or is older delays neither the others nor the link', async (t) => {
  const clock = settableClock(-3);
  const { server, here } = await openBesideHostileServer(t, { clock });
  const first = dayOf(clock.now());
  const answers: Record<string, [number, string]> = { [first]: [422, 'fields_invalid'] };
  server.misbehave = ({ path, method }, response) => {
    const day = /^\/v1\/usage\/(.+)$/.exec(path)?.[1];
    if (day === undefined || method !== 'PUT') return false;
    const [status, code] = answers[day] ?? [200, ''];
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(status === 200 ? { server_time: new Date().toISOString() } : { code, status }));
    return true;
  };
  const asked = (day: string): number =>
    server.received.filter(({ path }) => path === `/v1/usage/${day}`).length;
  const look = async (): Promise<void> => {
    clock.move(0);
    await server.give({ verb: 'refresh' });
  };
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await here.call('telemetry.agree', { schema: TELEMETRY_SCHEMA });
  await here.call('task.add', { body: 'say hello' });
  await look();
  clock.move(DAY);
  await here.call('task.add', { body: 'say hello' });
  clock.move(2 * DAY);
  const held = await lookUntil(look, async () => {
    const { next, sent } = await here.call('telemetry.show', {});
    return sent.length === 1 && next[0]?.refused_why ? next : null;
  });
  assert.match(held[0]?.refused_why ?? '', /422|fields_invalid/);
  const tries = asked(first);
  await look();
  await look();
  assert.equal(asked(first), tries, 'a refused day is not resent at every check');
  for (const [status, code] of [
    [500, 'internal'],
    [426, 'protocol_mismatch'],
  ] as const) {
    const before = asked(first);
    answers[first] = [status, code];
    clock.move(DAY);
    await lookUntil(look, async () => asked(first) > before);
    assert.equal((await here.call('link.status', {})).state, 'connected');
  }
  answers[first] = [200, ''];
  await lookUntil(look, async () => (await here.call('telemetry.show', {})).sent.length === 2);
});

test('counts for the first server are not sent to the second after a relink', async (t) => {
  const counted = await countedWorkspace();
  t.after(() => counted.close());
  const other = await startHostileServer();
  t.after(() => other.close());
  const { here, clock } = counted;
  await here.call('task.add', { body: 'for the first' });
  await here.call('telemetry.show', {});
  clock.move(2 * DAY);
  await here.call('link.start', { server: other.url, token: 'svcm_machine' });
  await here.call('telemetry.agree', { schema: TELEMETRY_SCHEMA });
  clock.move(0);
  await other.give({ verb: 'refresh' });
  await other.give({ verb: 'refresh' });
  assert.deepEqual((await here.call('telemetry.show', {})).next, []);
  assert.ok(!other.received.some(({ path }) => path.startsWith('/v1/usage')));
});

test("no day is sent while the server's copy is being deleted", async (t) => {
  const clock = settableClock(-3);
  const { server, here } = await openBesideHostileServer(t, { clock });
  let answerDelete: (() => void) | null = null;
  server.misbehave = ({ path, method }, response) => {
    if (path !== '/v1/usage' || method !== 'DELETE') return false;
    answerDelete = () => response.writeHead(204).end();
    return true;
  };
  const countSent = (): number =>
    server.received.filter(({ path, method }) => path.startsWith('/v1/usage/') && method === 'PUT').length;
  const look = async (): Promise<void> => {
    clock.move(0);
    await server.give({ verb: 'refresh' });
  };
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await here.call('telemetry.agree', { schema: TELEMETRY_SCHEMA });
  await here.call('task.add', { body: 'say hello' });
  const deleting = here.call('telemetry.delete', {});
  const answer = await until(() => answerDelete, 'the request to delete');
  clock.move(2 * DAY);
  await look();
  await look();
  assert.equal(countSent(), 0);
  answer();
  await deleting;
  await lookUntil(look, async () => countSent() === 1);
});

test("the server's copy is deleted on the workspace's request", async (t) => {
  const counted = await countedWorkspace();
  t.after(() => counted.close());
  const { here, clock } = counted;
  await here.call('task.add', { body: 'say hello' });
  clock.move(2 * DAY);
  await lookUntil(counted.look, async () => (await here.call('telemetry.show', {})).sent.length === 1);
  await here.call('telemetry.delete', {});
  assert.deepEqual(await counted.told(), []);
  assert.deepEqual((await here.call('telemetry.show', {})).sent, []);
  await here.call('link.stop', {});
  await assert.rejects(here.call('telemetry.delete', {}), { code: 'not_linked' });
});

test('a worker is refused every telemetry operation', async (t) => {
  const ws = await makeWorkspace();
  t.after(() => ws.close());
  const here = await engineHere(ws);
  t.after(() => here.end());
  for (const [operation, input] of [
    ['telemetry.show', {}],
    ['telemetry.agree', { schema: TELEMETRY_SCHEMA }],
    ['telemetry.delete', {}],
  ] as const)
    await assert.rejects(here.callByName(operation, input, { seat: 'worker' }), { code: 'chair_only' });
});
