import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { showButtons, showText } from '../../../../../fixtures/slack/slack.ts';
import { onBothDatabases } from '../../../../support/server/linked-server.ts';
import { until } from '../../../../support/wait.ts';
import { linkWithSlack } from './linked-rig.ts';

onBothDatabases((start) => {
  for (const isSocketMode of [true, false])
    describe(isSocketMode ? 'a Slack button by Socket Mode' : 'a Slack button by signed requests', () => {
      it('a press of a connected person starts the worker, and the message loses its buttons', async (t) => {
        const { linked, slack, shown, close } = await linkWithSlack(start, { isSocketMode });
        t.after(close);
        const { here } = linked;
        const asked = await here.ask('say hello');
        const message = await shown(asked.decision_id);
        assert.deepEqual(showButtons(message), ['Approve', 'Deny', 'Open']);
        assert.doesNotMatch(JSON.stringify(slack.messages), /say hello/);

        assert.equal(await slack.press(message, 'Approve', 'U2'), 'acknowledged');
        await until(() => slack.privateTo('U2').some((said) => /not connected/.test(said)), 'the refusal');
        assert.equal((await here.call('decision.show', { id: asked.decision_id })).decision.state, 'pending');

        assert.equal(await slack.press(message, 'Approve', 'U1'), 'acknowledged');
        await until(
          () => /Approved by ann in Slack\. s-\d+ has started\./.test(showText(message)),
          'the outcome',
        );
        assert.deepEqual(showButtons(message), []);
        assert.equal(await here.call('session.count', {}), 1);
        assert.equal(
          (await here.call('decision.show', { id: asked.decision_id })).decision.decided_by,
          'ann@slack',
        );
        assert.ok(slack.privateTo('U1').length > 0);
      });

      it('a press denies, and a late press of an older message reports the outcome', async (t) => {
        const { linked, slack, shown, close } = await linkWithSlack(start, { isSocketMode });
        t.after(close);
        const { here } = linked;
        const asked = await here.ask('say hello');
        const message = await shown(asked.decision_id);
        const before = structuredClone(message);
        await slack.press(message, 'Deny', 'U1');
        await until(() => /Denied by ann in Slack/.test(showText(message)), 'the outcome');
        assert.deepEqual(showButtons(message), []);
        assert.equal(await slack.press(before, 'Approve', 'U1'), 'acknowledged');
        await until(
          () => slack.privateTo('U1').filter((said) => /Denied by ann in Slack/.test(said)).length > 0,
          'what became of it',
        );
        assert.equal(await here.call('session.count', {}), 0);
      });
    });
});
