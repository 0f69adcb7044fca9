import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../../../engine/core/base/clock.ts';
import {
  type HostileServer,
  openBesideHostileServer,
  startHostileServer,
} from '../../support/server/hostile-server.ts';
import { until } from '../../support/wait.ts';
import type { EngineHere } from '../../support/workspaces/engine.ts';

const DAY = 86_400_000;

const send = (response: ServerResponse, status: number, body: unknown): true => {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  return true;
};

const linkAnswer = (token: string, workspace = 'w_hostile') => ({
  workspace,
  token,
  account: 'home',
  person: 'ann',
  lease_key: 'h'.repeat(43),
  server_time: new Date().toISOString(),
});

const isConnected = (here: EngineHere) =>
  until(async () => (await here.call('link.status', {})).state === 'connected', 'the link');

test('the last of several simultaneous links and unlinks applies, in any order of answers', async (t) => {
  const { server, ws, here } = await openBesideHostileServer(t);
  const waiting: (() => void)[] = [];
  let newest = '';
  server.misbehave = ({ path }, response) => {
    if (path !== '/v1/workspaces') return false;
    newest = `svcw_${String(waiting.length).padStart(43, 'n')}`;
    const token = newest;
    waiting.push(() => send(response, 200, linkAnswer(token)));
    return true;
  };
  const link = () => here.call('link.start', { server: server.url, token: 'svcm_machine' });
  const changes = Promise.all([link(), link(), here.call('link.stop', {}), link()]);
  for (const count of [1, 2, 3]) {
    await until(() => waiting.length === count, 'the next one');
    waiting[count - 1]?.();
  }
  await changes;
  await isConnected(here);
  assert.equal(readFileSync(join(ws.root, '.svc', 'device.token'), 'utf8').trim(), newest);
  const own = server.received.filter(({ authorization }) => authorization.startsWith('Bearer svcw_'));
  assert.equal(own.at(-1)?.authorization, `Bearer ${newest}`);
});

test("a workspace that is linked elsewhere shows neither server the other's data, even when settings are read in between", async (t) => {
  const { server, here } = await openBesideHostileServer(t);
  const second = await startHostileServer();
  t.after(() => second.close());
  server.misbehave = ({ path }, response) =>
    path === '/v1/workspaces' && send(response, 200, linkAnswer(`svcw_${'1'.repeat(43)}`));
  second.misbehave = ({ path }, response) =>
    path === '/v1/workspaces' && send(response, 200, linkAnswer(`svcw_${'2'.repeat(43)}`));
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await isConnected(here);
  const { decision_id } = await here.ask('waits for the first server');
  const linking = here.call('link.start', { server: second.url, token: 'svcm_machine' });
  const settings = Array.from({ length: 20 }, (_, at) =>
    here.call('config.set', { key: 'workspace.name', value: `name-${at}` }),
  );
  await Promise.all([linking, ...settings]);
  await isConnected(here);
  await here.call('decision.deny', { id: decision_id, reason: 'no' });
  await until(() => second.received.some(({ text }) => text.includes('denied')), 'the second is told');
  const tokens = (to: HostileServer) => [...new Set(to.received.map(({ authorization }) => authorization))];
  assert.deepEqual(tokens(server), ['Bearer svcm_machine', `Bearer svcw_${'1'.repeat(43)}`]);
  assert.deepEqual(tokens(second), ['Bearer svcm_machine', `Bearer svcw_${'2'.repeat(43)}`]);
  assert.ok(
    !second.received.some(({ path, text }) => path === '/v1/events' && text.includes('needs_approval')),
  );
});

test('a workspace that is linked in another account of the same server sends it nothing that waited for the old one', async (t) => {
  const { server, here } = await openBesideHostileServer(t);
  let account = '1';
  server.misbehave = ({ path }, response) => {
    if (path === '/v1/workspaces')
      return send(response, 200, linkAnswer(`svcw_${account.repeat(43)}`, `w_${account}`));
    return account === '1' && path === '/v1/events' && send(response, 500, {});
  };
  const link = () => here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await link();
  await isConnected(here);
  const { decision_id } = await here.ask('waits for the first account');
  await here.call('link.code', {});
  account = '2';
  await link();
  await isConnected(here);
  await here.call('decision.deny', { id: decision_id, reason: 'no' });
  const told = () =>
    server.received.filter(
      ({ path, authorization }) => path === '/v1/events' && authorization.endsWith('2'.repeat(43)),
    );
  await until(() => told().some(({ text }) => text.includes('denied')), 'the second account is told');
  assert.ok(!told().some(({ text }) => text.includes('needs_approval')));
  // The codes belonged to the first server's people.
  await here.call('link.code', {});
});

