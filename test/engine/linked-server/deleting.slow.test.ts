import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import { sql } from 'kysely';
import { askRunningServer } from '../../../engine/linked-server/index.ts';
import { KEYS } from '../../../engine/linked-server/keeping/export.ts';
import {
  onBothDatabases,
  openBrowser,
  PASSWORD,
  signIn,
  startTestServer,
  type TestServer,
} from '../../support/server/linked-server.ts';
import { linkByHand } from '../../support/workspaces/workspace-by-hand.ts';
import { addOtherAccount, type DeliveryRig, deliveryRig } from './deliveries/rig.ts';

const open: DeliveryRig[] = [];
afterEach(async () => {
  for (const rig of open.splice(0)) await rig.close();
});

/** Returns the tables that contain this text anywhere. */
async function findTraces({ parts }: TestServer, text: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of Object.keys(KEYS)) {
    const { rows } = await sql`SELECT * FROM ${sql.table(table)}`.execute(parts.db);
    if (rows.some((row) => JSON.stringify(row).includes(text))) found.push(table);
  }
  return found;
}

onBothDatabases((start) => {
  async function openRig(): Promise<DeliveryRig> {
    const rig = await deliveryRig(start);
    open.push(rig);
    return rig;
  }

  it('a removed workspace leaves nothing behind, and its token is invalid', async () => {
    const { server, ann, addTarget } = await openRig();
    const removals = [
      (id: string) => ann.post(`/app/workspaces/${id}/remove`),
      (id: string) => askRunningServer(server.folder, 'workspace.remove', { name: id }),
    ];
    for (const remove of removals) {
      const shop = await linkByHand(server, ann, { name: 'web-shop', key: 'the shop' });
      const other = await linkByHand(server, ann, { name: 'api' });
      const both = await addTarget('webhook', {
        'events[]': 'needs_approval',
        scope: 'ticked',
        'workspaces[]': shop.id,
      });
      await shop.tellPending([{}]);
      await shop.tellEvents([{}]);
      await both.atLeast(1);
      await ann.post(`/app/decisions/${shop.id}/d-17/deny`, { hash: 'ab'.repeat(32) });
      assert.deepEqual(await findTraces(server, shop.id), [
        'workspaces',
        'workspace_events',
        'workspace_sessions',
        'pending_decisions',
        'commands',
        'targets',
        'deliveries',
      ]);
      const page = await ann.get(`/app/workspaces/${shop.id}/remove`);
      assert.match(page.text, /The workspace itself loses nothing/);
      assert.deepEqual(
        (await findTraces(server, shop.id)).length,
        7,
        'the confirmation page changes nothing',
      );
      const polling = shop.call('GET', '/v1/commands?after=9&wait=25&instance=a');
      await shop.call('GET', '/v1/lease?nonce=nnnnnnnnnnnnnnnnnnnnnn');
      await remove(shop.id);
      assert.deepEqual(await findTraces(server, shop.id), []);
      assert.equal((await polling).status, 401);
      assert.equal((await shop.call('GET', '/v1/commands?after=0&wait=0')).status, 401);
      assert.equal((await ann.get(`/app/workspaces/${shop.id}`)).status, 404);
      // A target for only this workspace does not become a target for all.
      await other.tellEvents([{ id: `e-${other.id}` }]);
      await server.parts.deliveries.settled();
      assert.equal(both.caught.length, 1);
      await ann.post(`/app/settings/targets/${both.id}/remove`);
    }
    assert.match((await ann.get('/app/log')).text, /workspace removed: web-shop/);
    const listed = await askRunningServer(server.folder, 'workspace.list', {});
    assert.deepEqual(
      (listed!.result as { name: string; account: string; state: string }[]).map(({ name, account }) => [
        name,
        account,
      ]),
      [['api', 'home']],
    );
  });

  it('a name of two workspaces removes neither', async () => {
    const { server, ann } = await openRig();
    await linkByHand(server, ann, { key: 'one' });
    const { id } = await linkByHand(server, ann, { key: 'two' });
    const remove = (name: string) => askRunningServer(server.folder, 'workspace.remove', { name });
    await assert.rejects(remove('web-shop'), { code: 'conflict' });
    await remove(id);
    await remove('web-shop');
    await assert.rejects(remove('web-shop'), { code: 'not_found' });
  });

  it("a removed person leaves no session, machine or invitation, and the machine's links stop", async () => {
    const { server, ann } = await openRig();
    const invited = await ann.post('/app/people', { name: 'bob', role: 'member' });
    const bob = openBrowser(server);
    await bob.post(/\/invitation\/[\w-]+/.exec(invited.text)![0], { password: PASSWORD });
    await bob.post('/sign-in', { name: 'bob', password: PASSWORD, next: '' });
    const shop = await linkByHand(server, bob);
    const { id } = await server.parts.people.find('bob');
    await ann.post(`/app/people/${id}/invite`);
    const again = await signIn(server, 'bob');
    assert.deepEqual(await findTraces(server, id), [
      'people',
      'invitations',
      'browser_sessions',
      'machines',
      'device_requests',
    ]);
    const page = await ann.get(`/app/people/${id}/remove`);
    assert.match(page.text, /The log keeps their name/);
    assert.equal((await ann.post(`/app/people/${id}/remove`)).status, 303);
    assert.deepEqual(await findTraces(server, id), []);
    for (const browser of [bob, again])
      assert.match((await browser.get('/app')).location ?? '', /^\/sign-in/);
    assert.equal((await shop.call('GET', '/v1/commands?after=0&wait=0')).status, 401);
    assert.equal((await signIn(server, 'bob')).cookies.size, 0);
  });

  it('a removed account leaves nothing behind', async () => {
    const { server, ann } = await openRig();
    const carl = await addOtherAccount(ann, server);
    const account = await server.parts.people.findAccount('other');
    await server.parts.plans.assign(account, 'team', 'a test');
    await server.parts.plans.switchAddon(account, 'n8n', true, 'a test');
    const shop = await linkByHand(server, carl);
    const wish = { name: 'hook', url: 'http://127.0.0.1:9/', 'events[]': 'needs_approval' };
    for (const kind of ['n8n', 'webhook']) await carl.post('/app/settings/targets', { ...wish, kind });
    await shop.tellPending([{}]);
    await shop.tellEvents([{}]);
    const targets = await server.parts.targets.list(account.id);
    const machine = (await server.parts.machines.list(account.id)).rows[0]!;
    const person = await server.parts.people.find('carl');
    const ids = [account.id, shop.id, machine.id, person.id, ...targets.map(({ id }) => id)];
    assert.equal(ids.length, 6);
    for (const id of ids) assert.notDeepEqual(await findTraces(server, id), []);
    assert.equal((await ann.post(`/operator/accounts/${account.id}/remove`)).status, 303);
    await server.parts.deliveries.settled();
    for (const id of ids) assert.deepEqual(await findTraces(server, id), []);
    assert.match((await carl.get('/app')).location ?? '', /^\/sign-in/);
    assert.equal((await shop.call('GET', '/v1/commands?after=0&wait=0')).status, 401);
  });
});

it('deleted data is in none of the files of SQLite', async () => {
  const rig = await deliveryRig(startTestServer);
  open.push(rig);
  const { server, ann } = rig;
  const title = 'a title that was told';
  const isInFiles = (): boolean =>
    ['server.db', 'server.db-wal'].some((name) => readFileSync(join(server.folder, name)).includes(title));
  const tell = async (name: string): Promise<string> => {
    const shop = await linkByHand(server, ann, { name });
    await shop.tellEvents([{ title }]);
    assert.ok(isInFiles());
    return shop.id;
  };
  await ann.post(`/app/workspaces/${await tell('by the page')}/remove`);
  assert.ok(!isInFiles());
  await askRunningServer(server.folder, 'workspace.remove', { name: await tell('by the command') });
  assert.ok(!isInFiles());
  const id = await tell('by its age');
  await server.parts.db.deleteFrom('workspace_events').where('workspace_id', '=', id).execute();
  assert.ok(isInFiles());
  await server.parts.retention.clean();
  assert.ok(!isInFiles());
});
