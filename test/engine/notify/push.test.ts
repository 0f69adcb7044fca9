import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { afterEach, describe, test } from 'node:test';
import type { PushEntry } from '../../../engine/notify/config.ts';
import { type NtfyFixture, startNtfy } from '../../../fixtures/ntfy/ntfy.ts';
import { startTelegram, type TelegramFixture } from '../../../fixtures/telegram/telegram.ts';
import { until } from '../../support/wait.ts';
import { type NotifyRig, notifyRig } from './rig.ts';

const HOUR = 3_600_000;
/** Longer than events are gathered. */
const SOON = 5000;
const TOPIC = 'svc-topic-nobody-guesses';
const CHAT = 4201;
const ANN = { id: CHAT, first_name: 'Ann' };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});

async function openNtfy(...args: Parameters<typeof startNtfy>): Promise<NtfyFixture> {
  const made = await startNtfy(...args);
  open.push(made);
  return made;
}

async function openTelegramServer(): Promise<TelegramFixture> {
  const made = await startTelegram();
  open.push(made);
  made.say(ANN, '/start');
  return made;
}

function openRig(push: PushEntry[], env: Record<string, string> = {}): NotifyRig {
  const rig = notifyRig([]);
  Object.assign(rig.env, { TOPIC, ...env });
  rig.titles = 'all';
  rig.push.push(...push);
  open.push(rig);
  return rig;
}

const ntfyAt = ({ url }: { url: string }, more: object = {}): PushEntry => ({
  kind: 'ntfy',
  url,
  topic_env: 'TOPIC',
  ...more,
});

async function openTelegramRig(more: object = {}): Promise<[TelegramFixture, NotifyRig]> {
  const telegram = await openTelegramServer();
  const entry: PushEntry = {
    kind: 'telegram',
    url: telegram.url,
    token_env: 'BOT',
    chat: String(CHAT),
    ...more,
  };
  return [telegram, openRig([entry], { BOT: telegram.token })];
}

const stateOf = (rig: NotifyRig) => rig.notify.list().map(({ state }) => state);
const errorOf = (rig: NotifyRig) => rig.notify.list()[0]?.lastError;
/** Lets the gathered events be sent, and waits for that attempt. */
async function sendGathered(rig: NotifyRig, attempts = 1): Promise<void> {
  await rig.advance(SOON);
  await until(() => rig.notify.list().at(-1)?.attempts === attempts, `${attempts} tries`);
}
const reset = { cut: 'before' } as const;

