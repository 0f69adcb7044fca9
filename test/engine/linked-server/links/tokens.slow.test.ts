import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import {
  type Browser,
  onBothDatabases,
  openBrowser,
  PASSWORD,
  setUpServer,
  signIn,
  type TestServer,
} from '../../../support/server/linked-server.ts';
import { until } from '../../../support/wait.ts';
import { linkByHand, type WorkspaceByHand } from '../../../support/workspaces/workspace-by-hand.ts';

interface Scene {
  server: TestServer;
  ann: Browser;
  shop: WorkspaceByHand;
}

/** Everything that invalidates a token. */
const ENDS: Record<string, (scene: Scene) => Promise<unknown>> = {
  'its workspace was unlinked on a page': ({ ann, shop }) => ann.post(`/app/workspaces/${shop.id}/revoke`),
  'its workspace was unlinked from the machine': ({ shop }) => shop.call('DELETE', '/v1/workspace'),
  'its workspace was removed': ({ ann, shop }) => ann.post(`/app/workspaces/${shop.id}/remove`),
  'its machine was revoked': async ({ server, ann }) => {
    const { id } = await server.parts.people.findAccount('home');
    for (const machine of (await server.parts.machines.list(id)).rows)
      await ann.post(`/app/machines/${machine.id}/revoke`);
  },
  'its person was removed': async ({ server, ann }) => {
    const { id } = await server.parts.people.find('bob');
    await ann.post(`/app/people/${id}/remove`);
  },
  'its account was removed': async ({ server }) => {
    const other = await server.parts.people.addAccount('other', 'the test');
    const wanted = {
      name: 'carl',
      account: other.id,
      role: 'admin',
      isOperator: true,
      password: null,
    } as const;
    await server.parts.people.add(wanted, 'the test');
    await server.parts.people.removeAccount('home', 'the test');
  },
  'its workspace was linked again': ({ server, ann }) => linkByHand(server, ann, { name: 'shop' }),
  'another one took its place and was used': async ({ server, shop }) => {
    const rotated = await shop.call('POST', '/v1/workspace/token');
    assert.equal(await tell(shop), 200, 'the old token is valid until then');
    const { token } = JSON.parse(rotated.text) as { token: string };
    const browser = openBrowser(server);
    const headers = { authorization: `Bearer ${token}`, 'svc-protocol': '1' };
    const used = await browser.postJson('/v1/events', makeBody(), headers);
    assert.equal(used.status, 200, used.text);
  },
};

/** The body of a request that reports one new event. */
const makeBody = (workspace = 'shop'): object => ({
  workspace,
  events: [
    {
      id: randomUUID(),
      event: 'sealed',
      at: '2026-01-02T03:04:05.000Z',
      project: null,
      task_id: 't-42',
      decision_id: null,
      session_id: null,
      agent: 'claude',
      status: 'done',
      title: null,
      reason: null,
    },
  ],
});

const tell = async (shop: WorkspaceByHand): Promise<number> =>
  (await shop.call('POST', '/v1/events', makeBody())).status;

onBothDatabases((start) => {
  for (const [what, end] of Object.entries(ENDS))
    it(`a token that has just sent events is invalid at the very next request after ${what}`, async () => {
      const server = await start();
      try {
        const ann = await setUpServer(server);
        const invited = await ann.post('/app/people', { name: 'bob', role: 'member' });
        const [invitation] = /\/invitation\/[\w-]+/.exec(invited.text) ?? [''];
        await openBrowser(server).post(invitation, { password: PASSWORD });
        const bob = await signIn(server, 'bob');
        const [shop, second] = [
          await linkByHand(server, bob, { name: 'shop' }),
          await linkByHand(server, ann, { name: 'second', machine: 'desktop' }),
        ];
        for (let times = 0; times < 3; times += 1)
          assert.deepEqual([await tell(shop), await tell(second)], [200, 200]);
        await end({ server, ann, shop });
        assert.equal(await tell(shop), 401);
        assert.equal(await tell(shop), 401);
      } finally {
        await server.close();
      }
    });

  it('a workspace that only sends events is seen, under its current name', async () => {
    const server = await start();
    try {
      const ann = await setUpServer(server);
      const shop = await linkByHand(server, ann, { name: 'shop' });
      const read = () => server.parts.workspaces.findLinked(shop.id);
      for (const name of ['shop', 'store', 'shop']) {
        server.clock.advance(120_000);
        await shop.call('POST', '/v1/events', makeBody(name));
        assert.equal((await read())?.name, name);
        const seen = async () => (await read())?.last_seen_at === server.clock.now();
        await until(seen, 'the time at which it was seen');
      }
    } finally {
      await server.close();
    }
  });
});
