import { it } from 'node:test';
import { type PostedMessage, showButtons, showText } from '../../../../fixtures/slack/slack.ts';
import { type ShownMessage, startTelegram } from '../../../../fixtures/telegram/telegram.ts';
import type { Browser } from '../../../support/server/linked-server.ts';
import { until } from '../../../support/wait.ts';
import { type KilledChat, killAtEveryStep } from './kill-rig.ts';
import { ANN } from './rig.ts';
import { addSlackChannel, connectSlack, startChattySlack } from './slack/linked-rig.ts';

const isAbout = (text: string, decision: string): boolean => new RegExp(`\\b${decision} about`).test(text);

it('a server killed at any step of a press in Slack starts the approved work once, and loses no acknowledged press', async (t) => {
  const slack = await startChattySlack();
  t.after(() => slack.close());
  const countCalls = (method: string) => slack.called.filter((call) => call.method === method).length;
  /** Resolves when a method is called again. */
  const called = async (method: string) => {
    const before = countCalls(method);
    await until(() => countCalls(method) > before, method);
  };
  const chat: KilledChat<PostedMessage> = {
    channel: 'slack',
    args: ['--slack-api', slack.api],
    connect: (ann) => connectSlack(ann, slack),
    async renewPlace(ann) {
      await until(() => slack.sockets.open() > 0, 'the bot to be back');
      await addSlackChannel(ann, slack);
    },
    find: (decision) => slack.inChannel('C1').filter(({ text }) => isAbout(text, decision)),
    press: (message) => slack.press(message, 'Approve', 'U1'),
    textOf: showText,
    hasButtons: (message) => showButtons(message).length > 0,
    moments: {
      'when the message was sent': {
        isBeforePress: true,
        prepare: () => slack.failNext('chat.postMessage', 'never_after'),
        wait: () => called('chat.postMessage'),
      },
      'as the press is told': { wait: () => Promise.resolve() },
      'when the press is acknowledged': { wait: (pressing) => pressing },
      'before the message is edited': {
        prepare: () => slack.failNext('chat.update', 'never'),
        wait: () => called('chat.update'),
      },
      'after the message was edited': {
        prepare: () => slack.failNext('chat.update', 'never_after'),
        wait: () => called('chat.update'),
      },
      'before the private answer': {
        prepare: () => slack.failNext('chat.postEphemeral', 'never'),
        wait: () => called('chat.postEphemeral'),
      },
    },
  };
  await killAtEveryStep(t, chat);
});

it('a server killed at any step of a press in Telegram starts the approved work once, and loses no press', async (t) => {
  const telegram = await startTelegram();
  t.after(() => telegram.close());
  const countCalls = (method: string) => telegram.calls.filter((call) => call.method === method).length;
  const called = async (method: string) => {
    const before = countCalls(method);
    await until(() => countCalls(method) > before, method);
  };
  /** Makes the private chat receive only pending decisions. */
  const addPrivateChat = async (ann: Browser) => {
    const find = async () => /\/app\/chats\/channel\/[\w-]+/.exec((await ann.get('/app/chats')).text)?.[0];
    const before = await find();
    if (before !== undefined) await ann.post(`${before}/remove`);
    await ann.post('/app/chats/channels/telegram/private');
    await ann.post((await find()) ?? '', { 'events[]': 'needs_approval' });
  };
  const chat: KilledChat<ShownMessage> = {
    channel: 'telegram',
    args: ['--telegram-api', telegram.url],
    async connect(ann) {
      await ann.post('/operator/bots/telegram', { token: telegram.token });
      const page = await ann.post('/app/chats/connect/telegram/code');
      telegram.say(ANN, `/start ${/[A-Z]{4}-[A-Z]{4}/.exec(page.text)?.[0]}`);
      await until(() => telegram.messagesTo(ANN.id).length > 0, 'the answer of the bot');
      await ann.post('/app/chats/connect/telegram', { user: String(ANN.id), answer: 'yes' });
      await addPrivateChat(ann);
    },
    renewPlace: addPrivateChat,
    find: (decision) => telegram.messagesTo(ANN.id).filter(({ text }) => isAbout(text, decision)),
    async press(message) {
      // Telegram keeps the update until the server confirms it.
      telegram.press(ANN, message, 'Approve');
      return 'acknowledged';
    },
    textOf: ({ text }) => text,
    hasButtons: ({ keyboard }) => keyboard.length > 0,
    moments: {
      'when the message was sent': {
        isBeforePress: true,
        prepare: () => telegram.fail('sendMessage', { hang: 'after' }),
        wait: () => called('sendMessage'),
      },
      'as the press is told': { wait: () => Promise.resolve() },
      'before the press is answered': {
        prepare: () => telegram.fail('answerCallbackQuery', { hang: 'before' }),
        wait: () => called('answerCallbackQuery'),
      },
      'when the press was answered': {
        prepare: () => telegram.fail('answerCallbackQuery', { hang: 'after' }),
        wait: () => called('answerCallbackQuery'),
      },
      'as the next updates are asked for': { wait: () => called('getUpdates') },
      'before the message is edited': {
        prepare: () => telegram.fail('editMessageText', { hang: 'before' }),
        wait: () => called('editMessageText'),
      },
      'after the message was edited': {
        prepare: () => telegram.fail('editMessageText', { hang: 'after' }),
        wait: () => called('editMessageText'),
      },
    },
  };
  await killAtEveryStep(t, chat);
});