describe('a message over ntfy', () => {
  test('a decision is a message with its ids and title, without the prompt, and the topic is in no address', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    await rig.makeTask('say *hello* [to](all)');
    await sendGathered(rig);
    assert.deepEqual(ntfy.messages, [
      {
        topic: TOPIC,
        title: 'svc bench app',
        message: 'Waits for approval: say *hello* [to](all) (t-1, d-1)\na person must review it',
        click: null,
        sequence: ntfy.messages[0]?.sequence,
        times: 1,
      },
    ]);
    assert.deepEqual(stateOf(rig), ['delivered']);
    const [request] = ntfy.requests;
    assert.doesNotMatch(request?.body ?? '', /stays here|it has to be looked at/);
    assert.equal(request?.path, '/');
    assert.doesNotMatch(JSON.stringify(rig.notify.list()), new RegExp(TOPIC));
  });

  test('a title leaves the machine only as server.titles allows', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    // The titles of the rig are made from prompts.
    for (const titles of ['given', 'none'] as const) {
      rig.titles = titles;
      await rig.makeTask('a secret plan');
      await rig.advance(SOON);
      await until(() => rig.notify.counts().pending === 0, 'the message');
    }
    assert.deepEqual(
      ntfy.messages.map(({ message }) => message.split('\n')[0]),
      ['Waits for approval: scripted (t-1, d-1)', 'Waits for approval: scripted (t-2, d-2)'],
    );
  });

  test('several events at once are one message, and so are those of an outage', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    ntfy.fail(reset, 2);
    for (let count = 0; count < 12; count++) await rig.makeTask(`task ${count}`);
    await sendGathered(rig);
    await rig.makeTask('another');
    await rig.advance(SOON);
    await until(() => rig.notify.list().at(-1)?.attempts === 2, 'another try');
    await rig.advance(HOUR);
    await until(() => rig.notify.counts().delivered === 13, 'the messages');
    assert.equal(ntfy.messages.length, 1);
    const lines = ntfy.messages[0]?.message.split('\n') ?? [];
    assert.equal(lines[0], '13 wait for approval');
    assert.equal(lines[1], 'Waits for approval: task 0 (t-1, d-1)');
    assert.equal(lines.at(-1), '… and 3 more');
    assert.equal(lines.length, 12);
  });

  test('a summary of long titles stays within the limit of the server', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    for (let count = 0; count < 12; count++) await rig.makeTask('🏗️'.repeat(100));
    await sendGathered(rig);
    assert.deepEqual([...new Set(stateOf(rig))], ['delivered']);
    assert.ok(Buffer.byteLength(ntfy.messages[0]?.message ?? '') > 3000);
  });

  test('control characters and direction marks of a title are shown by their numbers', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    await rig.makeTask('red \u001b]9;x\u0007 \u202etxt\nnext');
    await sendGathered(rig);
    assert.match(ntfy.messages[0]?.message ?? '', /: red \\x1b\]9;x\\x07 \\u202etxt next \(t-1/);
  });

  test('a message whose answer was lost is repeated, and replaces the first one', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    ntfy.fail({ cut: 'after' });
    await rig.makeTask();
    await sendGathered(rig);
    assert.deepEqual(stateOf(rig), ['pending']);
    await rig.advance(HOUR);
    await until(() => stateOf(rig)[0] === 'delivered', 'the message');
    assert.deepEqual([ntfy.messages.length, ntfy.messages[0]?.times], [1, 2]);
  });

  test('an engine that ends while a message is under way sends it again, as the same message', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    ntfy.fail({ hang: 'after' });
    await rig.makeTask();
    await rig.advance(SOON);
    await until(() => ntfy.messages.length === 1, 'the message');
    await rig.restart();
    await until(() => stateOf(rig)[0] === 'delivered', 'the delivery');
    assert.deepEqual([ntfy.messages.length, ntfy.messages[0]?.times], [1, 2]);
    await rig.restart();
    await rig.advance(HOUR);
    assert.equal(ntfy.requests.length, 2, 'a delivered message is not sent again');
  });

  test('a limit of the server pauses everything to it for as long as it says', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    ntfy.fail({ status: 429, retryAfter: '120' });
    await rig.makeTask('one');
    await sendGathered(rig);
    assert.equal(errorOf(rig), 'ntfy limits the number of messages (HTTP 429)');
    await rig.makeTask('two');
    await rig.advance(2 * SOON);
    await rig.advance(60_000);
    assert.equal(ntfy.requests.length, 1);
    await rig.advance(60_000);
    await until(() => rig.notify.counts().delivered === 2, 'both');
    assert.equal(ntfy.messages[0]?.message.split('\n')[0], '2 wait for approval');
  });

  test('a refused token is named in words, and a new one is used without a restart', async () => {
    const ntfy = await openNtfy({ tokens: ['tk_right'] });
    const rig = openRig([ntfyAt(ntfy)]);
    await rig.makeTask();
    await sendGathered(rig);
    assert.equal(errorOf(rig), 'ntfy asks for a token (HTTP 403): set token_env of the entry');
    rig.push.splice(0, 1, ntfyAt(ntfy, { token_env: 'TOKEN' }));
    const [missing] = await rig.notify.test();
    assert.deepEqual([missing?.state, missing?.lastError], ['pending', 'secret_missing: TOKEN is not set']);
    rig.env.TOKEN = 'tk_wrong';
    const wrong = (await rig.notify.test())[0];
    assert.equal(wrong?.lastError, 'ntfy does not let this token publish to the topic (HTTP 401)');
    rig.env.TOKEN = 'tk_right\n';
    assert.equal((await rig.notify.test('ntfy'))[0]?.state, 'delivered');
    assert.doesNotMatch(JSON.stringify(rig.notify.list()), /tk_/);
    assert.doesNotMatch(JSON.stringify(rig.events.listAfter(0)), /tk_|svc-topic/);
  });

  test('a server that fails, hangs up or does not exist costs no message', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    ntfy.fail({ status: 500 });
    await rig.makeTask();
    await sendGathered(rig);
    assert.equal(errorOf(rig), 'HTTP 500');
    await ntfy.close();
    open.splice(open.indexOf(ntfy), 1);
    await rig.advance(HOUR);
    await until(() => errorOf(rig) === 'ECONNREFUSED', 'a refused connection');
    const again = await openNtfy({ port: Number(new URL(ntfy.url).port) });
    await rig.advance(HOUR);
    await until(() => stateOf(rig)[0] === 'delivered', 'the message');
    assert.equal(again.messages.length, 1);
  });
});

