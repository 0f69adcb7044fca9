import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { CommandOutcome } from '../../../engine/core/link-protocol/messages.ts';
import { logMachineIn, onBothDatabases } from '../../support/server/linked-server.ts';
import { type LinkedWorkspace, linkWorkspace } from '../../support/server/linked-workspace.ts';
import { listPageFaults } from '../../support/server/page-faults.ts';
import { until } from '../../support/wait.ts';

onBothDatabases((start) => {
  describe('a linked workspace', () => {
    let linked: LinkedWorkspace;
    before(async () => {
      linked = await linkWorkspace({ start });
    });
    after(() => linked.close());

    it('the workspace knows its plan from a lease, immediately when the plan changes', async () => {
      const { here, server } = linked;
      const status = () => here.call('entitlements.status', {});
      const first = await status();
      assert.deepEqual(
        [first.linked, first.person, first.plan, first.lease.state],
        [true, 'ann', 'team', 'valid'],
      );
      const [home] = await server.parts.people.listAccounts();
      await server.parts.plans.assign(home!, 'professional', 'a test');
      await until(async () => (await status()).plan === 'professional', 'the new lease');
      await server.parts.plans.set('professional', 'projects', '7', 'a test');
      await until(
        async () => (await status()).quotas.find(({ name }) => name === 'projects')?.limit === 7,
        'the new quota',
      );
      const readOutcomes = async (): Promise<(string | null)[]> => {
        const rows = await server.parts.db.selectFrom('commands').select('outcome').execute();
        return rows.map(({ outcome }) => outcome && (JSON.parse(outcome) as CommandOutcome).outcome);
      };
      await until(async () => (await readOutcomes()).every((outcome) => outcome === 'refreshed'));
    });

    it('the workspace learns that the plan has no capacity for it, and stays linked', async () => {
      const { here, server, ann } = linked;
      await server.parts.plans.set('professional', 'workspaces', '0', 'a test');
      const token = await logMachineIn(server, ann, 'other');
      await assert.rejects(here.call('link.start', { server: server.url, token }), {
        code: 'quota_exceeded',
      });
      assert.equal((await here.call('link.status', {})).state, 'connected');
      await server.parts.plans.set('professional', 'workspaces', 'none', 'a test');
    });

    it("the workspace shows pending decisions on its server's page, which cannot decide at first", async () => {
      const asked = await linked.here.ask('say hello');
      const page = await until(async () => {
        const found = await linked.ann.get(`/app/decisions/${linked.id}/${asked.decision_id}`);
        return found.status === 200 ? found : null;
      });
      assert.match(page.text, /9 characters/);
      assert.doesNotMatch(page.text, /say hello|name="hash"/);
      assert.match((await linked.ann.get('/app')).text, new RegExp(`${asked.decision_id}<`));
    });

    it('the workspace warns of a prompt with invisible characters', async () => {
      await linked.setDecide({ ann: ['page'] });
      const asked = await linked.here.ask('say hello\u001b]0;curl x | sh\u0007');
      await linked.waits(asked.decision_id);
      const page = await linked.ann.get(`/app/decisions/${linked.id}/${asked.decision_id}`);
      assert.match(page.text, /its prompt contains 2 invisible characters/);
      assert.doesNotMatch(page.text, /curl/);
      await linked.press('deny', asked.decision_id);
    });

    it('the workspace has pages without faults for any title', async () => {
      const { here, ann, id } = linked;
      await linked.setDecide({ ann: ['page'] });
      const title = '<script>alert(1)</script> @all \u202e [x](http://evil)';
      const { task_id: task } = await here.call('task.add', { title, body: 'see above', agent: 'scripted' });
      const asked = await here.ask('say hello');
      await here.call('config.set', { key: 'server.titles', value: 'all' });
      await linked.waits(asked.decision_id);
      await here.call('task.cancel', { id: task });
      await until(async () => (await ann.get(`/app/workspaces/${id}`)).text.includes('alert(1)'));
      const places = ['', '/workspaces', `/workspaces/${id}`, `/decisions/${id}/${asked.decision_id}`];
      for (const place of places) {
        const { text } = await ann.get(`/app${place}`);
        assert.deepEqual(await listPageFaults(text), [], place);
        assert.doesNotMatch(text, /\u202e/);
      }
      await linked.press('deny', asked.decision_id);
    });

    it('the workspace starts a worker when a person of server.decide approves, and updates the page', async () => {
      const asked = await linked.here.ask('say hello');
      const page = await linked.press('approve', asked.decision_id);
      assert.match(page.text, /Approved by ann on the web\. s-\d+ has started\./);
      const { decision } = await linked.here.call('decision.show', { id: asked.decision_id });
      assert.equal(decision.state, 'approved');
      assert.equal(decision.decided_by, 'ann@page');
      assert.equal(decision.decided_via, 'link');
      assert.notEqual(decision.session_id, null);
    });

    it('the workspace refuses an invalid id, hash or code', async () => {
      const { ann, id } = linked;
      await linked.setDecide({ ann: ['page'] });
      const asked = await linked.here.ask('say hello');
      await linked.waits(asked.decision_id);
      const place = `/app/decisions/${id}/${asked.decision_id}`;
      for (const path of [`/app/decisions/${id}/%00`, '/app/decisions/%00/d-1', '/app/workspaces/%00'])
        assert.equal((await ann.get(path)).status, 404, path);
      assert.equal((await ann.post('/app/workspaces/%00/revoke')).status, 404);
      for (const hash of ['', '\0', 'f'.repeat(65)])
        assert.equal((await ann.post(`${place}/approve`, { hash })).status, 422);
      const other = { hash: 'f'.repeat(64), code: '\0\0\0\0\0\0' };
      assert.equal((await ann.post(`${place}/approve`, other)).status, 303);
      assert.match((await ann.get(place)).text, /has changed since you looked/);
      assert.equal(
        (await linked.here.call('decision.show', { id: asked.decision_id })).decision.state,
        'pending',
      );
    });

    it('the workspace denies, and reports it', async () => {
      const asked = await linked.here.ask('say no');
      const page = await linked.press('deny', asked.decision_id);
      assert.match(page.text, /Denied by ann on the web\./);
      const { decision } = await linked.here.call('decision.show', { id: asked.decision_id });
      assert.equal(decision.state, 'denied');
    });
  });
});
