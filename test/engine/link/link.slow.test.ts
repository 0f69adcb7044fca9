import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../engine/core/base/clock.ts';
import type { CommandsAnswer } from '../../../engine/core/link-protocol/messages.ts';
import { startHostileServer } from '../../support/server/hostile-server.ts';
import { logMachineIn, startTestServer } from '../../support/server/linked-server.ts';
import { linkWorkspace } from '../../support/server/linked-workspace.ts';
import { until } from '../../support/wait.ts';
import { engineHere } from '../../support/workspaces/engine.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

test('a workspace is linked, linked again and unlinked, and older tokens open nothing', async (t) => {
  const linked = await linkWorkspace();
  t.after(() => linked.close());
  const { here, server, ann, ws } = linked;
  const first = linked.token();
  const file = join(ws.root, '.svc', 'device.token');
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.match(readFileSync(join(ws.root, 'svc.yaml'), 'utf8'), new RegExp(server.url));
  const ask = async (token: string): Promise<number> =>
    (
      await fetch(`${server.url}/v1/commands?wait=0&instance=other`, {
        headers: { authorization: `Bearer ${token}`, 'svc-protocol': '1' },
      })
    ).status;
  await here.call('link.start', { server: server.url, token: await logMachineIn(server, ann) });
  await until(async () => (await here.call('link.status', {})).state === 'connected');
  assert.notEqual(linked.token(), first);
  assert.equal(await ask(first), 401);
  assert.match((await ann.get('/app/workspaces')).text, new RegExp(`/app/workspaces/${linked.id}"`));
  const second = linked.token();
  assert.deepEqual(await here.call('link.stop', {}), { server: server.url, is_told: true });
  assert.equal(await ask(second), 401);
  assert.ok(!existsSync(file));
  assert.doesNotMatch(readFileSync(join(ws.root, 'svc.yaml'), 'utf8'), new RegExp(server.url));
  assert.equal((await here.call('link.status', {})).state, 'off');
  assert.deepEqual(await here.call('link.stop', {}), { server: null, is_told: false });
});

test('an unlinked workspace sends its token nowhere when server.url names another server', async (t) => {
  const linked = await linkWorkspace();
  t.after(() => linked.close());
  const thief = await startHostileServer();
  t.after(() => thief.close());
  await linked.here.call('config.set', { key: 'server.url', value: thief.url });
  await until(async () => (await linked.here.call('link.status', {})).state === 'off');
  assert.match((await linked.here.call('link.status', {})).problem ?? '', /but the token belongs to/);
  await linked.here.ask('say hello');
  await assert.rejects(linked.here.call('link.start', { server: 'http://example.org', token: 'svcm_x' }), {
    code: 'address_refused',
  });
  assert.deepEqual(thief.received, []);
});

test('a token that is revoked while the workspace polls ends the link, and work continues', async (t) => {
  const linked = await linkWorkspace();
  t.after(() => linked.close());
  const { here, ann } = linked;
  assert.equal((await ann.post(`/app/workspaces/${linked.id}/revoke`)).status, 303);
  const status = await until(async () => {
    const found = await here.call('link.status', {});
    return found.state === 'revoked' ? found : null;
  });
  assert.equal(status.server, linked.server.url);
  const { decision_id: id } = await here.ask('say hello');
  await here.call('decision.deny', { id, reason: 'no' });
  assert.equal((await here.call('link.status', {})).waiting_events, 0);
});

test('a machine that is logged out takes its workspaces with it', async (t) => {
  const linked = await linkWorkspace();
  t.after(() => linked.close());
  const machine = /\/app\/machines\/(m_[\w-]+)\/revoke/.exec(
    (await linked.ann.get('/app/machines')).text,
  )?.[1];
  assert.equal((await linked.ann.post(`/app/machines/${machine}/revoke`)).status, 303);
  await linked.here.ask('say hello');
  await until(async () => (await linked.here.call('link.status', {})).state === 'revoked');
});

