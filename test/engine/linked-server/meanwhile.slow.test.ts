import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import type { CommandsAnswer } from '../../../engine/core/link-protocol/messages.ts';
import { toServerError } from '../../../engine/linked-server/database/errors.ts';
import {
  type Browser,
  logMachineIn,
  onBothDatabases,
  openBrowser,
  PASSWORD,
  setUpServer,
  signIn,
  type TestServer,
} from '../../support/server/linked-server.ts';
import { until } from '../../support/wait.ts';
import {
  HASH,
  linkByHand,
  openAutomation,
  type WorkspaceByHand,
} from '../../support/workspaces/workspace-by-hand.ts';
import { addOtherAccount, deliveryRig } from './deliveries/rig.ts';

// One person acts while another removes the basis: their role, their account, their chat, their permission to ask.

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

const findInvitation = (text: string): string => /\/invitation\/[\w-]+/.exec(text)![0];

async function addPerson(server: TestServer, admin: Browser, name: string, role = 'member') {
  const page = await admin.post('/app/people', { name, role });
  await openBrowser(server).post(findInvitation(page.text), { password: PASSWORD });
  const { id } = await server.parts.people.find(name);
  return { browser: await signIn(server, name), id };
}

const listCommands = async (workspace: WorkspaceByHand): Promise<CommandsAnswer['commands']> => {
  const { status, text } = await workspace.call('GET', '/v1/commands?after=0&wait=0');
  assert.equal(status, 200, text);
  return (JSON.parse(text) as CommandsAnswer).commands;
};

const countOk = (answers: { status: number }[]): number =>
  answers.filter(({ status }) => status === 200).length;

