import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { pino } from 'pino';
import { request } from 'undici';
import { createOutgoing } from '../../../../engine/core/http/outgoing.ts';
import type { ChatService } from '../../../../engine/linked-server/chats/service.ts';
import { createTelegram } from '../../../../engine/linked-server/chats/telegram/index.ts';
import { SLACK_APP } from '../../../../fixtures/slack/slack.ts';
import { startTelegram } from '../../../../fixtures/telegram/telegram.ts';
import { fakeClock } from '../../../support/clock.ts';
import { type ConnectProxy, startConnectProxy } from '../../../support/gateway/connect-proxy.ts';
import { assertReadsNoProxy } from '../../../support/gateway/no-proxy-cases.ts';
import { until } from '../../../support/wait.ts';
import { ANN } from './rig.ts';
import { createTestMemory, startSlackRig } from './slack/rig.ts';

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

/** A proxy that maps `host:80` to a port of this machine. */
async function openProxy(host: string, port: number): Promise<ConnectProxy> {
  const proxy = await startConnectProxy({ [`${host}:80`]: port });
  open.push(proxy.close);
  return proxy;
}
const through = ({ url }: ConnectProxy, except = '') => ({ http: url, https: url, except });

async function openTelegramBehindProxy({ except = '', api = 'http://telegram.invalid/' } = {}) {
  const telegram = await startTelegram();
  open.push(telegram.close);
  const proxy = await openProxy('telegram.invalid', Number(new URL(telegram.url).port));
  const clock = fakeClock();
  const service: ChatService = createTelegram(
    { token: telegram.token, webhook: null },
    {
      handlers: { onPress: async () => '', onWords: async ({ text }) => `heard ${text}` },
      memory: createTestMemory(clock.now),
      clock,
      log: pino({ enabled: false }),
      api: api === '' ? telegram.url : api,
      proxies: through(proxy, except),
      origin: 'https://svc.example',
    },
  );
  open.push(service.close);
  return { telegram, proxy, service };
}
const isOpen = (service: ChatService) => until(() => service.status().state === 'open', 'an open bot');
const problemOf = (service: ChatService) => until(() => service.status().problem, 'a problem');

describe('a chat service behind a proxy', () => {
  it('every call to Telegram is a tunnel, and the proxy sees no token', async () => {
    const { telegram, proxy, service } = await openTelegramBehindProxy();
    service.start();
    await isOpen(service);
    telegram.say(ANN, 'hello');
    const answer = await until(() => telegram.messagesTo(ANN.id)[0], 'an answer');
    assert.equal(answer.text, 'heard hello');
    assert.ok(proxy.asked.every(({ target }) => target === 'telegram.invalid:80'));
    assert.match(proxy.asked[0]?.headers['proxy-authorization'] ?? '', /^Basic /);
    assert.deepEqual(proxy.fetched, []);
    assert.ok(!JSON.stringify(proxy.asked).includes(telegram.token));
    // Connections that a proxy cuts are reopened.
    proxy.cut();
    telegram.say(ANN, 'again');
    await until(() => telegram.messagesTo(ANN.id).length === 2, 'another answer');
  });

  it('a refusing proxy is reported', async () => {
    const { proxy, service } = await openTelegramBehindProxy();
    proxy.isRefusing = true;
    service.start();
    assert.equal(
      await problemOf(service),
      'Telegram cannot be reached: the proxy of HTTPS_PROXY or HTTP_PROXY refuses the connection',
    );
    proxy.isRefusing = false;
    await isOpen(service);
  });

  it('NO_PROXY and loopback addresses bypass the proxy', async () => {
    const outside = await openTelegramBehindProxy({ except: '.invalid' });
    outside.service.start();
    assert.equal(await problemOf(outside.service), 'Telegram cannot be reached');
    assert.deepEqual(outside.proxy.asked, []);
    const here = await openTelegramBehindProxy({ api: '' });
    here.service.start();
    await isOpen(here.service);
    assert.deepEqual(here.proxy.asked, []);
  });

  it('NO_PROXY is parsed as usual', async () => {
    const proxy = await startConnectProxy();
    open.push(proxy.close);
    await assertReadsNoProxy(async (address, except, patienceMs) => {
      const asked = proxy.asked.length;
      const service = new URL(address);
      const dispatcher = createOutgoing(service, through(proxy, except));
      const patience = setTimeout(() => void dispatcher.destroy(), patienceMs);
      await assert.rejects(request(service, { dispatcher }));
      clearTimeout(patience);
      await dispatcher.destroy();
      return proxy.asked.length > asked;
    });
  });

  it('an unusable proxy is reported, without its password', async () => {
    const proxies = { http: 'socks5://me:hunter2@127.0.0.1:1', https: '', except: '' };
    assert.throws(() => createOutgoing(new URL('http://telegram.invalid'), proxies), {
      message: 'the proxy of HTTPS_PROXY or HTTP_PROXY must be http:// or https://',
    });
  });

  it("Slack's methods and Socket Mode use the proxy, and a cut connection is reopened", async () => {
    const proxy = await openProxy('slack.invalid', 0);
    const rig = await startSlackRig({
      slack: { shownOrigin: 'http://slack.invalid' },
      deps: { api: 'http://slack.invalid/api/', proxies: through(proxy) },
      isStarted: false,
    });
    open.push(rig.close);
    proxy.routes['slack.invalid:80'] = Number(new URL(rig.slack.api).port);
    rig.service.start();
    await rig.isOpen();
    const message = await rig.post('Approve');
    assert.equal(await rig.slack.press(message, 'Approve', 'U1'), 'acknowledged');
    assert.equal(rig.presses.length, 1);
    const before = rig.slack.sockets.opened();
    proxy.cut();
    await until(() => rig.slack.sockets.opened() > before && rig.slack.sockets.open() > 0, 'a connection');
    await until(() => rig.service.status().state === 'open', 'an open bot');
    assert.equal(await rig.slack.press(message, 'Approve', 'U2'), 'acknowledged');
    assert.deepEqual(proxy.fetched, []);
    assert.ok(proxy.asked.every(({ target }) => target === 'slack.invalid:80'));
    for (const token of [SLACK_APP.botToken, SLACK_APP.appToken])
      assert.ok(!JSON.stringify(proxy.asked).includes(token));
  });

  it('an unanswered Slack tunnel is noticed', async () => {
    const proxy = await openProxy('slack.invalid', 0);
    const rig = await startSlackRig({
      slack: { shownOrigin: 'http://slack.invalid' },
      deps: { api: 'http://slack.invalid/api/', proxies: through(proxy), pace: { pingMs: 100 } },
      isStarted: false,
    });
    open.push(rig.close);
    proxy.routes['slack.invalid:80'] = Number(new URL(rig.slack.api).port);
    rig.service.start();
    await rig.isOpen();
    const before = rig.slack.sockets.opened();
    rig.slack.sockets.freeze();
    await until(() => rig.slack.sockets.opened() > before, 'another connection');
  });
});
