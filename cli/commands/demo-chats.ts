import type { Visitor } from './demo-visitor.ts';
import { findIn, waitFor } from './demo-wait.ts';

/** Ann in Telegram, and in Slack with the room where decisions are shown. */
const ANN = { id: 4201, first_name: 'Ann' };
const ANN_IN_SLACK = 'U0ANN';
const ANN_AND_BOT = 'D0ANN';
const ROOM = { id: 'C0APPROVALS', name: 'approvals' };

/** The current message of a chat about a decision. */
export interface SaidInChat {
  text: string;
  /** The labels of its buttons. */
  buttons: string[];
}

/** One of the two chats, with Ann as its user. */
export interface DemoChat {
  name: 'Telegram' | 'Slack';
  /**
   * Sets the bot up and connects Ann, as people do it on the pages and in the chat. Returns what she did, one line
   * per step.
   */
  connect(ann: Visitor): Promise<string[]>;
  /** Returns the message about a decision; null if there is none yet. */
  read(decision: string): SaidInChat | null;
  /** Presses a button as Ann; resolves with the answer that only she sees. */
  press(decision: string, button: string): Promise<string>;
}

/** The chats of the demo and where the server reaches them. */
export interface DemoChats {
  telegramApi: string;
  slackApi: string;
  chats: readonly DemoChat[];
  close(): Promise<void>;
}

/** Starts scripted stand-ins of Telegram and Slack on loopback; they refuse what the real ones refuse. */
export async function startDemoChats(): Promise<DemoChats> {
  const [telegram, slack] = await Promise.all([startTelegramChat(), startSlackChat()]);
  return {
    telegramApi: telegram.api,
    slackApi: slack.api,
    chats: [telegram, slack],
    async close() {
      await Promise.all([telegram.close(), slack.close()]);
    },
  };
}

interface StandIn extends DemoChat {
  api: string;
  close(): Promise<void>;
}

const isAbout = (text: string, decision: string): boolean => text.includes(`${decision} about `);

/** Sets the bot of a service up, and waits until it works. */
async function setBotUp(ann: Visitor, kind: string, settings: Record<string, string>): Promise<void> {
  await ann.send(`/operator/bots/${kind}`, settings);
  await waitFor(
    async () => (/\bworks\b/.test((await ann.open(`/operator/bots/${kind}`)).html) ? true : null),
    `the bot of ${kind}`,
  );
}

/** Makes a code on a page of Ann, sends it as her, and confirms the question on the page. */
async function sendCode(
  ann: Visitor,
  {
    page,
    field,
    send,
  }: { page: string; field: Record<string, string>; send(code: string): Promise<unknown> },
): Promise<string> {
  const { html } = await ann.send(`${page}/code`, {});
  const code = findIn(html, /\b([A-Z]{4}-[A-Z]{4})\b/);
  await send(code);
  await ann.send(page, { ...field, answer: 'yes' });
  return code;
}

/** Only pending decisions are sent: more than five messages within a minute would become one. */
async function chooseEvents(ann: Visitor, name: string): Promise<void> {
  const { html } = await ann.open('/app/chats');
  const place = findIn(html, new RegExp(`"(/app/chats/channel/[\\w-]+)">${name}`));
  await ann.send(place, [['events[]', 'needs_approval']]);
}

async function startTelegramChat(): Promise<StandIn> {
  const { startTelegram } = await import('../../fixtures/telegram/telegram.ts');
  const telegram = await startTelegram({ username: 'svc_demo_bot' });
  const find = (decision: string) =>
    telegram.messagesTo(ANN.id).find(({ text }) => isAbout(text, decision)) ?? null;
  return {
    name: 'Telegram',
    api: telegram.url,
    async connect(ann) {
      await setBotUp(ann, 'telegram', { token: telegram.token });
      const code = await sendCode(ann, {
        page: '/app/chats/connect/telegram',
        field: { user: String(ANN.id) },
        async send(code) {
          telegram.say(ANN, `/start ${code}`);
          await waitFor(() => telegram.messagesTo(ANN.id).at(-1), 'the answer of the bot in Telegram');
        },
      });
      await ann.send('/app/chats/channels/telegram/private', {});
      await chooseEvents(ann, ANN.first_name);
      return [
        `ann sends ${code} to the bot, and confirms on the page that Ann, id ${ANN.id}, is her account`,
      ];
    },
    read(decision) {
      const message = find(decision);
      return message && { text: message.text, buttons: message.keyboard.flat().map(({ text }) => text) };
    },
    press(decision, button) {
      const message = find(decision);
      if (message === null) throw new Error(`Telegram shows nothing about ${decision}`);
      const press = telegram.press(ANN, message, button);
      return waitFor(() => telegram.answers.get(press), 'the answer to a press in Telegram');
    },
    close: telegram.close,
  };
}

async function startSlackChat(): Promise<StandIn> {
  const { addChannel, SLACK_APP, showButtons, showText, startSlack } = await import(
    '../../fixtures/slack/slack.ts'
  );
  const slack = await startSlack();
  addChannel(slack, { id: ANN_AND_BOT, name: 'directmessage', members: [ANN_IN_SLACK] });
  addChannel(slack, { ...ROOM, members: [ANN_IN_SLACK] });
  const find = (decision: string) =>
    slack.inChannel(ROOM.id).find(({ text }) => isAbout(text, decision)) ?? null;
  return {
    name: 'Slack',
    api: slack.api,
    async connect(ann) {
      await setBotUp(ann, 'slack', {
        bot_token: SLACK_APP.botToken,
        app_token: SLACK_APP.appToken,
        signing_secret: '',
        team_id: SLACK_APP.teamId,
        app_id: SLACK_APP.appId,
      });
      const code = await sendCode(ann, {
        page: '/app/chats/connect/slack',
        field: { user: ANN_IN_SLACK },
        send: (code) => slack.say(ANN_AND_BOT, ANN_IN_SLACK, code),
      });
      const roomCode = await sendCode(ann, {
        page: '/app/chats/channels/slack',
        field: { channel: ROOM.id },
        send: (code) => slack.say(ROOM.id, ANN_IN_SLACK, code),
      });
      await chooseEvents(ann, ROOM.id);
      return [
        `ann sends ${code} to the bot, and confirms on the page that ${ANN_IN_SLACK} is her account`,
        `she sends ${roomCode} in #${ROOM.name}, and allows the bot to post there`,
      ];
    },
    read(decision) {
      const message = find(decision);
      return message && { text: showText(message), buttons: showButtons(message).map(String) };
    },
    async press(decision, button) {
      const message = find(decision);
      if (message === null) throw new Error(`Slack shows nothing about ${decision}`);
      const before = slack.privateTo(ANN_IN_SLACK).length;
      await slack.press(message, button, ANN_IN_SLACK);
      return waitFor(() => slack.privateTo(ANN_IN_SLACK)[before], 'the answer to a press in Slack');
    },
    close: slack.close,
  };
}
