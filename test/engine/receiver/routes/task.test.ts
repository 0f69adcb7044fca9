import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { makeRig, type Rig, svcHeaders, task } from '../rig.ts';

let rig: Rig;
beforeEach(() => {
  rig = makeRig({ fallback: null });
});
afterEach(() => rig.close());

const kinds = () => rig.events.listAfter(0).map((event) => event.kind);
const fieldsOf = (body: { fields: { field: string }[] }) => body.fields.map(({ field }) => field).sort();

test('created and dispatched: 201 with the session and no decision', async () => {
  const answer = await rig.ask(task(rig, { dispatch: true, approve: true }));
  assert.equal(answer.status, 201);
  assert.deepEqual(answer.body, {
    task_id: 't-1',
    status: 'assigned',
    dispatched: true,
    session_id: 's-1',
    decision_id: null,
  });
});

test('created and waiting: 201 with the decision, which is pending, and needs_approval is emitted', async () => {
  const answer = await rig.ask(task(rig, { dispatch: true }));
  assert.equal(answer.status, 201);
  assert.deepEqual(answer.body, {
    task_id: 't-1',
    status: 'assigned',
    dispatched: false,
    session_id: null,
    decision_id: 'd-1',
  });
  const decision = rig.decisions.get('d-1');
  assert.equal(decision.state, 'pending');
  assert.equal(decision.why, 'the request did not carry one (webhook.require_approval)');
  assert.deepEqual(kinds(), ['task_created', 'needs_approval']);
});

test('dispatch and approve default to false', async () => {
  const { body } = await rig.ask(task(rig));
  assert.equal(body.dispatched, false);
  assert.equal(rig.decisions.get(body.decision_id).why, 'the request did not ask for dispatch');
  assert.ok(kinds().includes('needs_approval'));
});

test('approve without dispatch records the decision as approved and waits for a run', async () => {
  const { body } = await rig.ask(task(rig, { approve: true }));
  assert.equal(body.dispatched, false);
  assert.equal(rig.decisions.get(body.decision_id).state, 'approved');
  const ran = await rig.storage.write(() => rig.workflow.run(body.task_id, {}, { actor: 'ann', via: 'cli' }));
  assert.equal(ran.session?.taskId, body.task_id);
});

test('a signed request with require_approval false dispatches immediately, but only when it asks to', async () => {
  rig.webhook = { ...rig.webhook, require_approval: false };
  assert.equal((await rig.ask(task(rig, { dispatch: true }))).body.dispatched, true);
  const held = await rig.ask(task(rig, { dispatch: false }));
  assert.equal(held.body.dispatched, false);
  assert.equal(rig.decisions.get(held.body.decision_id).state, 'pending');
});

test('a template gives agent, prompt, project and timeout; a project in the request overrides it', async () => {
  const { body } = await rig.ask(task(rig, { template: 'fix', agent: undefined, prompt: undefined }));
  const made = rig.tasks.get(body.task_id);
  assert.equal(made.prompt, 'Fix what is broken.');
  assert.deepEqual(
    [made.agent, made.project, made.template, made.timeoutSec],
    ['scripted', 'app', 'fix', 90],
  );
  assert.deepEqual([made.source, made.sourceRef], ['task', '127.0.0.1']);
});

test('a template without an agent runs as the default agent, recorded immediately', async () => {
  const other = makeRig({ fallback: 'scripted' });
  try {
    const { body } = await other.ask(task(other, { template: 'plain', agent: undefined, prompt: undefined }));
    assert.equal(other.tasks.get(body.task_id).agent, 'scripted');
  } finally {
    other.close();
  }
  const open = await rig.ask(task(rig, { template: 'plain', agent: undefined, prompt: undefined }));
  assert.equal(open.body.status, 'open', 'without a default agent it is still created');
  const run = { template: 'plain', agent: undefined, prompt: undefined, dispatch: true, approve: true };
  assert.equal((await rig.ask(task(rig, run))).body.code, 'unknown_agent', 'but cannot run');
});

test('fields of the wrong type are 422 fields_invalid, naming each', async () => {
  const answer = await rig.ask(task(rig, { agent: 7, project: null, dispatch: 'true', approve: 1 }));
  assert.equal(answer.status, 422);
  assert.equal(answer.body.code, 'fields_invalid');
  assert.deepEqual(fieldsOf(answer.body), ['agent', 'approve', 'dispatch', 'project']);
});

