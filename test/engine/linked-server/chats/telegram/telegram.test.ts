import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { NO_PROXIES } from '../../../../../engine/core/http/proxies.ts';
import type {
  ChatHandlers,
  ChatMemory,
  ChatService,
} from '../../../../../engine/linked-server/chats/service.ts';
import { formatSpans } from '../../../../../engine/linked-server/chats/spans.ts';
import { createTelegram } from '../../../../../engine/linked-server/chats/telegram/index.ts';
import {
  startTelegram,
  type TelegramFixture,
  type TelegramUser,
} from '../../../../../fixtures/telegram/telegram.ts';
import { type FakeClock, fakeClock } from '../../../../support/clock.ts';
import { until } from '../../../../support/wait.ts';

const ANN: TelegramUser = { id: 4201, first_name: 'Ann' };
const DAY = 24 * 3600_000;

let telegram: TelegramFixture;
let clock: FakeClock;
const open: ChatService[] = [];
const log: string[] = [];

beforeEach(async () => {
  telegram = await startTelegram();
  clock = fakeClock();
  log.length = 0;
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()));
  await telegram.close();
});

function makeMemory(values = new Map<string, string>()): ChatMemory & { values: Map<string, string> } {
  return {
    values,
    read: async (key) => values.get(key) ?? null,
    write: async (key, value) => void values.set(key, value),
    claim: async () => true,
  };
}

function openBot({
  handlers = {},
  memory = makeMemory(),
  token = telegram.token,
  webhook = null,
}: {
  handlers?: Partial<ChatHandlers>;
  memory?: ChatMemory;
  token?: string;
  webhook?: { path: string; secret: string } | null;
} = {}): ChatService {
  const service = createTelegram(
    { token, webhook },
    {
      handlers: { onPress: async () => 'pressed', onWords: async ({ text }) => `heard ${text}`, ...handlers },
      memory,
      clock,
      log: pino({ base: null }, { write: (line: string) => void log.push(line) }),
      api: telegram.url,
      proxies: NO_PROXIES,
      origin: 'https://svc.example',
    },
  );
  open.push(service);
  service.start();
  return service;
}

const isOpen = (service: ChatService) => until(() => service.status().state === 'open', 'an open bot');
const problemOf = (service: ChatService) => until(() => service.status().problem, 'a problem');