describe('a message over Telegram', () => {
  test('its title is literal: nothing in it formats, mentions or links', async () => {
    const [telegram, rig] = await openTelegramRig();
    await rig.makeTask('_*[`<b>@ann</b> https://evil.example /stop');
    await sendGathered(rig);
    assert.deepEqual(stateOf(rig), ['delivered']);
    const [message] = telegram.messagesTo(CHAT);
    assert.equal(
      message?.text,
      'svc bench app\nWaits for approval: _*[`<b>@ann</b> https://evil.example /stop (t-1, d-1)\na person must review it',
    );
    assert.deepEqual([message?.found, message?.hasParseMode, message?.hasPreview], [[], false, false]);
    assert.doesNotMatch(JSON.stringify(telegram.calls), /stays here/);
  });

  test('a limit of Telegram is respected for as long as it says', async () => {
    const [telegram, rig] = await openTelegramRig();
    telegram.fail('sendMessage', { code: 429, description: 'Too Many Requests', retryAfter: 30 });
    await rig.makeTask();
    await sendGathered(rig);
    assert.equal(errorOf(rig), 'Telegram limits the rate of requests');
    await rig.advance(20_000);
    assert.equal(telegram.calls.length, 1);
    await rig.advance(15_000);
    await until(() => stateOf(rig)[0] === 'delivered', 'the message');
  });

  test('each failure is in words of svc, and none contains the token', async () => {
    const [telegram, rig] = await openTelegramRig();
    const { token } = telegram;
    const explain = async () => (await rig.notify.test('telegram'))[0]?.lastError;
    telegram.fail('sendMessage', { code: 500, description: `Internal ${token}` });
    assert.equal(await explain(), 'Telegram has failed (HTTP 500)');
    telegram.fail('sendMessage', { cut: 'before' });
    assert.equal(await explain(), 'Telegram cannot be reached');
    rig.env.BOT = `1:${'B'.repeat(35)}`;
    assert.equal(await explain(), 'Telegram rejects the token of the bot');
    rig.env.BOT = 'not a token/../';
    assert.equal(await explain(), 'Telegram rejects the token of the bot');
    rig.env.BOT = token;
    telegram.block(ANN);
    assert.equal(await explain(), 'the bot is not allowed there');
    const told = JSON.stringify([rig.notify.list(), rig.events.listAfter(0)]);
    assert.ok(!told.includes(token.slice(10)));
    assert.ok(!told.includes('B'.repeat(35)));
  });

  test('a server that never answers ends the attempt, and an engine that closes does not wait for it', async () => {
    const [telegram, rig] = await openTelegramRig();
    telegram.fail('sendMessage', { hang: 'before' });
    await rig.makeTask();
    await rig.advance(SOON);
    await until(() => telegram.calls.length === 1, 'a call');
    await rig.restart();
    await until(() => stateOf(rig)[0] === 'delivered', 'the message');
    assert.equal(telegram.messagesTo(CHAT).length, 1);
  });
});