test("events during the server's absence are sent once it is back, and every button is true", async (t) => {
  const linked = await linkWorkspace();
  t.after(() => linked.close());
  const { here, server, ann } = linked;
  await linked.setDecide({ ann: ['page'] });
  const before = await here.ask('before');
  await linked.waits(before.decision_id);
  const { port } = server;
  await server.close();
  const during = await here.ask('during');
  await here.call('decision.deny', { id: before.decision_id, reason: 'no' });
  await until(async () => (await here.call('link.status', {})).state === 'unreachable');
  assert.ok((await here.call('link.status', {})).waiting_events > 0);
  const again = await startTestServer({
    folder: server.folder,
    addr: `127.0.0.1:${port}`,
    clock: systemClock,
  });
  linked.server = again;
  await linked.waits(during.decision_id);
  await until(async () => (await here.call('link.status', {})).waiting_events === 0);
  const page = await ann.get('/app');
  assert.doesNotMatch(page.text, new RegExp(`${before.decision_id}<`));
  const events = (await ann.get(`/app/workspaces/${linked.id}`)).text;
  assert.equal(events.match(/<td[^>]*>denied<\/td>/g)?.length, 1);
});

test('a second engine with the same token displaces the first, both report it, and neither receives a command', async (t) => {
  const linked = await linkWorkspace();
  t.after(() => linked.close());
  const { here, server } = linked;
  await linked.setDecide({ ann: ['page'] });
  const asked = await here.ask('say hello');
  const page = await linked.waits(asked.decision_id);
  const poll = async (): Promise<CommandsAnswer> =>
    (await (
      await fetch(`${server.url}/v1/commands?wait=0&instance=second`, {
        headers: { authorization: `Bearer ${linked.token()}`, 'svc-protocol': '1' },
      })
    ).json()) as CommandsAnswer;
  const second = await poll();
  assert.equal(second.contested, true);
  await until(async () => (await here.call('link.status', {})).state === 'displaced');
  const hash = /name="hash" value="([0-9a-f]{64})"/.exec(page.text)?.[1] ?? '';
  const place = `/app/decisions/${linked.id}/${asked.decision_id}`;
  await linked.ann.post(`${place}/deny`, { hash });
  assert.deepEqual((await poll()).commands, []);
  assert.equal((await here.call('decision.show', { id: asked.decision_id })).decision.state, 'pending');
});

test('presses of one button and of several people at the same time decide once', async (t) => {
  const linked = await linkWorkspace();
  t.after(() => linked.close());
  const { here, ann } = linked;
  await linked.setDecide({ ann: ['page'] });
  const asked = await here.ask('say hello');
  const page = await linked.waits(asked.decision_id);
  const hash = /name="hash" value="([0-9a-f]{64})"/.exec(page.text)?.[1] ?? '';
  const place = `/app/decisions/${linked.id}/${asked.decision_id}`;
  const presses = await Promise.all([
    ...Array.from({ length: 10 }, () => ann.post(`${place}/approve`, { hash })),
    ...Array.from({ length: 5 }, () => ann.post(`${place}/deny`, { hash })),
    ...Array.from({ length: 5 }, () =>
      here.call('decision.approve', { id: asked.decision_id }).catch(() => undefined),
    ),
  ]);
  assert.equal(presses.length, 20);
  const { decision } = await here.call('decision.show', { id: asked.decision_id });
  assert.notEqual(decision.state, 'pending');
  assert.equal(await here.call('session.count', {}), decision.state === 'approved' ? 1 : 0);
});

test('a 90-day-old token is replaced automatically, and a clock that was set blocks no decision', async (t) => {
  let shift = 0;
  const clock = { now: () => systemClock.now() + shift, monotonic: systemClock.monotonic };
  const linked = await linkWorkspace({ engine: { clock } });
  t.after(() => linked.close());
  await linked.setDecide({ ann: ['page'] });
  const before = linked.token();
  const asked = await linked.here.ask('say hello');
  const other = await linked.here.ask('say hello again');
  await linked.waits(other.decision_id);
  shift = 91 * 86_400_000;
  assert.match((await linked.press('deny', asked.decision_id)).text, /Denied by ann on the web/);
  await until(() => linked.token() !== before, 'another token');
  assert.match((await linked.press('deny', other.decision_id)).text, /Denied by ann on the web/);
  assert.equal((await linked.here.call('link.status', {})).state, 'connected');
});