test('a relink does not treat the end of the old token as a revocation, and loses nothing', async (t) => {
  const { server, here } = await openBesideHostileServer(t);
  const link = () => here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await link();
  await isConnected(here);
  let poll: ServerResponse | null = null;
  let answerLink = (): void => undefined;
  server.misbehave = ({ path }, response) => {
    if (path === '/v1/workspaces') {
      answerLink = () => {
        server.misbehave = null;
        send(response, 200, linkAnswer(`svcw_${'2'.repeat(43)}`));
      };
      return send(poll!, 401, { code: 'revoked' });
    }
    if (!path.startsWith('/v1/commands?')) return false;
    poll = response;
    return true;
  };
  // Ends a poll that may be open; a later poll gets the command once it is answered as usual.
  const given = server.give({ verb: 'run' });
  await until(() => poll !== null, 'the next poll');
  const linking = link();
  await until(async () => (await here.call('link.status', {})).state === 'revoked', 'the end of the token');
  await here.ask('happens meanwhile');
  answerLink();
  await linking;
  await given;
  await until(
    () => server.received.some(({ path, text }) => path === '/v1/events' && text.includes('needs_approval')),
    'the server is told',
  );
  const events = await here.call('event.list', {});
  assert.ok(!events.some(({ kind }) => kind === 'alert'));
});

test('a token that could not be stored is not requested', async (t) => {
  const { server, ws, here } = await openBesideHostileServer(t);
  const place = join(ws.root, '.svc', 'tokens');
  const link = () => here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await here.call('config.set', { key: 'server.token_path', value: '.svc/tokens/mine' });
  writeFileSync(place, '');
  await assert.rejects(link(), { code: 'storage_unsafe' });
  assert.deepEqual(server.received, []);
  rmSync(place);
  mkdirSync(join(place, 'mine'), { recursive: true });
  await assert.rejects(link(), { code: 'storage_unsafe' });
  assert.deepEqual(server.received, []);
  rmSync(place, { recursive: true });
  await link();
  await isConnected(here);
  assert.ok(existsSync(join(place, 'mine')));
  await assert.rejects(here.call('link.start', { server: server.url, token: 'a\nb' }), {
    code: 'fields_invalid',
    message: /not a machine token/,
  });
});

test('a workspace overwrites neither the login nor another workspace in the machine home', async (t) => {
  const { server, ws, here } = await openBesideHostileServer(t);
  const home = ws.env.SVC_HOME ?? '';
  const link = () => here.call('link.start', { server: server.url, token: 'svcm_machine' });
  for (const name of ['device.token', 'account.json']) {
    await here.call('config.set', { key: 'server.token_path', value: join(home, name) });
    await assert.rejects(link(), { code: 'path_outside', message: /belongs to the login/ });
  }
  const file = join(home, 'tokens', 'shared');
  mkdirSync(join(home, 'tokens'));
  writeFileSync(file, 'svcw_of_another\n', { mode: 0o600 });
  await here.call('config.set', { key: 'server.token_path', value: file });
  await assert.rejects(link(), { code: 'exists' });
  assert.equal(readFileSync(file, 'utf8'), 'svcw_of_another\n');
  assert.deepEqual(server.received, []);
  rmSync(file);
  await link();
  await link();
  assert.match(readFileSync(file, 'utf8'), /^svcw_h+\n$/);
});

test('an old token that cannot be replaced is valid too, and is not renewed at every poll', async (t) => {
  let ahead = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const { server, here } = await openBesideHostileServer(t, { clock });
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await isConnected(here);
  server.misbehave = ({ path }, response) => path === '/v1/workspace/token' && send(response, 500, {});
  ahead = 91 * DAY;
  for (const verb of ['run', 'walk', 'fly'])
    assert.equal(
      (await server.give({ verb, at: new Date(clock.now()).toISOString() })).outcome,
      'unknown_verb',
    );
  assert.equal((await here.call('link.status', {})).state, 'connected');
  assert.equal(server.received.filter(({ path }) => path === '/v1/workspace/token').length, 1);
});