describe('the events of a message', () => {
  test('a question is for the person only if it is to the Chair', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    const ask = (to: string) => ({
      kind: 'ask_opened' as const,
      data: { ask_id: 1, to, reason: `waits for ${to}` },
    });
    rig.questions.set(1, 'Which one?');
    await rig.storage.write(() => {
      rig.events.append(ask('s-2'));
      rig.events.append(ask('chair@app'));
      rig.events.append({ kind: 'alert', data: { title: 'words of an agent' } });
    });
    await sendGathered(rig);
    assert.equal(rig.notify.list().length, 1);
    assert.equal(ntfy.messages[0]?.message, 'A worker asks');
  });

  test('an entry that lists events gets those, and no words of an agent', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy, { events: ['alert', 'task_created'] })]);
    await rig.makeTask();
    await rig.storage.write(() =>
      rig.events.append({ kind: 'alert', data: { title: 'words of an agent', reason: '/home/ann/x' } }),
    );
    await sendGathered(rig);
    assert.equal(ntfy.messages[0]?.message, '2 events\nNew task: say hello (t-1)\nAlert');
  });
});

test('what is over before it can be sent is left out', async () => {
  const ntfy = await openNtfy();
  const rig = openRig([ntfyAt(ntfy)]);
  const deny = (id: string) =>
    rig.storage.write(() => rig.workflow.deny(id, 'no', { actor: 'ann', via: 'cli' }));
  await rig.makeTask('one');
  await deny('d-1');
  await sendGathered(rig);
  assert.deepEqual([stateOf(rig), ntfy.requests.length], [['delivered'], 0]);
  await rig.makeTask('two');
  await rig.makeTask('three');
  await deny('d-2');
  await rig.advance(SOON);
  await until(() => rig.notify.counts().pending === 0, 'the message');
  assert.match(ntfy.messages[0]?.message ?? '', /^Waits for approval: three \(t-3, d-3\)\n/);
});

describe('quiet hours', () => {
  test('messages wait for their end and arrive as one, but a test is sent at once', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    rig.quiet = '22:00-07:00 Europe/Berlin';
    rig.clock.set(Date.parse('2026-01-02T21:30:00Z'));
    await rig.makeTask('late');
    await rig.advance(HOUR);
    await rig.makeTask('later');
    await rig.advance(HOUR);
    const [tried] = await rig.notify.test();
    assert.equal(tried?.state, 'delivered');
    assert.equal(ntfy.messages[0]?.message, 'Test message');
    await rig.restart();
    rig.clock.set(Date.parse('2026-01-03T05:59:59Z'));
    await rig.advance(0);
    assert.equal(ntfy.requests.length, 1);
    await rig.advance(SOON);
    await until(() => rig.notify.counts().delivered === 3, 'the morning');
    assert.equal(ntfy.messages.length, 2);
    assert.match(ntfy.messages[1]?.message ?? '', /^2 wait for approval\n/);
  });

  test('hours that are switched off hold nothing any more', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    rig.quiet = '00:00-23:59 UTC';
    await rig.makeTask();
    await rig.advance(HOUR);
    rig.quiet = '';
    await rig.storage.write(() => rig.events.append({ kind: 'config_reloaded' }));
    await sendGathered(rig);
    assert.deepEqual(stateOf(rig), ['delivered']);
  });

  test('a failure before them is repeated after them', async () => {
    const ntfy = await openNtfy();
    const rig = openRig([ntfyAt(ntfy)]);
    rig.quiet = '22:00-07:00 UTC';
    rig.clock.set(Date.parse('2026-01-02T21:59:50Z'));
    ntfy.fail({ status: 429, retryAfter: '60' });
    await rig.makeTask();
    await sendGathered(rig);
    assert.equal(rig.notify.list()[0]?.nextAt, '2026-01-03T07:00:00.000Z');
  });
});

test('webhooks are for programs: quiet hours do not hold them', async () => {
  const connected: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) => {
      connected.push(bytes.toString());
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as { port: number };
  open.push({ close: () => new Promise((done) => server.close(() => done())) });
  const rig = openRig([]);
  rig.quiet = '00:00-23:59 UTC';
  rig.targets.push({ url: `http://127.0.0.1:${port}/hook`, events: ['needs_approval'] });
  await rig.makeTask();
  await until(() => rig.notify.counts().delivered === 1, 'the delivery');
  assert.match(connected[0] ?? '', /^POST \/hook /);
});