test('the old of two tokens is valid until the new one was used', async (t) => {
  const linked = await linkWorkspace();
  t.after(() => linked.close());
  const call = async (path: string, method: string, token: string): Promise<Response> =>
    fetch(`${linked.server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'svc-protocol': '1' },
    });
  const old = linked.token();
  const { token } = (await (await call('/v1/workspace/token', 'POST', old)).json()) as { token: string };
  assert.equal((await call('/v1/commands?wait=0&instance=x', 'GET', old)).status, 200);
  assert.equal((await call('/v1/commands?wait=0&instance=x', 'GET', token)).status, 200);
  assert.equal((await call('/v1/commands?wait=0&instance=x', 'GET', old)).status, 401);
});

test('the server rejects an unknown field without keeping anything of the call, and names the older protocol', async (t) => {
  const linked = await linkWorkspace();
  t.after(() => linked.close());
  const { server } = linked;
  const send = async (path: string, method: string, body: unknown, protocol = '1') => {
    const answer = await fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${linked.token()}`, 'svc-protocol': protocol },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as { code: string; detail: string } };
  };
  const event = {
    id: 'x-1',
    event: 'sealed',
    at: '2026-01-01T00:00:00.000Z',
    project: null,
    task_id: 't-1',
    decision_id: null,
    session_id: null,
    agent: null,
    status: null,
    title: null,
    reason: null,
  };
  const events = (each: object) => ({ workspace: 'w', events: [event, each] });
  assert.equal((await send('/v1/events', 'POST', events({ ...event, prompt: 'secret' }))).status, 422);
  assert.equal(
    (await send('/v1/events', 'POST', events({ ...event, id: 'x-2', title: 'x'.repeat(201) }))).status,
    422,
  );
  assert.equal((await send('/v1/events', 'POST', 'no json')).body.code, 'body_invalid');
  assert.equal((await send('/v1/workspaces', 'POST', ' '.repeat(65 * 1024))).status, 413);
  assert.doesNotMatch((await linked.ann.get(`/app/workspaces/${linked.id}`)).text, /sealed/);
  const old = await send('/v1/events', 'POST', events(event), '0');
  assert.deepEqual([old.status, old.body.code], [426, 'protocol_mismatch']);
  assert.match(old.body.detail, /update svc on the machine/);
  assert.match((await send('/v1/events', 'POST', events(event), '2')).body.detail, /update the server/);
  assert.equal((await send('/v1/commands/k_unknown1', 'POST', { outcome: 'denied' })).status, 422);
});

test('a workspace of another account is not found', async (t) => {
  const linked = await linkWorkspace();
  t.after(() => linked.close());
  const { ann, server, here } = linked;
  await linked.setDecide({ ann: ['page'], carl: ['page'] });
  const asked = await here.ask('say hello');
  await linked.waits(asked.decision_id);
  const made = await ann.post('/operator/accounts', { account: 'other', name: 'carl' });
  const { openBrowser } = await import('../../support/server/linked-server.ts');
  const carl = openBrowser(server);
  await carl.post(/\/invitation\/[\w-]+/.exec(made.text)?.[0] ?? '', { password: 'correct horse battery' });
  const place = `/app/decisions/${linked.id}/${asked.decision_id}`;
  assert.equal((await carl.get(place)).status, 404);
  assert.equal((await carl.post(`${place}/approve`, { hash: 'f'.repeat(64) })).status, 404);
  assert.equal((await carl.get(`/app/workspaces/${linked.id}`)).status, 404);
  assert.equal((await carl.post(`/app/workspaces/${linked.id}/revoke`)).status, 404);
  assert.equal((await ann.post(`${place}/approve`, {}, { origin: 'https://evil.example' })).status, 403);
  assert.doesNotMatch((await carl.get('/app')).text, new RegExp(asked.decision_id));
  assert.equal((await here.call('decision.show', { id: asked.decision_id })).decision.state, 'pending');
});

test('workers and plain sessions can neither link nor unlink nor create codes', async (t) => {
  const ws = await makeWorkspace();
  t.after(() => ws.close());
  const here = await engineHere(ws);
  t.after(() => here.end());
  for (const [name, input] of [
    ['link.start', { token: 'svcm_x', server: 'https://svc.example.org' }],
    ['link.stop', {}],
    ['link.code', {}],
  ] as const)
    for (const seat of ['worker', 'plain'] as const)
      await assert.rejects(here.callByName(name, input, { seat }), { code: 'chair_only' });
  writeFileSync(
    join(ws.root, 'svc.yaml'),
    `${readFileSync(join(ws.root, 'svc.yaml'), 'utf8')}server: { token_path: t }\n`,
  );
  ws.agree();
  await here.call('engine.reload', {});
  await assert.rejects(here.call('link.start', { token: 'svcm_x', server: 'https://svc.example.org' }), {
    code: 'path_outside',
  });
});
