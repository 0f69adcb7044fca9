import { systemClock } from '../../../../engine/core/base/clock.ts';
import { askRunningServer } from '../../../../engine/linked-server/index.ts';
import {
  type ShownMessage,
  startTelegram,
  type TelegramFixture,
} from '../../../../fixtures/telegram/telegram.ts';
import type { startTestServer } from '../../../support/server/linked-server.ts';
import { until } from '../../../support/wait.ts';
import { openAutomation } from '../../../support/workspaces/workspace-by-hand.ts';
import { type Catcher, catcher } from '../../notify/rig.ts';
import { type LinkedSlack, linkWithSlack } from './slack/linked-rig.ts';

const ANN = { id: 4201, first_name: 'Ann' };

/** A linked workspace whose decisions can be made on the page, in Slack, in Telegram and through n8n's catch URL. */
export interface LinkedEverywhere extends LinkedSlack {
  telegram: TelegramFixture;
  automation: ReturnType<typeof openAutomation>;
  /** The server at the catch URL, and the secret with which it verifies. */
  caught: Catcher;
  secret: string;
  /** Returns Telegram's message about a decision once it has its buttons. */
  inTelegram(decision: string): Promise<ShownMessage>;
  /** Presses as ann and waits for the bot's answer. */
  pressInTelegram(message: ShownMessage, label: string): Promise<void>;
}

export async function linkEverywhere(start: typeof startTestServer): Promise<LinkedEverywhere> {
  const telegram = await startTelegram();
  const caught = await catcher();
  const slack = await linkWithSlack(start, {
    options: { telegramApi: telegram.url, allowTarget: ['127.0.0.1/32'] },
  });
  const { ann, server, setDecide } = slack.linked;
  await ann.post('/operator/bots/telegram', { token: telegram.token });
  const page = await ann.post('/app/chats/connect/telegram/code');
  telegram.say(ANN, `/start ${/[A-Z]{4}-[A-Z]{4}/.exec(page.text)?.[0]}`);
  await until(() => telegram.messagesTo(ANN.id).length > 0, 'the answer of the bot');
  await ann.post('/app/chats/connect/telegram', { user: String(ANN.id), answer: 'yes' });
  await ann.post('/app/chats/channels/telegram/private');
  await askRunningServer(server.folder, 'account.addon', { name: 'home', addon: 'n8n', on: true });
  const added = await ann.post('/app/settings/targets', {
    kind: 'n8n',
    name: 'n8n',
    url: caught.url,
    'events[]': 'sealed',
  });
  const secret = /whsec_[\w+/=]{40,}/.exec(added.text)?.[0] ?? '';
  await setDecide({ ann: ['page', 'telegram', 'slack'], n8n: ['automation'] });
  return {
    ...slack,
    telegram,
    caught,
    secret,
    automation: openAutomation({ ...server, clock: systemClock }, secret),
    inTelegram: (decision) =>
      until(() => {
        const isAbout = new RegExp(`\\b${decision} about`);
        const message = telegram.messagesTo(ANN.id).find(({ text }) => isAbout.test(text));
        return message !== undefined && message.keyboard.length > 0 ? message : null;
      }, `${decision} in Telegram`),
    async pressInTelegram(message, label) {
      const press = telegram.press(ANN, message, label);
      await until(() => telegram.answers.has(press), 'an answer in Telegram');
    },
    async close() {
      await slack.close();
      await caught.close();
      await telegram.close();
    },
  };
}