test('neither or both of template and agent with prompt is 422, naming each', async () => {
  const none = { agent: undefined, prompt: undefined };
  const cases: [object, string[]][] = [
    [none, ['agent', 'prompt', 'template']],
    [{ template: 'fix' }, ['agent', 'prompt', 'template']],
    [{ template: 'fix', agent: undefined }, ['prompt', 'template']],
    [{ template: 'fix', prompt: undefined }, ['agent', 'template']],
    [{ prompt: undefined }, ['prompt']],
    [{ agent: undefined }, ['agent']],
    [{ prompt: ' \n' }, ['prompt']],
    [{ prompt: 'a\0b' }, ['prompt']],
    [{ ...none, template: 'bare' }, ['template']],
  ];
  for (const [fields, named] of cases) {
    const answer = await rig.ask(task(rig, fields));
    assert.equal(answer.status, 422, JSON.stringify(fields));
    assert.deepEqual(fieldsOf(answer.body), named, JSON.stringify(fields));
  }
  for (const body of ['[]', 'null', '"x"']) {
    const answer = await rig.ask({ path: '/task', body, headers: svcHeaders(body, rig.clock.now()) });
    assert.equal(answer.status, 422, body);
  }
  assert.equal(rig.tasks.list({}).length, 0);
});

test('an unknown template, agent or project is 422 with its own code', async () => {
  const template = { agent: undefined, prompt: undefined };
  for (const name of ['nope', '__proto__', 'constructor', 'toString']) {
    assert.equal((await rig.ask(task(rig, { ...template, template: name }))).body.code, 'unknown_template');
  }
  assert.equal((await rig.ask(task(rig, { ...template, template: 'gone' }))).body.code, 'unknown_agent');
  const agent = await rig.ask(task(rig, { agent: 'nobody' }));
  assert.deepEqual([agent.status, agent.body.code], [422, 'unknown_agent']);
  assert.equal((await rig.ask(task(rig, { project: '../..' }))).body.code, 'unknown_project');
  assert.equal(rig.tasks.list({}).length, 0);
});

test('the title is the first line with text, with control characters written out, at most 120 characters', async () => {
  const cases = [
    ['\n  \n\t say hello \nmore', 'say hello'],
    ['\u001b[31mred\u001b[0m\u0007 alert', '\\x1b[31mred\\x1b[0m\\x07 alert'],
    ['\u202Eevil', '\\u202eevil'],
    ['\ufeffbom', 'bom'],
    ['\u0001\u0002\nreal', 'real'],
    ['\u0001', '(untitled)'],
  ] as const;
  for (const [prompt, title] of cases) {
    const { body } = await rig.ask(task(rig, { prompt }));
    assert.equal(rig.tasks.get(body.task_id).title, title);
  }
  const long = await rig.ask(task(rig, { prompt: '🦊'.repeat(500) }));
  const { title, prompt } = rig.tasks.get(long.body.task_id);
  assert.equal(Array.from(title).length, 120);
  assert.ok(title.isWellFormed());
  assert.equal(prompt, '🦊'.repeat(500), 'the prompt is kept byte for byte');
});

test('the same Idempotency-Key and body, freshly signed, answers 200 with the first task within 24 h', async () => {
  const fields = { nonce: 'fixed', dispatch: true };
  const again = () => rig.ask(task(rig, fields, { 'idempotency-key': 'order-7' }));
  const first = await again();
  assert.equal(first.status, 201);
  rig.clock.advance(23 * 3_600_000);
  const second = await again();
  assert.equal(second.status, 200);
  assert.deepEqual(second.body, first.body);
  assert.equal(rig.tasks.list({}).length, 1);
  rig.clock.advance(3_600_000 + 1);
  assert.equal((await again()).status, 201, 'forgotten after 24 h');
});

test('the same Idempotency-Key with another body is 409 idempotency_conflict', async () => {
  await rig.ask(task(rig, {}, { 'idempotency-key': 'order-7' }));
  const answer = await rig.ask(task(rig, {}, { 'idempotency-key': 'order-7' }));
  assert.deepEqual([answer.status, answer.body.code], [409, 'idempotency_conflict']);
  assert.equal(rig.tasks.list({}).length, 1);
});

test('a refused request leaves its Idempotency-Key free', async () => {
  const key = { 'idempotency-key': 'order-8' };
  assert.equal((await rig.ask(task(rig, { agent: 'nobody' }, key))).status, 422);
  assert.equal((await rig.ask(task(rig, {}, key))).status, 201);
  for (const bad of ['', 'x'.repeat(256), 'a\u00e9']) {
    assert.equal((await rig.ask(task(rig, {}, { 'idempotency-key': bad }))).status, 422);
  }
});

test('unknown fields are ignored', async () => {
  assert.equal((await rig.ask(task(rig, { customer: { id: 1 } }))).status, 201);
});
