import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LEASE_MS, verifyLease } from '../../../engine/core/link-protocol/lease.ts';
import { type AdminVerb, askRunningServer } from '../../../engine/linked-server/index.ts';
import {
  logMachineIn,
  onBothDatabases,
  openBrowser,
  setUpServer,
  type TestServer,
} from '../../support/server/linked-server.ts';
import { addOtherAccount } from './deliveries/rig.ts';

const ask = (server: TestServer) => async (verb: AdminVerb, input: object) =>
  (await askRunningServer(server.folder, verb, input))?.result as Record<string, unknown>;

onBothDatabases((start) => {
  it('the account of the first operator has everything, and later ones begin with the plan free', async () => {
    const server = await start();
    try {
      const ann = await setUpServer(server);
      for (const path of ['/app/settings', '/app/chats'])
        assert.doesNotMatch((await ann.get(path)).text, /locked/i, path);
      const carl = await addOtherAccount(ann, server);
      assert.match((await carl.get('/app/settings')).text, /Plan: free.*locked/);
      assert.partialDeepStrictEqual(await ask(server)('account.list', {}), [
        { name: 'home', plan: 'team', addons: ['n8n', 'zapier', 'make'] },
        { name: 'other', plan: 'free', addons: [] },
      ]);
    } finally {
      await server.close();
    }
  });

  it('accounts that exist before the first operator do not take the place of the own one', async () => {
    const server = await start();
    try {
      const admin = ask(server);
      await admin('account.add', { name: 'guests' });
      const guest = { name: 'gil', role: 'admin', operator: false, password: null, account: 'guests' };
      await admin('person.add', guest);
      await setUpServer(server);
      const planOf = async () =>
        ((await admin('account.list', {})) as unknown as { name: string; plan: string }[]).map(
          ({ name, plan }) => [name, plan],
        );
      assert.deepEqual(await planOf(), [
        ['guests', 'free'],
        ['home', 'team'],
      ]);
      await admin('person.add', { ...guest, name: 'olga', operator: true });
      assert.deepEqual((await planOf())[0], ['guests', 'free']);
    } finally {
      await server.close();
    }
  });

  it('an account gets everything when its first person becomes the operator of a new server, once of several', async () => {
    const server = await start();
    try {
      const admin = ask(server);
      for (const name of ['one', 'two', 'three']) await admin('account.add', { name });
      const wish = { role: 'admin', operator: true, password: null };
      await Promise.all(
        ['one', 'two', 'three'].map((account) =>
          admin('person.add', { ...wish, name: `of-${account}`, account }),
        ),
      );
      const plans = (await server.parts.people.listAccounts()).map(({ plan }) => plan);
      assert.deepEqual(plans.sort(), ['free', 'free', 'team']);
    } finally {
      await server.close();
    }
  });

  it('plans are data: their limits can be set, and apply from then on', async () => {
    const server = await start();
    try {
      const ann = await setUpServer(server);
      const admin = ask(server);
      await admin('plan.set', { plan: 'free', key: 'people', value: '2' });
      await admin('account.plan', { name: 'home', plan: 'free' });
      assert.equal((await ann.post('/app/people', { name: 'bob' })).status, 200);
      const refused = await ann.post('/app/people', { name: 'eve' });
      assert.match(refused.text, /the plan free allows 2 people/);
      await admin('account.plan', { name: 'home', plan: 'team' });
      assert.equal((await ann.post('/app/people', { name: 'eve' })).status, 200);
      await admin('account.plan', { name: 'home', plan: 'free' });
      const settings = (await ann.get('/app/settings')).text;
      assert.match(settings, /3, 1 over the 2 of the plan/);
      assert.match((await ann.get('/app/people')).text, /eve/, 'a lower plan does not remove people');
      for (const [key, value] of [
        ['people', 'many'],
        ['people', '-1'],
        ['people', 'on'],
        ['chairs', '3'],
        ['catch_url_n8n', 'on'],
        ['assistant', '3'],
      ])
        await assert.rejects(admin('plan.set', { plan: 'free', key, value }), { code: 'fields_invalid' });
      await assert.rejects(admin('account.plan', { name: 'home', plan: 'gold' }), { code: 'fields_invalid' });
      await assert.rejects(admin('account.plan', { name: 'none', plan: 'team' }), { code: 'not_found' });
    } finally {
      await server.close();
    }
  });

  it('operators assign plans and add-ons on their page, and no one else does', async () => {
    const server = await start();
    try {
      const ann = await setUpServer(server);
      const carl = await addOtherAccount(ann, server);
      const [, id] = /\/operator\/accounts\/(a_[\w-]+)"[^>]*>other/.exec((await ann.get('/operator')).text)!;
      const place = `/operator/accounts/${id}`;
      for (const path of [`${place}/plan`, `${place}/addons/n8n/on`])
        assert.equal((await carl.post(path, { plan: 'team' })).status, 404, path);
      assert.equal((await carl.get(place)).status, 404);
      assert.equal((await ann.post(`${place}/plan`, { plan: 'team' })).status, 303);
      assert.equal((await ann.post(`${place}/plan`, { plan: 'gold' })).status, 404);
      for (const addon of ['n8n', 'make']) await ann.post(`${place}/addons/${addon}/on`);
      await ann.post(`${place}/addons/make/off`);
      assert.equal((await ann.post(`${place}/addons/slack/on`)).status, 404);
      const rows = (await ask(server)('account.list', {})) as unknown as { name: string }[];
      assert.partialDeepStrictEqual(
        rows.find(({ name }) => name === 'other'),
        { plan: 'team', addons: ['n8n'] },
      );
      assert.match((await carl.get('/app/settings')).text, /Plan: team/);
    } finally {
      await server.close();
    }
  });

  it('a workspace fetches a lease of its account with its token, and no one else can', async () => {
    const server = await start();
    try {
      const ann = await setUpServer(server);
      const { people, plans } = server.parts;
      const [home] = await people.listAccounts();
      await plans.assign(home!, 'professional', 'a test');
      const browser = openBrowser(server);
      const linked = await browser.postJson(
        '/v1/workspaces',
        { key: 'k'.repeat(16), name: 'shop', version: '1.0.0' },
        { authorization: `Bearer ${await logMachineIn(server, ann)}`, 'svc-protocol': '1' },
      );
      const { token, workspace, lease_key } = JSON.parse(linked.text) as Record<string, string>;
      const ask = (bearer: string, nonce: string) =>
        browser.get(`/v1/lease?nonce=${nonce}`, { authorization: `Bearer ${bearer}`, 'svc-protocol': '1' });
      const nonce = 'n'.repeat(22);
      const answer = await ask(token!, nonce);
      assert.equal(answer.status, 200, answer.text);
      const { lease } = JSON.parse(answer.text) as { lease: string };
      const claims = await verifyLease(lease, {
        publicKey: lease_key!,
        issuer: server.url,
        workspace: workspace!,
      });
      assert.deepEqual(
        [claims.plan, claims.account, claims.nonce, claims.quotas.projects, claims.capabilities],
        [
          'professional',
          'home',
          nonce,
          20,
          ['catch_url_n8n', 'catch_url_zapier', 'catch_url_make', 'hosted_webhook'],
        ],
      );
      assert.equal((claims.exp - claims.iat) * 1000, LEASE_MS);
      assert.equal(claims.iat, Math.floor(server.clock.now() / 1000));
      assert.equal((await ask('svcw_wrong', nonce)).status, 401);
      assert.equal((await browser.get(`/v1/lease?nonce=${nonce}`, { 'svc-protocol': '1' })).status, 401);
      for (const bad of ['', 'short', 'x'.repeat(65), '%3Cb%3E%3Cb%3E%3Cb%3E%3Cb%3E%3Cb%3E%3Cb%3E'])
        assert.equal((await ask(token!, bad)).status, 422, bad);
    } finally {
      await server.close();
    }
  });
});