onBothDatabases((start) => {
  async function openServer(): Promise<{ server: TestServer; ann: Browser }> {
    const server = await start();
    open.push(server);
    return { server, ann: await setUpServer(server) };
  }

  describe('simultaneous changes', () => {
    for (const way of ['removed', 'demoted'] as const)
      it(`an admin remains when all of an account are ${way} at the same time`, async () => {
        const { server, ann } = await openServer();
        const carl = await addOtherAccount(ann, server);
        for (const name of ['dan', 'eva']) await addPerson(server, carl, name, 'admin');
        const { people } = server.parts;
        const admins = await Promise.all(['carl', 'dan', 'eva'].map((name) => people.find(name)));
        const ended = await Promise.allSettled(
          admins.map((each) =>
            way === 'removed' ? people.remove(each, 'a test') : people.setRole(each, 'member', 'a test'),
          ),
        );
        assert.equal(ended.filter(({ status }) => status === 'rejected').length, 1);
        const listed = await people.list(admins[0]!.account_id);
        assert.equal(listed.filter(({ role }) => role === 'admin').length, 1);
      });

    it('an operator remains when the accounts of all are removed at the same time', async () => {
      const { server } = await openServer();
      const { people } = server.parts;
      const other = await people.addAccount('other', 'a test');
      const facts = { role: 'admin', isOperator: true, password: null } as const;
      await people.add({ name: 'otto', account: other.id, ...facts }, 'a test');
      const ended = await Promise.allSettled(
        ['home', 'other'].map((name) => people.removeAccount(name, 'a test')),
      );
      assert.deepEqual(ended.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
      assert.equal(await people.countOperators(), 1);
    });

    it('simultaneous requests get no more than the plan allows', async () => {
      const { server, ann } = await openServer();
      const [home] = await server.parts.people.listAccounts();
      await server.parts.plans.assign(home!, 'free', 'a test');
      const tried = Array.from({ length: 8 }, (_, index) => index);
      const added = await Promise.all(
        tried.map((index) => ann.post('/app/people', { name: `guest ${index}`, role: 'member' })),
      );
      assert.equal(countOk(added), 4);
      const token = await logMachineIn(server, ann);
      const headers = { authorization: `Bearer ${token}`, 'svc-protocol': '1' };
      const linked = await Promise.all(
        tried.map((index) =>
          openBrowser(server).postJson(
            '/v1/workspaces',
            { key: `workspace-${index}`, name: 'web-shop', version: '1.0.0' },
            headers,
          ),
        ),
      );
      assert.equal(countOk(linked), 3);
    });

    it('simultaneous requests get at most twenty webhooks for an account and twenty codes for an address', async () => {
      const rig = await deliveryRig(start);
      open.push(rig);
      const tried = Array.from({ length: 24 }, (_, index) => index);
      const fields = { kind: 'webhook', url: 'http://127.0.0.1:9/', 'events[]': 'failed' };
      const added = await Promise.all(
        tried.map((index) => rig.ann.post('/app/settings/targets', { ...fields, name: `hook ${index}` })),
      );
      assert.equal(countOk(added), 20);
      const terminal = openBrowser(rig.server);
      const codes = await Promise.all(
        tried.map(() => terminal.post('/oauth/device_authorization', { client_id: 'svc' })),
      );
      assert.equal(countOk(codes), 20);
    });
  });

  describe('a person who is removed', () => {
    it('a removed person is gone for everyone who was about to change them', async () => {
      const { server, ann } = await openServer();
      const bob = await addPerson(server, ann, 'bob');
      const person = await server.parts.people.find('bob');
      const removing = () => ann.post(`/app/people/${bob.id}/remove`);
      const twice = await Promise.all([removing(), removing()]);
      assert.deepEqual(twice.map(({ status }) => status).sort(), [303, 404]);
      const { people } = server.parts;
      for (const late of [
        () => people.setPassword(person, PASSWORD),
        () => people.setRole(person, 'admin', 'a test'),
        () => people.invite(person, 'a test'),
        () => people.signIn(person, { address: '127.0.0.1', browser: '' }),
      ])
        await assert.rejects(late, (thrown) => toServerError(thrown).code === 'not_found');
      assert.doesNotMatch(server.log.join(''), /"level":50/);
    });

    it("a removed person's requests are withdrawn, and no new ones are accepted", async () => {
      const { server, ann } = await openServer();
      const shop = await linkByHand(server, ann);
      await shop.tellPending([{}]);
      const bob = await addPerson(server, ann, 'bob');
      const place = `/app/decisions/${shop.id}/d-17`;
      assert.equal((await bob.browser.post(`${place}/approve`, { hash: HASH })).status, 303);
      assert.equal((await ann.post(`${place}/deny`, { hash: HASH })).status, 303);
      assert.deepEqual(
        (await listCommands(shop)).map(({ person }) => person),
        ['bob', 'ann'],
      );
      await ann.post(`/app/people/${bob.id}/remove`);
      assert.deepEqual(
        (await listCommands(shop)).map(({ person }) => person),
        ['ann'],
      );
      const workspace = await server.parts.workspaces.findLinked(shop.id);
      const wish = { verb: 'approve', decision: 'd-17', hash: HASH, person: 'bob', channel: 'page' } as const;
      await assert.rejects(server.parts.commands.give(workspace!, wish), { code: 'actor_denied' });
    });

    it("a removed person's links stop polling, and their pending work is removed", async () => {
      const ways: ((rig: { server: TestServer; ann: Browser; id: string }) => Promise<unknown>)[] = [
        ({ ann, id }) => ann.post(`/app/people/${id}/remove`),
        async ({ server, ann, id }) => {
          const machines = await server.parts.db
            .selectFrom('machines')
            .select('id')
            .where('person_id', '=', id)
            .execute();
          return ann.post(`/app/machines/${machines[0]!.id}/revoke`);
        },
      ];
      for (const take of ways) {
        const { server, ann } = await openServer();
        const own = await linkByHand(server, ann, { name: 'own' });
        const bob = await addPerson(server, ann, 'bob');
        const shop = await linkByHand(server, bob.browser);
        for (const each of [own, shop]) await each.tellPending([{}]);
        const poll = shop.call('GET', '/v1/commands?after=0&wait=25');
        await until(() => server.parts.polls.isConnected(shop.id), 'the poll');
        await take({ server, ann, id: bob.id });
        assert.equal((await poll).status, 401);
        assert.equal((await ann.get(`/app/decisions/${shop.id}/d-17`)).status, 404);
        assert.equal((await ann.get(`/app/decisions/${own.id}/d-17`)).status, 200);
      }
    });

    it('a removed account stops its polls, too', async () => {
      const { server, ann } = await openServer();
      const carl = await addOtherAccount(ann, server);
      const shop = await linkByHand(server, carl);
      const poll = shop.call('GET', '/v1/commands?after=0&wait=25');
      await until(() => server.parts.polls.isConnected(shop.id), 'the poll');
      await server.parts.people.removeAccount('other', 'a test');
      assert.equal((await poll).status, 401);
    });
  });

  it('a catch URL that is removed or switched off makes no requests, and earlier ones are withdrawn', async () => {
    const rig = await deliveryRig(start);
    open.push(rig);
    const shop = await linkByHand(rig.server, rig.ann);
    await shop.tellPending([{}]);
    const workspace = (await rig.server.parts.workspaces.findLinked(shop.id))!;
    for (const way of ['off', 'remove']) {
      const n8n = await rig.addTarget('n8n');
      const automation = openAutomation(rig.server, n8n.secret);
      assert.equal((await automation.post(`/v1/decisions/${shop.id}/d-17/approve`)).status, 202);
      assert.equal((await listCommands(shop)).length, 1);
      await rig.ann.post(`/app/settings/targets/${n8n.id}/${way}`);
      assert.deepEqual(await listCommands(shop), []);
      const wish = { verb: 'deny', decision: 'd-17', hash: HASH, person: 'n8n' } as const;
      const given = rig.server.parts.commands.give(workspace, { ...wish, channel: 'automation' });
      await assert.rejects(given, { code: 'actor_denied' });
      if (way === 'off') await rig.ann.post(`/app/settings/targets/${n8n.id}/remove`);
      // The previous read counts as a connection for a while.
      rig.server.clock.advance(60_000);
    }
  });

  it('an address for a new password is invalid once the password was changed', async () => {
    const { server, ann } = await openServer();
    const bob = await addPerson(server, ann, 'bob');
    const offered = findInvitation((await ann.post(`/app/people/${bob.id}/invite`)).text);
    const fields = { old: PASSWORD, password: 'another long password' };
    assert.equal((await bob.browser.post('/app/password', fields)).status, 303);
    assert.equal((await openBrowser(server).get(offered)).status, 404);
    assert.equal((await openBrowser(server).post(offered, { password: PASSWORD })).status, 404);
    assert.match((await ann.get('/app/log')).text, /password changed/);
  });

  it('a changed password rejects a login that started with the old one', async () => {
    const { server, ann } = await openServer();
    const bob = await addPerson(server, ann, 'bob');
    const { passwords } = server.parts;
    const { matches } = passwords;
    /** Uses an invitation to set a new password while the typed one is being checked. */
    async function resetMeanwhile(password: string): Promise<void> {
      const offered = findInvitation((await ann.post(`/app/people/${bob.id}/invite`)).text);
      passwords.matches = async (...given) => {
        const isRight = await matches(...given);
        passwords.matches = matches;
        assert.equal((await openBrowser(server).post(offered, { password })).status, 303);
        return isRight;
      };
    }
    await resetMeanwhile('the second password');
    const late = openBrowser(server);
    const answer = await late.post('/sign-in', { name: 'bob', password: PASSWORD });
    assert.equal(answer.status, 409);
    assert.match(answer.text, /The password was changed in the meantime: sign in with the new one/);
    assert.equal((await late.get('/app')).status, 303);

    const thief = await signIn(server, 'bob', 'the second password');
    assert.equal((await thief.get('/app')).status, 200);
    await resetMeanwhile('the third password');
    const fields = { old: 'the second password', password: 'that of a thief' };
    assert.equal((await thief.post('/app/password', fields)).status, 409);
    assert.equal((await thief.get('/app')).status, 303);
    assert.equal((await (await signIn(server, 'bob', 'that of a thief')).get('/app')).status, 303);
    assert.equal((await (await signIn(server, 'bob', 'the third password')).get('/app')).status, 200);
  });

  it('only operators change an operator, whose password opens the whole server', async () => {
    const { server, ann } = await openServer();
    const bob = await addPerson(server, ann, 'bob', 'admin');
    const { id } = await server.parts.people.find('ann');
    const page = (await bob.browser.get('/app/people')).text;
    assert.doesNotMatch(page, new RegExp(id));
    assert.match(page, new RegExp(bob.id));
    for (const what of ['invite', 'make-member', 'make-admin', 'remove'])
      assert.equal((await bob.browser.post(`/app/people/${id}/${what}`)).status, 404, what);
    assert.equal((await bob.browser.get(`/app/people/${id}/remove`)).status, 404);
    assert.equal((await ann.post(`/app/people/${id}/invite`)).status, 200);
    assert.equal((await ann.get('/app/people')).status, 200);
  });
});
