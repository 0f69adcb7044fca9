import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { LARGEST_SIGNED_BYTES } from '../../../engine/core/http/signature.ts';
import { chat, codehost, decide, makeRig, poll, type Rig, svcHeaders, task } from './rig.ts';

let rig: Rig;
beforeEach(() => {
  rig = makeRig();
});
afterEach(() => rig.close());

test('an unknown path is 404', async () => {
  for (const path of [
    '/',
    '/tasks',
    '/task/',
    '/task/1',
    '/decisions',
    '/decisions/',
    '/decisions/d-1/run',
    '//task',
  ]) {
    const answer = await rig.ask({ ...task(rig), path });
    assert.equal(answer.status, 404, path);
    assert.equal(answer.body.code, 'not_found');
  }
});

test('a route that is not in webhook.allow is 404, and a reloaded configuration applies immediately', async () => {
  rig.webhook = { ...rig.webhook, allow: ['chat'] };
  assert.equal((await rig.ask(task(rig))).status, 404);
  assert.equal((await rig.ask(codehost({ zen: 'x', hook_id: 1 }, 'ping'))).status, 404);
  assert.equal((await rig.ask(chat(rig, 'help'))).status, 200);
  rig.webhook = { ...rig.webhook, allow: ['task'] };
  assert.equal((await rig.ask(task(rig))).status, 201);
  assert.equal((await rig.ask(poll(rig, 'd-1'))).status, 200, 'decisions are not part of webhook.allow');
});

test('a wrong method is 405 with Allow', async () => {
  const cases = [
    ['GET', '/task', 'POST'],
    ['PUT', '/codehost', 'POST'],
    ['GET', '/chat', 'POST'],
    ['POST', '/decisions/d-1', 'GET'],
    ['HEAD', '/decisions/d-1', 'GET'],
    ['GET', '/decisions/d-1/approve', 'POST'],
    ['DELETE', '/decisions/d-1/deny', 'POST'],
  ] as const;
  for (const [method, path, allow] of cases) {
    const answer = await rig.ask({ method, path });
    assert.equal(answer.status, 405, `${method} ${path}`);
    assert.equal(answer.headers.allow, allow);
  }
});

test('a body over 262,144 bytes is 413, one of exactly that many is read', async () => {
  const padded = (size: number) => {
    const start = '{"agent":"scripted","prompt":"x","pad":"';
    return `${start}${'p'.repeat(size - start.length - 2)}"}`;
  };
  for (const [size, status] of [
    [LARGEST_SIGNED_BYTES, 201],
    [LARGEST_SIGNED_BYTES + 1, 413],
  ] as const) {
    const body = padded(size);
    assert.equal(Buffer.byteLength(body), size);
    const answer = await rig.ask({ path: '/task', body, headers: svcHeaders(body, rig.clock.now()) });
    assert.equal(answer.status, status);
    if (status === 413) assert.equal(answer.headers.connection, 'close');
  }
});

test('a declared size over the limit is 413 before anything else of the request is checked', async () => {
  const answer = await rig.ask({
    path: '/task',
    headers: { 'content-length': String(LARGEST_SIGNED_BYTES + 1) },
  });
  assert.equal(answer.status, 413);
  assert.equal(answer.body.code, 'body_too_large');
});

test('a Content-Encoding other than identity is 415', async () => {
  assert.equal((await rig.ask(task(rig, {}, { 'content-encoding': 'gzip' }))).status, 415);
  assert.equal((await rig.ask(task(rig, {}, { 'content-encoding': 'identity, gzip' }))).status, 415);
  assert.equal((await rig.ask(task(rig, {}, { 'content-encoding': 'identity' }))).status, 201);
});

test('the media type is not checked', async () => {
  assert.equal((await rig.ask(task(rig, {}, { 'content-type': 'text/plain' }))).status, 201);
  assert.equal(
    (await rig.ask(task(rig, {}, { 'content-type': 'application/x-www-form-urlencoded' }))).status,
    201,
  );
});

test('a body that is not JSON, or not UTF-8, is 400 body_invalid', async () => {
  const bodies = ['', '{', 'template=fix', "{'agent':1}", Buffer.from([0x7b, 0xff, 0x7d]), '\u{feff}{}'];
  for (const body of bodies) {
    const answer = await rig.ask({ path: '/task', body, headers: svcHeaders(body, rig.clock.now()) });
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.equal(answer.body.code, 'body_invalid');
    if (body === 'template=fix') assert.match(answer.body.hint, /content type to application\/json$/);
  }
});

test('the checks come in order: route, method, size, time, signature, replay, parse, fields', async () => {
  const large = { 'content-length': '999999999' };
  const stale = { 'x-svc-timestamp': '1', 'x-svc-signature': 'no' };
  const codes = async (ask: Parameters<Rig['ask']>[0]) => (await rig.ask(ask)).body.code;
  assert.equal(await codes({ method: 'PUT', path: '/nowhere', headers: large }), 'not_found');
  assert.equal(await codes({ method: 'PUT', path: '/task', headers: large }), 'method_not_allowed');
  assert.equal(await codes({ path: '/task', headers: { ...large, ...stale } }), 'body_too_large');
  assert.equal(await codes({ path: '/task', headers: stale, body: 'x' }), 'timestamp_out_of_range');
  const unsigned = { ...svcHeaders('x', rig.clock.now()), 'x-svc-signature': 'no' };
  assert.equal(await codes({ path: '/task', headers: unsigned, body: 'x' }), 'signature_invalid');
  const notJson = { path: '/task', headers: svcHeaders('x', rig.clock.now()), body: 'x' };
  assert.equal(await codes(notJson), 'body_invalid');
  assert.equal(await codes(notJson), 'replayed', 'the signature is used up and checked before the body');
  assert.equal(await codes(task(rig, { dispatch: 'yes' })), 'fields_invalid');
});

test('an internal error is a 5xx that reveals nothing of this machine, and the same request may be sent again', async () => {
  const ask = task(rig);
  rig.storage.db.exec(
    "CREATE TRIGGER full BEFORE INSERT ON event BEGIN SELECT RAISE(ABORT, '/secret/path'); END",
  );
  const answer = await rig.ask(ask);
  assert.ok(answer.status >= 500);
  assert.doesNotMatch(answer.text, /secret/);
  assert.equal(rig.tasks.list({}).length, 0);
  rig.storage.db.exec('DROP TRIGGER full');
  assert.equal((await rig.ask(ask)).status, 201);
  assert.equal((await rig.ask(ask)).status, 409);
});

test('an answer contains only ids, states, titles and counts: none holds the prompt', async () => {
  const prompt = 'first line\nthe hidden part of the prompt';
  const { text, body } = await rig.ask(task(rig, { prompt, dispatch: true }));
  assert.doesNotMatch(text, /hidden/);
  assert.doesNotMatch((await rig.ask(poll(rig, body.decision_id))).text, /hidden|first/);
  assert.doesNotMatch((await rig.ask(decide(rig, body.decision_id, 'approve'))).text, /hidden|first/);
});