describe('a Telegram bot', () => {
  it('the bot forgets no update: it is done when it was processed', async () => {
    const memory = makeMemory();
    const heard: string[] = [];
    let isBroken = true;
    const handlers: Partial<ChatHandlers> = {
      async onWords({ text }) {
        heard.push(text);
        if (isBroken) throw new Error('the database is away');
        return null;
      },
    };
    const first = openBot({ memory, handlers });
    await isOpen(first);
    telegram.say(ANN, 'waiting');
    await until(() => heard.length > 0, 'words');
    assert.equal(memory.values.get('offset'), undefined);
    await first.close();
    assert.equal(first.status().state, 'closed');
    isBroken = false;
    heard.length = 0;
    openBot({ memory, handlers });
    await until(() => memory.values.has('offset'), 'the place to be kept');
    assert.deepEqual(heard, ['waiting']);
    telegram.say(ANN, 'status');
    await until(() => heard.length === 2, 'more words');
    assert.deepEqual(heard, ['waiting', 'status'], 'each exactly once');
  });

  it('the bot skips an update that always fails', { timeout: 60_000 }, async () => {
    const memory = makeMemory();
    openBot({
      memory,
      handlers: {
        async onWords({ text }) {
          if (text === 'poison') throw new Error('never');
          return `heard ${text}`;
        },
      },
    });
    telegram.say(ANN, 'poison');
    telegram.update({ what_is_this: { from: null } });
    telegram.update({ callback_query: { id: 7 } });
    telegram.say(ANN, 'waiting');
    const last = await until(() => telegram.messagesTo(ANN.id).at(-1), 'an answer');
    assert.equal(last.text, 'heard waiting');
    await until(() => memory.values.get('offset')?.includes('1005'), 'the place to be kept');
    assert.equal(telegram.messagesTo(ANN.id).length, 1, 'earlier updates are not handled again');
  });

  it('the bot restarts its count where Telegram does, after a week without updates', async () => {
    const memory = makeMemory(
      new Map([['offset', JSON.stringify({ next: 900_000, at: clock.now() - 6 * DAY - 1 })]]),
    );
    openBot({ memory });
    telegram.say(ANN, 'waiting');
    await until(() => telegram.messagesTo(ANN.id).length === 1, 'an answer');
  });

  it('the bot explains a problem in words, and continues when it is solved', async () => {
    const wrong = openBot({ token: `1:${'B'.repeat(35)}` });
    assert.equal(await problemOf(wrong), 'Telegram rejects the token of the bot');
    const service = openBot();
    await isOpen(service);
    assert.equal(service.status().botName, '@svc_test_bot');
    telegram.fail('getUpdates', { code: 502, description: 'Bad Gateway' }, 1);
    telegram.say(ANN, 'waiting');
    await until(() => telegram.messagesTo(ANN.id).length === 1, 'an answer');
    telegram.say(ANN, 'again');
    await until(() => telegram.messagesTo(ANN.id).length === 2, 'another answer');
    await isOpen(service);
    assert.ok(!log.join('').includes(telegram.token), 'the log does not contain the token');
    assert.ok(!log.join('').includes('B'.repeat(35)));
  });

  it('the bot reports that another program fetches its updates', async () => {
    const one = openBot();
    await isOpen(one);
    await until(() => telegram.calls.some(({ method }) => method === 'getUpdates'), 'a poll');
    const other = openBot();
    const problem = await until(() => one.status().problem ?? other.status().problem, 'a conflict');
    assert.equal(problem, 'another program polls Telegram for the updates of this bot');
  });

  it('the bot accepts updates at its path with its secret only', async () => {
    const webhook = { path: 'p'.repeat(32), secret: 's'.repeat(43) };
    const service = openBot({ webhook });
    await isOpen(service);
    assert.deepEqual(telegram.webhook, {
      url: `https://svc.example/chats/telegram/${webhook.path}`,
      secret: webhook.secret,
    });
    const update = telegram.update({
      message: {
        message_id: 1,
        date: 0,
        chat: { id: ANN.id, type: 'private' },
        from: { is_bot: false, ...ANN },
        text: 'hi',
      },
    });
    const receive = async (path: string, secret: string | undefined, body = JSON.stringify(update)) =>
      (
        await service.receive({
          path,
          headers: { 'x-telegram-bot-api-secret-token': secret },
          body: Buffer.from(body),
        })
      ).status;
    assert.equal(await receive('elsewhere', webhook.secret), 404);
    assert.equal(await receive(webhook.path, undefined), 401);
    assert.equal(await receive(webhook.path, ''), 401);
    assert.equal(await receive(webhook.path, `${webhook.secret}x`), 401);
    assert.equal(await receive(webhook.path, webhook.secret, '{'), 400);
    assert.deepEqual(telegram.messages, []);
    telegram.say(ANN, 'so that the chat is there');
    assert.equal(await receive(webhook.path, webhook.secret), 200);
    assert.equal(telegram.messagesTo(ANN.id)[0]?.text, 'heard hi');
    assert.ok(!telegram.calls.some(({ method }) => method === 'getUpdates'));
    const polling = openBot();
    assert.equal(await isOpen(polling), true);
    assert.equal(telegram.webhook, null, 'a polling bot removes the webhook');
    assert.equal(
      (await polling.receive({ path: webhook.path, headers: {}, body: Buffer.alloc(0) })).status,
      404,
    );
  });

  it('a removed bot has no webhook left, and says so where it may', async () => {
    const webhook = { path: 'p'.repeat(32), secret: 's'.repeat(43) };
    const first = openBot({ webhook });
    await isOpen(first);
    await first.close();
    assert.notEqual(telegram.webhook, null, 'stopping keeps the webhook for the restart');
    const second = openBot({ webhook });
    await isOpen(second);
    await second.remove();
    assert.equal(telegram.webhook, null);
    const third = openBot({ webhook });
    await isOpen(third);
    telegram.fail('deleteWebhook', { code: 502, description: 'Bad Gateway' });
    await assert.rejects(third.remove(), { message: 'Telegram has failed (HTTP 502)' });
    assert.equal(third.status().state, 'closed');
    const polling = openBot();
    await isOpen(polling);
    const before = telegram.calls.filter(({ method }) => method === 'deleteWebhook').length;
    await polling.remove();
    assert.equal(telegram.calls.filter(({ method }) => method === 'deleteWebhook').length, before);
  });

  it("the bot shows outside text literally, within Telegram's limits", async () => {
    const service = openBot();
    telegram.say(ANN, 'hi');
    await until(() => telegram.messagesTo(ANN.id).length === 1, 'an answer');
    const hostile = [
      '[click](https://evil.example) *bold* _it_ `code` ~s~ ||spoiler||',
      '<b>bold</b> <a href="tg://user?id=1">x</a> &amp;',
      '@ann_t @everyone #tag /start https://evil.example mail@evil.example',
      '\u202egnp.exe\u202c \u200f\u2066x\u2069 \u0000 \u001b[31m red',
      '👩‍👩‍👧‍👦 at the border 👩‍👩‍👧‍👦',
      ' \n\t spaces around \n ',
      'x'.repeat(299).concat('👩‍👩‍👧‍👦'),
      '\ud83d half a character',
      '',
    ];
    for (const text of hostile) {
      const id = await service.send(String(ANN.id), {
        lines: [formatSpans`Title: ${text}`, formatSpans`${text}, ${text}`],
        buttons: [],
      });
      const shown = telegram.messages.find((each) => String(each.id) === id)!;
      assert.deepEqual(shown.found, [], `${JSON.stringify(text)}: nothing is linked or mentioned`);
      assert.equal(shown.hasPreview, false);
      assert.equal(shown.hasParseMode, false);
      assert.doesNotMatch(shown.text, /[\u202a-\u202e\u2066-\u2069\u200f\u001b\u0000]/);
    }
    const long = await service.send(String(ANN.id), {
      lines: Array.from({ length: 60 }, () => formatSpans`${'👩‍👩‍👧‍👦'.repeat(27)}`),
      buttons: [],
    });
    const shown = telegram.messages.find((each) => String(each.id) === long)!;
    assert.ok(shown.text.length <= 4096 && shown.text.length > 4000 && shown.text.endsWith('…'));
  });

  it('the bot explains why a message was not sent', async () => {
    const service = openBot();
    telegram.say(ANN, 'hi');
    await until(() => telegram.messagesTo(ANN.id).length === 1, 'an answer');
    const message = { lines: [formatSpans`x`], buttons: [] };
    const problem = (work: Promise<unknown>) =>
      work.then(
        () => 'none',
        (error: { problem: string; retryAfterMs: number | null }) =>
          `${error.problem} ${error.retryAfterMs ?? ''}`.trim(),
      );
    assert.equal(await problem(service.send('-5', message)), 'gone');
    assert.equal(await problem(service.send('77', message)), 'gone', 'a person who never wrote to the bot');
    assert.equal(await problem(service.edit(String(ANN.id), '99999', message)), 'gone');
    telegram.fail('sendMessage', {
      code: 429,
      description: 'Too Many Requests: retry after 7',
      retryAfter: 7,
    });
    assert.equal(await problem(service.send(String(ANN.id), message)), 'later 7000');
    telegram.fail('sendMessage', { cut: 'before' });
    assert.equal(await problem(service.send(String(ANN.id), message)), 'later');
    telegram.fail('sendMessage', { code: 400, description: 'Bad Request: something new' });
    assert.equal(await problem(service.send(String(ANN.id), message)), 'refused');
    const id = await service.send(String(ANN.id), message);
    assert.equal(
      await problem(service.edit(String(ANN.id), id, message)),
      'none',
      'the message is unchanged',
    );
    telegram.block(ANN);
    assert.equal(await problem(service.send(String(ANN.id), message)), 'gone');
    telegram.newToken('2:other');
    assert.equal(await problem(service.send(String(ANN.id), message)), 'refused');
    assert.equal(service.status().state, 'failing');
  });

  it('the bot links to no host that Telegram rejects', async () => {
    const service = openBot();
    telegram.say(ANN, 'hi');
    await until(() => telegram.messagesTo(ANN.id).length === 1, 'an answer');
    const button = (url: string) => ({ label: 'Open', url });
    const id = await service.send(String(ANN.id), {
      lines: [formatSpans`x`],
      buttons: [button('http://localhost:8791/app'), button('https://svc.example/app')],
    });
    const shown = telegram.messages.find((each) => String(each.id) === id)!;
    assert.deepEqual(shown.keyboard, [[{ text: 'Open', url: 'https://svc.example/app' }]]);
  });
});
