import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { decide, makeRig, poll, type Rig, svcHeaders, task } from '../rig.ts';

let rig: Rig;
beforeEach(async () => {
  rig = makeRig();
  await rig.ask(task(rig, { dispatch: true }));
});
afterEach(() => rig.close());

const AT = '2026-01-02T03:04:05.000Z';

test('a decision is polled with a signed empty body, any number of times', async () => {
  const ask = poll(rig, 'd-1');
  const expected = {
    decision_id: 'd-1',
    task_id: 't-1',
    state: 'pending',
    kind: 'dispatch',
    created_at: AT,
    decided_at: null,
    decided_by: null,
    dispatched: false,
    session_id: null,
    task_status: 'assigned',
  };
  for (const _ of [1, 2, 3]) {
    const answer = await rig.ask(ask);
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.body, expected);
  }
  assert.equal((await rig.ask({ method: 'GET', path: '/decisions/d-1' })).status, 401);
});

test('approve dispatches and answers the decision', async () => {
  rig.clock.advance(2000);
  const answer = await rig.ask(decide(rig, 'd-1', 'approve'));
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.body, {
    decision_id: 'd-1',
    task_id: 't-1',
    state: 'approved',
    kind: 'dispatch',
    created_at: AT,
    decided_at: '2026-01-02T03:04:07.000Z',
    decided_by: 'webhook',
    dispatched: true,
    session_id: 's-1',
    task_status: 'assigned',
  });
});

test('an event under the same secret cannot be sent back as a request', async () => {
  const body = JSON.stringify({
    id: '7d1f-1',
    event: 'needs_approval',
    decision_id: 'd-1',
    reason: 'it waits',
  });
  const headers = svcHeaders(body, rig.clock.now());
  const back = await rig.ask({ path: '/decisions/d-1/approve', body, headers });
  assert.deepEqual([back.status, back.body.code], [422, 'fields_invalid']);
  assert.equal((await rig.ask(poll(rig, 'd-1'))).body.state, 'pending');
});

test('an empty JSON object is a valid body, an empty body is not JSON', async () => {
  const sent = (body: string) => ({
    path: '/decisions/d-1/approve',
    body,
    headers: svcHeaders(body, rig.clock.now()),
  });
  assert.equal((await rig.ask(sent(''))).status, 400);
  assert.equal((await rig.ask(sent('{}'))).status, 200);
});

test('deny fails the task and answers in the same form', async () => {
  const answer = await rig.ask(decide(rig, 'd-1', 'deny', { reason: 'not now' }));
  assert.equal(answer.status, 200);
  assert.deepEqual(
    [answer.body.state, answer.body.dispatched, answer.body.task_status],
    ['denied', false, 'failed'],
  );
  assert.equal(rig.decisions.get('d-1').reason, 'not now');
});

test('a decision already made the same way is 200 with the same body, and nothing is done twice', async () => {
  for (const verb of ['approve', 'deny'] as const) {
    const { body } = await rig.ask(task(rig, { dispatch: true }));
    const first = await rig.ask(decide(rig, body.decision_id, verb));
    const before = [rig.events.lastSeq(), rig.sessions.list({}).length];
    rig.clock.advance(1000);
    const second = await rig.ask(decide(rig, body.decision_id, verb));
    assert.equal(second.status, 200);
    assert.deepEqual(second.body, first.body);
    assert.deepEqual([rig.events.lastSeq(), rig.sessions.list({}).length], before);
  }
});

test('a decision already made the other way is 409', async () => {
  await rig.ask(decide(rig, 'd-1', 'approve'));
  const answer = await rig.ask(decide(rig, 'd-1', 'deny'));
  assert.deepEqual([answer.status, answer.body.code], [409, 'already_decided']);
  assert.equal(rig.decisions.get('d-1').state, 'approved');
});

test('an unknown decision is 404 after a valid signature', async () => {
  for (const id of ['d-99', 'd-0', 'x', 'd-1%20', 't-1', '../d-1'.replaceAll('/', '%2F')]) {
    assert.equal((await rig.ask(decide(rig, id, 'approve'))).status, 404, id);
    assert.equal((await rig.ask(poll(rig, id))).status, 404, id);
    assert.equal((await rig.ask({ method: 'GET', path: `/decisions/${id}` })).status, 401, id);
  }
});

test('a decision_id in the body must match the path', async () => {
  await rig.ask(task(rig, { dispatch: true }));
  const wrong = await rig.ask(decide(rig, 'd-2', 'approve', { decision_id: 'd-1' }));
  assert.deepEqual([wrong.status, wrong.body.fields[0].field], [422, 'decision_id']);
  assert.equal((await rig.ask(decide(rig, 'd-2', 'approve', { decision_id: 7 }))).status, 422);
  assert.equal(rig.decisions.get('d-2').state, 'pending');
  assert.equal((await rig.ask(decide(rig, 'd-2', 'approve', { decision_id: 'd-2' }))).status, 200);
});

test('two empty approvals of one second collide; a nonce of any type keeps them apart', async () => {
  await rig.ask(task(rig, { dispatch: true }));
  const body = '{}';
  const headers = svcHeaders(body, rig.clock.now());
  assert.equal((await rig.ask({ path: '/decisions/d-1/approve', body, headers })).status, 200);
  assert.equal((await rig.ask({ path: '/decisions/d-2/approve', body, headers })).status, 409);
  assert.equal((await rig.ask(decide(rig, 'd-2', 'approve', { nonce: { any: ['thing'] } }))).status, 200);
});

test('20 simultaneous approvals start one worker, and all get the same answer', async () => {
  const asks = Array.from({ length: 20 }, () => decide(rig, 'd-1', 'approve'));
  const answers = await Promise.all(asks.map((ask) => rig.ask(ask)));
  for (const answer of answers) {
    assert.equal(answer.status, 200);
    assert.equal(answer.body.session_id, 's-1');
  }
  assert.equal(rig.sessions.list({}).length, 1);
});

test('an approval that fails halfway has changed nothing', async () => {
  await rig.storage.write(() => rig.workflow.assign('t-1', 'another', { actor: 'ann', via: 'cli' }));
  const before = rig.events.lastSeq();
  const answer = await rig.ask(decide(rig, 'd-1', 'approve'));
  assert.equal(answer.status, 409);
  assert.equal(rig.decisions.get('d-1').state, 'expired');
  assert.deepEqual([rig.events.lastSeq(), rig.sessions.list({}).length], [before, 0]);
  assert.equal((await rig.ask(poll(rig, 'd-1'))).body.state, 'expired');
});
