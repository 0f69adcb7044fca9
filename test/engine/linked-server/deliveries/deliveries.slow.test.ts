import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { onBothDatabases, signIn } from '../../../support/server/linked-server.ts';
import { linkByHand } from '../../../support/workspaces/workspace-by-hand.ts';
import { deliveryRig } from './rig.ts';

const HOUR = 3600_000;
const DAY = 24 * HOUR;

onBothDatabases((start) => {
  describe('deliveries', () => {
    it('deliveries go to the targets that want the event, signed, in order and once', async () => {
      const rig = await deliveryRig(start);
      try {
        const hook = await rig.addTarget();
        const { id } = await linkByHand(rig.server, rig.ann, { name: 'api' });
        const other = await rig.addTarget('n8n', {
          'events[]': 'failed',
          scope: 'ticked',
          'workspaces[]': id,
        });
        await rig.queue([
          { event: 'sealed', id: 'a' },
          { event: 'failed', id: 'b' },
          { event: 'sealed', id: 'c' },
        ]);
        await rig.queue([{ event: 'sealed', id: 'a' }]);
        await rig.queue([{ event: 'failed', id: 'd' }], { id, name: 'api, renamed' });
        await hook.atLeast(2);
        await other.atLeast(1);
        await rig.server.parts.deliveries.settled();
        assert.deepEqual(
          [hook.caught.map(({ json }) => json.id), other.caught.map(({ json }) => json.id)],
          [['a', 'c'], ['d']],
        );
        const [{ body, headers }] = hook.caught as [(typeof hook.caught)[number]];
        // The test's clock and the library's are in different years.
        const { webhook } = verifyAt(headers as Record<string, string>, body, hook.secret);
        assert.equal(webhook.event, 'sealed');
        const page = await rig.ann.get('/app/deliveries');
        assert.match(page.text, /delivered/);
        assert.match(page.text, /HTTP 200, \d+ ms/);
      } finally {
        await rig.close();
      }
    });

    it('deliveries are retried, and one that fails alone for a day is dead', async () => {
      const rig = await deliveryRig(start);
      try {
        const hook = await rig.addTarget('webhook', {}, (_count, response) => {
          const { id } = hook.caught.at(-1)!.json;
          response.writeHead(id === 'bad' ? 500 : 204).end('the body that nobody is shown');
        });
        await rig.queue([{ event: 'sealed', id: 'bad' }]);
        await hook.atLeast(1);
        for (let passed = 0; passed < 25; passed += 1) {
          await rig.queue([{ event: 'sealed' }]);
          await rig.advance(HOUR);
        }
        const page = (await rig.ann.get('/app/deliveries')).text;
        assert.match(page, /dead/);
        assert.match(page, /HTTP 500, \d+ ms/);
        assert.doesNotMatch(page, /nobody is shown/);
        assert.doesNotMatch((await rig.ann.get('/app/settings')).text, /paused/);
        const { length } = hook.caught.filter(({ json }) => json.id === 'bad');
        assert.ok(length > 3, `${length} tries`);
      } finally {
        await rig.close();
      }
    });

    it('deliveries wait at a target that is gone or fails for a day, until it is resumed', async () => {
      const rig = await deliveryRig(start);
      try {
        let status = 410;
        const make = await rig.addTarget('make', {}, (_count, response) => response.writeHead(status).end());
        await rig.queue([
          { event: 'sealed', id: 'a' },
          { event: 'sealed', id: 'b' },
        ]);
        await make.atLeast(1);
        await rig.advance(HOUR);
        assert.equal(make.caught.length, 1, 'paused at the first 410');
        const banner = (await rig.ann.get('/app/settings')).text;
        assert.match(banner, /answered 410\. 2 events wait/);
        status = 503;
        await rig.ann.post(`/app/settings/targets/${make.id}/resume`);
        await make.atLeast(3);
        for (let passed = 0; passed < 25; passed += 1) await rig.advance(HOUR);
        assert.match((await rig.ann.get('/app/settings')).text, /failed for a day\. 2 events wait/);
        const { length } = make.caught;
        await rig.queue([{ event: 'sealed', id: 'c' }]);
        await rig.advance(DAY);
        assert.equal(make.caught.length, length, 'nothing is sent while it is paused');
        status = 200;
        await rig.ann.post(`/app/settings/targets/${make.id}/resume`);
        await make.atLeast(length + 3);
        await rig.server.parts.deliveries.settled();
        assert.deepEqual(
          make.caught.slice(length).map(({ json }) => json.id),
          ['a', 'b', 'c'],
        );
      } finally {
        await rig.close();
      }
    });

    it('deliveries do not age while nothing is tried, and neither do the failures of their target', async () => {
      const rig = await deliveryRig(start);
      try {
        const hook = await rig.addTarget('n8n', {}, (_count, response) => response.writeHead(500).end());
        const place = `/app/settings/targets/${hook.id}`;
        const { plans, deliveries } = rig.server.parts;
        await rig.queue([{ event: 'sealed' }, { event: 'sealed' }]);
        await hook.atLeast(2);
        await deliveries.settled();
        const states = async () =>
          (await deliveries.list((await account(rig)).id)).rows.map(({ state }) => state);
        for (const [close, open] of [
          [() => rig.ann.post(`${place}/off`), () => rig.ann.post(`${place}/on`)],
          [
            async () => plans.switchAddon(await account(rig), 'n8n', false, 'a test'),
            async () => plans.switchAddon(await account(rig), 'n8n', true, 'a test'),
          ],
        ]) {
          const before = hook.caught.length;
          await close!();
          await rig.advance(2 * DAY);
          await open!();
          await hook.atLeast(before + 2);
          await deliveries.settled();
          assert.deepEqual(await states(), ['waiting', 'waiting']);
          assert.doesNotMatch((await rig.ann.get(place)).text, /failed for a day/);
        }
        for (let passed = 0; passed < 25; passed += 1) await rig.advance(HOUR);
        assert.match((await rig.ann.get(place)).text, /failed for a day/);
      } finally {
        await rig.close();
      }
    });

    it('deliveries do not affect a target whose address was changed in between', async () => {
      const rig = await deliveryRig(start);
      try {
        const answers: (() => void)[] = [];
        const gone = await rig.addTarget('webhook', {}, (_count, response) => {
          answers.push(() => response.writeHead(410).end());
        });
        const place = `/app/settings/targets/${gone.id}`;
        const other = await rig.addTarget('webhook', { 'events[]': 'alert' }, (_count, response) =>
          response.writeHead(500).end(),
        );
        await rig.queue([{ event: 'sealed' }]);
        await gone.atLeast(1);
        await rig.ann.post(place, { name: 'moved', url: other.url, 'events[]': 'sealed' });
        answers[0]!();
        await rig.server.parts.deliveries.settled();
        assert.doesNotMatch((await rig.ann.get(place)).text, /Paused since/);
        for (let passed = 0; passed < 20; passed += 1) await rig.advance(HOUR);
        assert.ok(other.caught.length > 3);
        // Only failures of the current address are shown.
        const third = await rig.addTarget('webhook', { 'events[]': 'alert' }, (_count, response) =>
          response.writeHead(500).end(),
        );
        await rig.ann.post(place, { name: 'moved', url: third.url, 'events[]': 'sealed' });
        await rig.queue([{ event: 'sealed' }]);
        for (let passed = 0; passed < 20; passed += 1) await rig.advance(HOUR);
        assert.doesNotMatch((await rig.ann.get(place)).text, /Paused since/);
      } finally {
        await rig.close();
      }
    });

    it('deliveries show why they wait, and their target shows which secrets sign', async () => {
      const rig = await deliveryRig(start);
      try {
        const hook = await rig.addTarget('n8n', {}, (_count, response) => response.writeHead(500).end());
        const place = `/app/settings/targets/${hook.id}`;
        await rig.queue([{ event: 'sealed' }]);
        await hook.atLeast(1);
        await rig.server.parts.deliveries.settled();
        const state = async () => (await rig.ann.get('/app/deliveries')).text;
        assert.match(await state(), /next try/);
        await rig.ann.post(`${place}/off`);
        assert.match(await state(), /until its target is switched on/);
        assert.doesNotMatch(await state(), /next try/);
        await rig.ann.post(`${place}/on`);
        await rig.server.parts.plans.switchAddon(await account(rig), 'n8n', false, 'a test');
        assert.match(await state(), /until its target is unlocked/);
        await rig.ann.post(`${place}/secret`);
        assert.match((await rig.ann.get(place)).text, /The previous secret signs until/);
        await rig.advance(DAY);
        assert.doesNotMatch((await rig.ann.get(place)).text, /The previous secret signs until/);
      } finally {
        await rig.close();
      }
    });

    it('deliveries that are not sent for seven days are given up, and all are removed after thirty', async () => {
      const rig = await deliveryRig(start);
      try {
        const hook = await rig.addTarget('webhook', {}, (_count, response) => response.writeHead(410).end());
        await rig.queue([{ event: 'sealed' }]);
        await hook.atLeast(1);
        await rig.advance(7 * DAY + HOUR);
        const list = async () => (await rig.server.parts.deliveries.list((await account(rig)).id)).rows;
        const [row] = await list();
        assert.deepEqual([row?.state, row?.last_error], ['dead', 'it waited for seven days']);
        await rig.advance(24 * DAY);
        assert.deepEqual(await list(), []);
      } finally {
        await rig.close();
      }
    });

    it('deliveries stop where the plan excludes them, and continue when it includes them', async () => {
      const rig = await deliveryRig(start);
      try {
        const hook = await rig.addTarget('zapier');
        const { plans, deliveries } = rig.server.parts;
        await plans.switchAddon(await account(rig), 'zapier', false, 'a test');
        await rig.queue([{ event: 'sealed' }]);
        await deliveries.settled();
        assert.equal(hook.caught.length, 0);
        assert.match((await rig.ann.get('/app/settings')).text, /locked/);
        await plans.switchAddon(await account(rig), 'zapier', true, 'a test');
        deliveries.wake();
        await hook.atLeast(1);
      } finally {
        await rig.close();
      }
    });

    it('deliveries are sent after a restart, and again on request', async () => {
      const rig = await deliveryRig(start);
      const hook = await rig.addTarget('webhook', {}, (count, response) => {
        // The first is never answered: the server closes first.
        if (count > 1) response.end();
      });
      await rig.queue([{ event: 'sealed', id: 'a' }]);
      await hook.atLeast(1);
      await rig.server.close();
      const again = await start({
        folder: rig.server.folder,
        env: rig.server.env,
        allowTarget: ['127.0.0.1/32'],
      });
      try {
        await hook.atLeast(2);
        await again.parts.deliveries.settled();
        const ann = await signIn(again, 'ann');
        const [, id] = /\/app\/deliveries\/(\d+)\/again/.exec((await ann.get('/app/deliveries')).text) ?? [];
        const asked = await ann.post(`/app/deliveries/${id}/again`);
        assert.equal(asked.location, '/app/deliveries?said=again');
        await hook.atLeast(3);
        assert.deepEqual(
          hook.caught.map(({ json }) => json.id),
          ['a', 'a', 'a'],
        );
      } finally {
        await again.close();
        await hook.close();
      }
    });
  });

  it('a second new secret within a day ends the one before only when requested', async () => {
    const rig = await deliveryRig(start);
    try {
      const hook = await rig.addTarget();
      const place = `/app/settings/targets/${hook.id}`;
      const unasked = await rig.ann.get(`${place}/secret`);
      assert.match(unasked.text, /For a day events are also signed with the present secret/);
      assert.doesNotMatch(unasked.text, /ends_overlap/);
      const readSecret = ({ text }: { text: string }) => /whsec_[\w+/=]{40,}/.exec(text)?.[0] ?? '';
      const [first, second] = await Promise.all([
        rig.ann.post(`${place}/secret`),
        rig.ann.post(`${place}/secret`),
      ]);
      assert.deepEqual([first.status, second.status].sort(), [200, 409]);
      const again = await rig.ann.post(`${place}/secret`);
      assert.equal(again.status, 409);
      assert.match(again.text, /another new secret would end the previous one immediately/);
      const made = readSecret(first) || readSecret(second);
      await rig.queue([{ event: 'sealed' }]);
      const during = (await hook.atLeast(1))[0]!;
      for (const secret of [made, hook.secret])
        verifyAt(during.headers as Record<string, string>, during.body, secret);
      const asks = await rig.ann.get(`${place}/secret`);
      const [, action] = /action="([^"]*ends_overlap[^"]*)"/.exec(asks.text)!;
      const latest = readSecret(await rig.ann.post(action!));
      await rig.queue([{ event: 'sealed' }]);
      const last = (await hook.atLeast(2))[1]!;
      for (const secret of [made, latest])
        verifyAt(last.headers as Record<string, string>, last.body, secret);
      assert.throws(() => verifyAt(last.headers as Record<string, string>, last.body, hook.secret));
    } finally {
      await rig.close();
    }
  });

  it("a target's changed secret has two signatures for a day, and is kept encrypted", async () => {
    const rig = await deliveryRig(start);
    try {
      const hook = await rig.addTarget();
      const page = await rig.ann.post(`/app/settings/targets/${hook.id}/secret`);
      const fresh = /whsec_[\w+/=]{40,}/.exec(page.text)![0];
      assert.notEqual(fresh, hook.secret);
      await rig.queue([{ event: 'sealed' }]);
      await hook.atLeast(1);
      await rig.advance(DAY);
      await rig.queue([{ event: 'sealed' }]);
      const [during, after] = await hook.atLeast(2);
      for (const secret of [fresh, hook.secret])
        verifyAt(during!.headers as Record<string, string>, during!.body, secret);
      verifyAt(after!.headers as Record<string, string>, after!.body, fresh);
      assert.throws(() => verifyAt(after!.headers as Record<string, string>, after!.body, hook.secret));
      const rows = JSON.stringify(await rig.server.parts.db.selectFrom('targets').selectAll().execute());
      for (const secret of [fresh, hook.secret, hook.url]) assert.ok(!rows.includes(secret));
    } finally {
      await rig.close();
    }
  });
});

const account = async (rig: Awaited<ReturnType<typeof deliveryRig>>) =>
  (await rig.server.parts.people.listAccounts())[0]!;

/** Verifies as receivers do, at the time of signing. */
function verifyAt(headers: Record<string, string>, body: string, secret: string) {
  const now = Date.now;
  Date.now = () => Number(headers['webhook-timestamp']) * 1000;
  try {
    return { webhook: new Webhook(secret).verify(body, headers) as { event: string } };
  } finally {
    Date.now = now;
  }
}
