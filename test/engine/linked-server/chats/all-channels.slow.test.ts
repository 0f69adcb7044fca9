import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { showButtons, showText } from '../../../../fixtures/slack/slack.ts';
import { onBothDatabases } from '../../../support/server/linked-server.ts';
import { until } from '../../../support/wait.ts';
import { linkEverywhere } from './every-channel-rig.ts';

const ROUNDS = 3;

const lastLine = (text: string): string => text.split('\n').at(-1) ?? '';
const readPage = (html: string): string =>
  html
    .replace(/<[^>]+>/g, '')
    .replace(/&#39;/g, "'")
    .replace(/\s+/g, ' ');

onBothDatabases((start) => {
  it('page, signed request, Telegram and Slack approve one task each, and report its end', async (t) => {
    const all = await linkEverywhere(start);
    t.after(all.close);
    const { linked, slack, caught, secret } = all;
    const { here, id } = linked;
    const ways: Readonly<Record<string, (decision: string) => Promise<unknown>>> = {
      'ann@page': (decision) => linked.press('approve', decision),
      'n8n@automation': (decision) => all.automation.post(`/v1/decisions/${id}/${decision}/approve`),
      'ann@telegram': async (decision) => all.pressInTelegram(await all.inTelegram(decision), 'Approve'),
      'ann@slack': async (decision) => slack.press(await all.shown(decision), 'Approve', 'U1'),
    };
    for (const [index, [actor, approve]] of Object.entries(ways).entries()) {
      const { decision_id: decision } = await here.ask(`say hello ${index}`);
      await linked.waits(decision);
      await approve(decision);
      const told = await caught.atLeast(index + 1);
      const { body, headers } = told[index]!;
      const sealed = new Webhook(secret).verify(body, headers as Record<string, string>) as {
        event: string;
        decision_id: string;
      };
      assert.deepEqual([sealed.event, sealed.decision_id], ['sealed', decision], actor);
      const decided = (await here.call('decision.show', { id: decision })).decision;
      assert.deepEqual([decided.state, decided.decided_by], ['approved', actor]);
    }
    assert.equal(await here.call('session.count', {}), Object.keys(ways).length);
  });

  it('one of 20 simultaneous approvals and denials from every channel is valid, and all report the same', async (t) => {
    const all = await linkEverywhere(start);
    t.after(all.close);
    const { linked, slack, automation, pressInTelegram } = all;
    const { here, ann, id } = linked;
    let started = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { decision_id: decision } = await here.ask(`say hello ${round}`);
      const hash = /name="hash" value="([0-9a-f]{64})"/.exec((await linked.waits(decision)).text)?.[1] ?? '';
      const slackMessage = await all.shown(decision);
      const telegramMessage = await all.inTelegram(decision);
      // The buttons as they were when each person pressed.
      const slackButtons = structuredClone(slackMessage);
      const telegramButtons = structuredClone(telegramMessage);

      const wish = (verb: 'Approve' | 'Deny'): Promise<unknown>[] => [
        ann.post(`/app/decisions/${id}/${decision}/${verb.toLowerCase()}`, { hash }),
        slack.press(slackButtons, verb, 'U1'),
        slack.press(slackButtons, verb, 'U1'),
        automation.post(`/v1/decisions/${id}/${decision}/${verb.toLowerCase()}`),
        pressInTelegram(telegramButtons, verb),
      ];
      await Promise.all([...wish('Approve'), ...wish('Deny'), ...wish('Deny'), ...wish('Approve')]);
      const { state } = await until(async () => {
        const found = (await here.call('decision.show', { id: decision })).decision;
        return found.state === 'pending' ? null : found;
      }, 'an end');
      if (state === 'approved') started += 1;
      assert.equal(await here.call('session.count', {}), started);

      const isEnd =
        state === 'approved' ? /[Aa]pproved.*s-\d+ has started|approved.* started s-/ : /[Dd]enied.* by /;
      await until(async () => {
        if (showButtons(slackMessage).length > 0 || telegramMessage.keyboard.length > 0) return false;
        const said = lastLine(showText(slackMessage));
        if (said !== lastLine(telegramMessage.text) || !isEnd.test(said)) return false;
        return readPage((await ann.get(`/app/decisions/${id}/${decision}`)).text).includes(said);
      }, 'the same in both chats and on the page');
      const asked = await automation.get(`/v1/decisions/${id}/${decision}`);
      assert.equal(asked.json.state, state);
    }
  });
});
