import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../engine/core/base/clock.ts';
import { TELEMETRY_SCHEMA } from '../../engine/core/link-protocol/telemetry-day.ts';
import { startLinkProxy } from '../support/server/link-proxy.ts';
import { logMachineIn, setUpServer, startTestServer } from '../support/server/linked-server.ts';
import { settled, until } from '../support/wait.ts';
import { DAY, settableClock } from '../support/workspaces/counted-workspace.ts';
import { engineHere } from '../support/workspaces/engine.ts';
import { makeWorkspace } from '../support/workspaces/workspace.ts';

test('an engine that is killed after the server has a day, and before it knows, sends it again: it counts once', async (t) => {
  const proxy = await startLinkProxy();
  t.after(() => proxy.close());
  const server = await startTestServer({ clock: systemClock, publicUrl: proxy.url });
  t.after(() => server.close());
  proxy.upstream = server.port;
  const ws = await makeWorkspace();
  t.after(() => ws.close());
  const readDays = () => server.parts.db.selectFrom('usage_days').selectAll().execute();

  // An engine whose clock is behind counts the day, so the day is over for the next engine.
  const here = await engineHere(ws, { clock: settableClock(-2) });
  const token = await logMachineIn(server, await setUpServer(server));
  await here.call('link.start', { server: proxy.url, token });
  await here.call('telemetry.agree', { schema: TELEMETRY_SCHEMA });
  for (const body of ['one', 'two']) await here.call('task.add', { body });
  const [shown] = (await here.call('telemetry.show', {})).next;
  await here.end();
  assert.deepEqual(await readDays(), []);

  let told = 0;
  const killed = Promise.withResolvers<void>();
  proxy.allow = async (path, step) => {
    if (!path.startsWith('PUT /v1/usage/') || step !== 'answer') return true;
    told += 1;
    if (told > 1) return true;
    await ws.killDaemon().then(killed.resolve, killed.reject);
    return false;
  };
  await ws.connect();
  await settled(killed.promise, 'the death of the engine');
  const [first, ...others] = await readDays();
  assert.deepEqual(others, []);
  assert.equal(first?.body, shown?.body);

  const client = await ws.connect();
  const { next, sent } = await until(async () => {
    const view = await client.call('telemetry.show', {});
    return view.sent.length > 0 ? view : null;
  }, 'the day that is sent again');
  assert.equal(told, 2);
  assert.deepEqual(next, []);
  assert.deepEqual(
    sent.map(({ body }) => body),
    [shown?.body],
  );
  const days = await readDays();
  assert.deepEqual(
    days.map(({ body }) => body),
    [shown?.body],
  );
  assert.match(days[0]!.body, /"tasks":\{"tui":2\}/);
  assert.ok(Date.parse(days[0]!.day) < Date.now() - DAY);
});
