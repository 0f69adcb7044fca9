import assert from 'node:assert/strict';
import type { LookupFunction } from 'node:net';
import { it } from 'node:test';
import { onBothDatabases, openBrowser, PASSWORD, signIn } from '../../../support/server/linked-server.ts';
import { addOtherAccount, deliveryRig } from './rig.ts';

const WISH = { kind: 'webhook', name: 'mine', url: 'https://93.184.215.14/hook', 'events[]': 'sealed' };

onBothDatabases((start) => {
  it('targets are on the public internet, without credentials, and explain what is wrong', async () => {
    const lookup: LookupFunction = (name, _options, answer) =>
      answer(null, [{ address: name === 'inside.example' ? '10.0.0.7' : '93.184.215.14', family: 4 }]);
    const rig = await deliveryRig(start, { allowTarget: [], lookup });
    try {
      for (const [wish, status] of [
        [{ url: 'http://127.0.0.1:5678/webhook/x' }, 422],
        [{ url: 'http://[::ffff:169.254.169.254]/' }, 422],
        [{ url: 'https://inside.example/' }, 422],
        [{ url: 'https://ann:secret@outside.example/' }, 422],
        [{ url: 'ftp://outside.example/' }, 422],
        [{ url: 'hello' }, 422],
        [{ url: `https://outside.example/${'x'.repeat(2001)}` }, 422],
        [{ name: '<b>' }, 422],
        [{ 'events[]': '' }, 422],
        [{ 'events[]': 'sealed ' }, 422],
        [{ kind: 'slack' }, 404],
        [{ url: 'https://outside.example/' }, 200],
      ] as const) {
        const answer = await rig.ann.post('/app/settings/targets', { ...WISH, ...wish });
        assert.equal(answer.status, status, JSON.stringify(wish));
        assert.doesNotMatch(answer.text, /<b>/);
      }
    } finally {
      await rig.close();
    }
  });

  it('an account has one catch URL for each tool, even when two are added at once', async () => {
    const rig = await deliveryRig(start);
    try {
      const wish = { ...WISH, kind: 'n8n' };
      const answers = await Promise.all([1, 2, 3].map(() => rig.ann.post('/app/settings/targets', wish)));
      assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409]);
      assert.equal((await rig.ann.post('/app/settings/targets', WISH)).status, 200);
      assert.equal((await rig.ann.post('/app/settings/targets', WISH)).status, 200);
    } finally {
      await rig.close();
    }
  });

  it('features outside the plan and its add-ons cannot be added', async () => {
    const rig = await deliveryRig(start);
    try {
      const { people, plans } = rig.server.parts;
      const [home] = await people.listAccounts();
      await plans.assign(home!, 'free', 'a test');
      await plans.switchAddon(home!, 'make', false, 'a test');
      for (const kind of ['webhook', 'make'])
        assert.equal((await rig.ann.post('/app/settings/targets', { ...WISH, kind })).status, 403, kind);
      assert.equal((await rig.ann.post('/app/settings/targets', { ...WISH, kind: 'zapier' })).status, 200);
    } finally {
      await rig.close();
    }
  });

  it('a test shows the time of the answer, and a short-lived address of n8n is named as such', async () => {
    const rig = await deliveryRig(start);
    try {
      const hook = await rig.addTarget('n8n', {}, (count, response) =>
        response.writeHead(count === 1 ? 200 : 302, { location: 'http://127.0.0.1:1/' }).end('its body'),
      );
      const first = await rig.ann.post(`/app/settings/targets/${hook.id}/test`);
      assert.match(first.text, /The test arrived: HTTP 200 after \d+ ms/);
      const second = await rig.ann.post(`/app/settings/targets/${hook.id}/test`);
      assert.match(second.text, /did not arrive: HTTP 302/);
      assert.doesNotMatch(second.text, /its body/);
      assert.deepEqual(
        hook.caught.map(({ json }) => [json.event, json.title]),
        [
          ['alert', 'test'],
          ['alert', 'test'],
        ],
      );
      assert.doesNotMatch(second.text, /two minutes after/);
      const changed = { ...WISH, kind: 'n8n', url: hook.url.replace('/hook', '/webhook-test/x') };
      const saved = await rig.ann.post(`/app/settings/targets/${hook.id}`, changed);
      assert.match((await rig.ann.get(saved.location!)).text, /two minutes after/);
      const nameOnly = await rig.ann.post(`/app/settings/targets/${hook.id}`, {
        ...changed,
        url: '',
        name: 'new',
      });
      assert.match((await rig.ann.get(nameOnly.location!)).text, /two minutes after/, 'the address was kept');
    } finally {
      await rig.close();
    }
  });

  it('people of another account neither see nor change targets, and members only see them', async () => {
    const rig = await deliveryRig(start);
    try {
      const hook = await rig.addTarget();
      await rig.queue([{ event: 'sealed' }]);
      await hook.atLeast(1);
      await rig.server.parts.deliveries.settled();
      const carl = await addOtherAccount(rig.ann, rig.server);
      const invited = await rig.ann.post('/app/people', { name: 'bob', role: 'member' });
      await openBrowser(rig.server).post(/\/invitation\/[\w-]+/.exec(invited.text)![0], {
        password: PASSWORD,
      });
      const bob = await signIn(rig.server, 'bob');
      const place = `/app/settings/targets/${hook.id}`;
      const [delivery] = /\/app\/deliveries\/\d+\/again/.exec((await rig.ann.get('/app/deliveries')).text)!;
      for (const browser of [carl, bob])
        for (const path of [
          place,
          `${place}/test`,
          `${place}/off`,
          `${place}/secret`,
          `${place}/resume`,
          `${place}/remove`,
          delivery,
        ])
          assert.equal((await browser.post(path, WISH)).status, 404, path);
      for (const path of [place, `${place}/remove`]) assert.equal((await carl.get(path)).status, 404);
      assert.equal((await bob.get(place)).status, 200);
      assert.doesNotMatch((await bob.get(place)).text, /whsec_[\w+/=]{40}/);
      for (const path of ['/app/settings', '/app/deliveries', `/app/deliveries?target=${hook.id}`])
        assert.doesNotMatch((await carl.get(path)).text, /target 1|web-shop/, path);
      assert.equal(hook.caught.length, 1);
    } finally {
      await rig.close();
    }
  });
});
