import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkLink } from '../../../cli/doctor/engine.ts';
import { type Clock, systemClock } from '../../../engine/core/base/clock.ts';
import { describeLink, describeLinkState } from '../../../engine/index.ts';
import { startHostileServer } from '../../support/server/hostile-server.ts';
import { linkWorkspace } from '../../support/server/linked-workspace.ts';
import { until } from '../../support/wait.ts';
import type { EngineHere } from '../../support/workspaces/engine.ts';

const HOUR = 3600_000;

/** Returns the link's state as shown by the dashboard's head, `svc status` and `svc doctor`. */
async function readFaces({ call }: Pick<EngineHere, 'call'>): Promise<string[]> {
  const status = await call('engine.status', {});
  const checks = checkLink(status).map(({ state, found }) => `${state}: ${found}`);
  return [describeLinkState(status.link) ?? '', describeLink(status.link) ?? '', ...checks];
}

const waitForHead = (here: EngineHere, head: string): Promise<string[]> =>
  until(async () => {
    const faces = await readFaces(here);
    return faces[0] === head ? faces : null;
  }, head);

test('every interface shows the state of the link in a line', async (t) => {
  const linked = await linkWorkspace();
  t.after(() => linked.close());
  const { here, server, ann } = linked;
  const [, line, check] = await waitForHead(here, 'linked');
  assert.match(line ?? '', new RegExp(`^${server.url}: connected since \\S+ \\S+; telemetry waits`));
  assert.match(check ?? '', /^ok: /);

  await fetch(`${server.url}/v1/commands?wait=0&instance=second`, {
    headers: { authorization: `Bearer ${linked.token()}`, 'svc-protocol': '1' },
  });
  const displaced = await waitForHead(here, 'link displaced');
  assert.match(displaced[1] ?? '', /displaced: another engine uses the token of this workspace since/);
  assert.match(displaced[1] ?? '', /; stop that engine, or run svc link here, which invalidates its token/);
  assert.doesNotMatch(displaced[1] ?? '', /the same token/);
  assert.match(displaced[2] ?? '', /^warn: /);

  await ann.post(`/app/workspaces/${linked.id}/revoke`);
  await here.ask('say hello');
  const revoked = await waitForHead(here, 'link revoked');
  assert.match(revoked[1] ?? '', /revoked: svc link links it again since/);
  assert.match(revoked[2] ?? '', /^warn: /);

  await here.call('link.stop', {});
  assert.deepEqual(await readFaces(here), ['', '']);
});

test('the end of a lease is announced a day ahead, and so are events that wait for a missing server', async (t) => {
  let shift = 0;
  const clock: Clock = { ...systemClock, now: () => systemClock.now() + shift };
  const linked = await linkWorkspace({ engine: { clock } });
  t.after(() => linked.close());
  const { here, server } = linked;
  await waitForHead(here, 'linked');
  await server.close();
  await here.ask('say hello');
  await waitForHead(here, 'server gone');
  shift = 47 * HOUR;
  assert.equal((await readFaces(here))[0], 'server gone');
  shift = 49 * HOUR;
  const [head, line, check] = await readFaces(here);
  assert.equal(head, 'server gone, lease ends in 23 h');
  assert.match(line ?? '', /does not answer since .*; the lease ends in 23 h.*; \d+ events? not sent yet/);
  assert.match(check ?? '', /^warn: .*the lease ends in 23 h/);
  shift = 73 * HOUR;
  assert.equal((await readFaces(here))[0], 'server gone, lease expired');
});

test('an invalid lease and a wrong clock are reported while the link works', async (t) => {
  const hostile = await startHostileServer();
  t.after(() => hostile.close());
  const clock: Clock = { ...systemClock, now: () => systemClock.now() - HOUR };
  const linked = await linkWorkspace({ engine: { clock } });
  t.after(() => linked.close());
  const [, line] = await waitForHead(linked.here, 'linked');
  assert.match(line ?? '', /; its clock is 3600 seconds ahead/);
  await linked.here.call('link.start', { server: hostile.url, token: 'svcm_machine' });
  const [, invalid] = await waitForHead(linked.here, 'linked, lease invalid');
  assert.match(invalid ?? '', /; lease rejected: its signature is not from the server/);
});
