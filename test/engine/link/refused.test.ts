import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { type TestContext, test } from 'node:test';
import { type CommandOutcome, commandOutcome } from '../../../engine/core/link-protocol/messages.ts';
import { openBesideHostileServer } from '../../support/server/hostile-server.ts';
import { until } from '../../support/wait.ts';

const NOTHING: CommandOutcome = {
  outcome: 'changed',
  session_id: null,
  decided_by: null,
  state: null,
  code: null,
};

async function open(t: TestContext) {
  const { server, here } = await openBesideHostileServer(t);
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await until(async () => (await here.call('link.status', {})).state === 'connected');
  await here.call('config.set', { key: 'server.decide', value: '{"ann": ["page"]}' });
  return { server, here };
}

test('a late press learns who decided, even under a very long name', async (t) => {
  const { server, here } = await open(t);
  for (const actor of ['x'.repeat(500), '😀'.repeat(300), ' ', 'a\u200bb']) {
    const { decision_id } = await here.ask('is denied at the machine');
    await here.call('decision.deny', { id: decision_id, reason: 'no' }, { actor });
    const outcome = await server.give({ decision_id, hash: null });
    assert.equal(outcome.outcome, 'already_decided');
    assert.deepEqual(commandOutcome.safeParse(outcome).error, undefined, actor);
  }
  assert.equal(server.received.filter(({ path }) => path.startsWith('/v1/commands/')).length, 4);
});

test('a server that refuses a list or an outcome still receives events and is polled for commands', async (t) => {
  const { server, here } = await open(t);
  const refuse = (response: ServerResponse): true => {
    const body = JSON.stringify({ code: 'fields_invalid', detail: 'decided_by: is too long' });
    response.writeHead(422, { 'content-type': 'application/problem+json' }).end(body);
    return true;
  };
  let refusedOutcomes = 0;
  server.misbehave = ({ method, path }, response) => {
    if (path === '/v1/decisions') return refuse(response);
    if (method !== 'POST' || !path.startsWith('/v1/commands/k_refused')) return false;
    refusedOutcomes += 1;
    server.outcomes.set('k_refused_one', { ...NOTHING });
    return refuse(response);
  };
  const asked = await here.ask('say hello');
  await until(
    () => server.received.some(({ path, text }) => path === '/v1/events' && text.includes(asked.decision_id)),
    'the event',
  );
  const give = { decision_id: asked.decision_id, hash: null };
  await server.give({ ...give, id: 'k_refused_one' });
  assert.equal((await server.give({ ...give, id: 'k_taken_one' })).outcome, 'changed');
  assert.equal(refusedOutcomes, 1);
  assert.equal((await here.call('link.status', {})).state, 'connected');
});

test('events that wait while settings are narrowed are sent under the current settings', async (t) => {
  const { server, here } = await open(t);
  await here.call('config.set', { key: 'server.titles', value: 'all' });
  let isGone = true;
  server.misbehave = ({ path }, response) => {
    if (!isGone || path !== '/v1/events') return false;
    response.writeHead(503, { 'retry-after': '1' }).end();
    return true;
  };
  const before = server.received.length;
  const { decision_id } = await here.ask('kanarienvogel is what the prompt begins with');
  await here.call('decision.deny', { id: decision_id, reason: 'no' });
  await until(async () => (await here.call('link.status', {})).waiting_events >= 2, 'what waits');
  await here.call('config.set', { key: 'server.titles', value: 'given' });
  await here.call('config.set', { key: 'server.events', value: '["denied"]' });
  const narrowed = server.received.length;
  isGone = false;
  await until(async () => (await here.call('link.status', {})).waiting_events === 0, 'all of it');
  const told = server.received.slice(narrowed).filter(({ path }) => path === '/v1/events');
  const text = told.map((each) => each.text).join();
  assert.match(text, /denied/);
  assert.doesNotMatch(text, /kanarienvogel|needs_approval/);
  const sent = server.received.slice(before).map((each) => each.text);
  assert.ok(
    sent.some((each) => each.includes('kanarienvogel')),
    'it was sent before the refusal',
  );
});
