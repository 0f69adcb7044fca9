import assert from 'node:assert/strict';
import { afterEach, it } from 'node:test';
import { logMachineIn, onBothDatabases, openBrowser, PASSWORD } from '../../support/server/linked-server.ts';
import { HASH, linkByHand } from '../../support/workspaces/workspace-by-hand.ts';
import { type DeliveryRig, deliveryRig } from './deliveries/rig.ts';

const DAY = 24 * 3600_000;
const AHEAD = 3 * DAY;

const open: DeliveryRig[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

onBothDatabases((start) => {
  it('messages that waited while the clock was ahead are sent when it was set back', async () => {
    const rig = await deliveryRig(start);
    open.push(rig);
    const now = rig.server.clock.now();
    let isDown = true;
    const hook = await rig.addTarget('webhook', { 'events[]': 'failed' }, (_count, response) => {
      response.statusCode = isDown ? 500 : 200;
      response.end();
    });
    rig.server.clock.set(now + AHEAD);
    await rig.queue([{ event: 'failed' }]);
    await hook.atLeast(1);
    await rig.server.parts.deliveries.settled();
    rig.server.clock.set(now);
    isDown = false;
    await rig.advance(0);
    assert.equal(hook.caught.length, 2);
    const [row] = await rig.server.parts.db.selectFrom('deliveries').selectAll().execute();
    assert.deepEqual([row?.state, row?.tries], ['delivered', 2]);
  });

  it('codes and sessions from a clock that was ahead are not valid for longer', async () => {
    const rig = await deliveryRig(start);
    open.push(rig);
    const { server, ann } = rig;
    const now = server.clock.now();
    const shop = await linkByHand(server, ann);
    await shop.tellPending([{}]);
    server.clock.set(now + AHEAD);
    const eve = openBrowser(server);
    await eve.post('/sign-in', { name: 'ann', password: PASSWORD });
    await ann.post(`/app/decisions/${shop.id}/d-17/approve`, { hash: HASH });
    const invited = await ann.post('/app/people', { name: 'bob', role: 'member' });
    const address = /\/invitation\/[\w-]+/.exec(invited.text)![0];
    server.clock.set(now);
    await server.parts.retention.clean();
    const commands = await shop.call('GET', '/v1/commands?after=0&wait=0');
    assert.match(commands.text, /"commands":\[\]/);
    assert.equal((await eve.get('/app')).status, 200);
    assert.equal((await openBrowser(server).get(address)).status, 200);
    server.clock.set(now + AHEAD);
    assert.equal((await openBrowser(server).get(address)).status, 404);
    server.clock.set(now + 7 * DAY + 1);
    assert.equal((await eve.get('/app')).status, 303);
  });

  it('chat codes and changed secrets expire in time, and a failing target is paused after a day', async () => {
    const rig = await deliveryRig(start);
    open.push(rig);
    const { server, ann } = rig;
    const { chats, people, targets, retention } = server.parts;
    const now = server.clock.now();
    const hook = await rig.addTarget('webhook', {}, (_count, response) => response.writeHead(500).end());
    const { account_id: home, id: person } = await people.find('ann');
    server.clock.set(now + AHEAD);
    await rig.queue([{ event: 'sealed' }]);
    await hook.atLeast(1);
    await server.parts.deliveries.settled();
    await ann.post(`/app/settings/targets/${hook.id}/secret`);
    const code = await chats.connections.makeCode('telegram', 'person', person);
    server.clock.set(now);
    await retention.clean();
    const place = { channel: '1', channelName: null, isPrivate: true };
    const words = { user: { id: '1', name: 'Eve' }, place, text: code };
    assert.equal(await chats.connections.claim('telegram', words, code.replace('-', '')), 'unknown');
    for (let passed = 0; passed < 25; passed += 1) await rig.advance(DAY / 24);
    const target = (await targets.find(hook.id, home))!;
    assert.equal(target.paused_why, 'failing');
    assert.equal(targets.open(target).secrets.length, 1);
    const [row] = await server.parts.db.selectFrom('deliveries').selectAll().execute();
    assert.equal(row?.state, 'waiting');
  });

  it('a terminal that polls while the clock is set back is not slowed down', async () => {
    const rig = await deliveryRig(start);
    open.push(rig);
    const { server, ann } = rig;
    const terminal = openBrowser(server);
    const started = await terminal.post('/oauth/device_authorization', { client_id: 'svc' });
    const { device_code } = JSON.parse(started.text) as { device_code: string };
    const poll = async () =>
      (
        await terminal.post('/oauth/token', {
          client_id: 'svc',
          grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
          device_code,
        })
      ).text;
    assert.match(await poll(), /authorization_pending/);
    server.clock.set(server.clock.now() - 60_000);
    assert.match(await poll(), /authorization_pending/);
    assert.match(await poll(), /slow_down/);
    assert.match(await logMachineIn(server, ann), /^svcm_/);
  });
});
