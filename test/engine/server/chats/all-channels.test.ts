import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from '../../../../engine/base/clock.ts';
import { askRunningServer } from '../../../../engine/server/index.ts';
import { showButtons, showText } from '../../../../fixtures/slack/slack.ts';
import { type ShownMessage, startTelegram } from '../../../../fixtures/telegram/telegram.ts';
import { onBothDatabases } from '../../../support/linked-server.ts';
import { until } from '../../../support/wait.ts';
import { openAutomation } from '../../../support/workspace-by-hand.ts';
import { linkWithSlack } from './slack/linked-rig.ts';

const ANN = { id: 4201, first_name: 'Ann' };
const ROUNDS = 3;

const lastLine = (text: string): string => text.split('\n').at(-1) ?? '';
const readPage = (html: string): string =>
  html
    .replace(/<[^>]+>/g, '')
    .replace(/&#39;/g, "'")
    .replace(/\s+/g, ' ');

onBothDatabases((start) => {
  it('of 20 approvals and denials from every channel at once one counts, and all say the same', async (t) => {
    const telegram = await startTelegram();
    t.after(() => telegram.close());
    const { linked, slack, shown, close } = await linkWithSlack(start, {
      options: { telegramApi: telegram.url, allowTarget: ['127.0.0.1/32'] },
    });
    t.after(close);
    const { here, ann, server, id } = linked;

    await ann.post('/operator/bots/telegram', { token: telegram.token });
    const page = await ann.post('/app/chats/connect/telegram/code');
    telegram.say(ANN, `/start ${/[A-Z]{4}-[A-Z]{4}/.exec(page.text)?.[0]}`);
    await until(() => telegram.messagesTo(ANN.id).length > 0, 'the answer of the bot');
    await ann.post('/app/chats/connect/telegram', { user: String(ANN.id), answer: 'yes' });
    await ann.post('/app/chats/channels/telegram/private');
    await askRunningServer(server.folder, 'account.addon', { name: 'home', addon: 'n8n', on: true });
    const target = { kind: 'n8n', name: 'n8n', url: 'http://127.0.0.1:9/', 'events[]': 'sealed' };
    const added = await ann.post('/app/settings/targets', target);
    const secret = /whsec_[\w+/=]{40,}/.exec(added.text)?.[0] ?? '';
    const automation = openAutomation({ ...server, clock: systemClock as typeof server.clock }, secret);
    await linked.setDecide({ ann: ['page', 'telegram', 'slack'], n8n: ['automation'] });

    const inTelegram = (decision: string): ShownMessage | undefined =>
      telegram.messagesTo(ANN.id).find(({ text }) => new RegExp(`\\b${decision} about`).test(text));
    const pressInTelegram = async (message: ShownMessage, label: string): Promise<void> => {
      const press = telegram.press(ANN, message, label);
      await until(() => telegram.answers.has(press), 'an answer in Telegram');
    };
    let started = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const { decision_id: decision } = await here.ask(`say hello ${round}`);
      const hash = /name="hash" value="([0-9a-f]{64})"/.exec((await linked.waits(decision)).text)?.[1] ?? '';
      const slackMessage = await shown(decision);
      const telegramMessage = await until(() => {
        const message = inTelegram(decision);
        return message !== undefined && message.keyboard.length > 0 ? message : null;
      }, 'the message in Telegram');
      // As they were when everybody put a finger on them.
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

      const isEnd = state === 'approved' ? /[Aa]pproved.* started s-/ : /[Dd]enied.* by /;
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
