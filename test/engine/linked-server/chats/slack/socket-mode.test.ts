import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { SLACK_APP, showText } from '../../../../../fixtures/slack/slack.ts';
import { until } from '../../../../support/wait.ts';
import { type SlackRig, startSlackRig } from './rig.ts';

let rig: SlackRig;
afterEach(() => rig.close());

const heardPresses = (): string[] => rig.presses.map(({ ticket }) => ticket);
const event = (more: object, event: object) => ({
  type: 'event_callback',
  team_id: SLACK_APP.teamId,
  api_app_id: SLACK_APP.appId,
  event_id: 'Ev-own',
  event: {
    type: 'message',
    channel: 'D1',
    channel_type: 'im',
    user: 'U1',
    ts: '1.000001',
    text: 'x',
    ...event,
  },
  ...more,
});

describe('Socket Mode', () => {
  it('Socket Mode reports who pressed what and where, acknowledges, and answers that person alone', async () => {
    rig = await startSlackRig();
    assert.equal(rig.service.status().botName, `@${SLACK_APP.botName}`);
    const posted = await rig.post('Approve', 'Deny');
    assert.equal(await rig.slack.press(posted, 'Deny', 'U1'), 'acknowledged');
    assert.deepEqual(rig.presses, [
      {
        user: { id: 'U1', name: 'ann' },
        place: { channel: 'C1', channelName: 'approvals', isPrivate: false },
        messageId: posted.ts,
        ticket: 'ticket-Deny',
      },
    ]);
    await until(() => rig.slack.privateTo('U1').includes('pressed ticket-Deny'), 'the answer');
    assert.deepEqual(rig.slack.privateTo('U2'), []);
    assert.equal(rig.slack.inChannel('C1').length, 1);
  });

  it('Socket Mode reports words to the bot, without its name, a slash and the markup of Slack', async () => {
    rig = await startSlackRig();
    await rig.slack.say('D1', 'U1', '/connect BCDF-GHJK');
    await rig.slack.say('C1', 'U2', ' mute 2h <b> & more');
    const link = event({}, { text: 'see <https://a.example|a.example> and <@U9|bob> &amp;lt;' });
    await rig.slack.deliver('events_api', link);
    assert.deepEqual(
      rig.words.map(({ user, place, text }) => [user.name, place.channel, place.isPrivate, text]),
      [
        ['Ann', 'D1', true, 'connect BCDF-GHJK'],
        ['u2', 'C1', false, 'mute 2h <b> & more'],
        ['Ann', 'D1', true, 'see a.example and bob &lt;'],
      ],
    );
    await until(() => rig.slack.inChannel('D1').length === 2, 'answers in the direct message');
    await until(() => rig.slack.privateTo('U2').length === 1, 'an answer in the channel for one person');
    assert.equal(rig.slack.inChannel('C1').length, 0);
  });

  it("an answer escapes other people's text as messages do", async () => {
    rig = await startSlackRig();
    const hostile =
      '<!channel> <@U2> <https://thief.example|Approve> *b* @here \u202eevil https://thief.example';
    rig.handlers.onWords = async () => `d-1: ${hostile}\nd-2`;
    rig.handlers.onPress = async () => hostile;
    await rig.slack.press(await rig.post('Approve'), 'Approve', 'U1');
    await rig.slack.say('D1', 'U1', 'waiting');
    await rig.slack.say('C1', 'U2', 'waiting');
    const answers = await until(() => {
      const found = rig.slack.messages.filter(({ text }) => text.includes('thief'));
      return found.length === 3 ? found : null;
    }, 'three answers');
    for (const { text, blocks, markup, unfurls } of answers) {
      assert.deepEqual(
        blocks.map((block) => [block.text?.type, block.text?.emoji]),
        [['plain_text', false]],
      );
      assert.doesNotMatch(`${text} ${String(blocks[0]?.text?.text)}`, /\u202e/);
      assert.doesNotMatch(text, /[<>]/);
      assert.deepEqual([markup, unfurls], [[], false]);
    }
    assert.match(showText(answers.at(-1)!), /^d-1: <!channel> <@U2>.*\nd-2$/);
  });

  it('people are named by their ids when the bot may not read their names', async () => {
    rig = await startSlackRig({ slack: { scopes: ['chat:write', 'im:history'] } });
    assert.equal(await rig.slack.say('D1', 'U1', 'help'), 'acknowledged');
    assert.deepEqual(rig.words[0]?.user, { id: 'U1', name: 'U1' });
  });

  it("events other than a person's words to the bot are acknowledged and ignored", async () => {
    rig = await startSlackRig();
    const posted = await rig.service.send('C1', {
      lines: [[{ text: 'x', isOutside: false }]],
      buttons: [{ label: 'Open', url: 'https://svc.example.org/' }],
    });
    const [message] = rig.slack.messages;
    assert.equal(message?.ts, posted);
    assert.equal(await rig.slack.press(message!, 'Open', 'U1'), 'acknowledged');
    const others = [
      event({}, { bot_id: 'B1' }),
      event({}, { subtype: 'message_changed' }),
      event({}, { user: SLACK_APP.botUserId }),
      event({}, { channel: 'C1', channel_type: 'channel' }),
      event({}, { type: 'reaction_added' }),
      event({}, { user: undefined }),
      { type: 'app_rate_limited', team_id: SLACK_APP.teamId, api_app_id: SLACK_APP.appId },
      { type: 'view_submission', team_id: SLACK_APP.teamId, api_app_id: SLACK_APP.appId },
    ];
    for (const payload of others)
      assert.equal(await rig.slack.deliver('events_api', payload), 'acknowledged', JSON.stringify(payload));
    assert.deepEqual([rig.presses, rig.words], [[], []]);
  });

  it('events of another app, another workspace or malformed ones do nothing', async () => {
    rig = await startSlackRig();
    const posted = await rig.post('Approve');
    const [button] = posted.blocks.at(-1)!.elements!;
    const press = {
      type: 'block_actions',
      team: { id: SLACK_APP.teamId },
      api_app_id: SLACK_APP.appId,
      user: { id: 'U1' },
      container: { channel_id: 'C1', message_ts: posted.ts },
      actions: [{ ...button, action_ts: '1.1' }],
    };
    const foreign: object[] = [
      { ...press, team: { id: 'T0OTHER' } },
      { ...press, team: null },
      { ...press, api_app_id: 'A0OTHER' },
      { ...press, user: { id: '<@U1>' } },
      { ...press, actions: [] },
      { ...press, container: {} },
      event({ team_id: 'T0OTHER' }, {}),
      event({ api_app_id: 'A0OTHER' }, {}),
      {},
      [],
    ];
    for (const payload of foreign)
      assert.equal(await rig.slack.deliver('interactive', payload), 'acknowledged', JSON.stringify(payload));
    assert.deepEqual([rig.presses, rig.words], [[], []]);
    await rig.slack.deliver('interactive', press);
    assert.equal(rig.presses.length, 1);
  });

  it('each press is reported once, however often Slack sends it, and two presses are two', async () => {
    rig = await startSlackRig();
    const posted = await rig.post('Approve');
    const twice = event({}, { ts: '5.000001' });
    await Promise.all([
      rig.slack.deliver('events_api', twice),
      rig.slack.deliver('events_api', { ...twice, event_id: 'Ev-retry' }),
      rig.slack.press(posted, 'Approve', 'U1'),
      rig.slack.press(posted, 'Approve', 'U1'),
    ]);
    assert.equal(rig.words.length, 1);
    assert.equal(rig.presses.length, 2);
  });

  it('an event that could not be recorded is not acknowledged, and is processed when it is repeated', async () => {
    rig = await startSlackRig({ slack: { acknowledgeMs: 300 } });
    let failures = 0;
    const { onWords } = rig.handlers;
    rig.handlers.onWords = async (words) => {
      if (failures++ === 0) throw new Error('the database is busy');
      return onWords(words);
    };
    assert.equal(await rig.slack.say('D1', 'U1', 'help'), 'acknowledged');
    assert.equal(rig.words.length, 1);
    assert.equal(failures, 2);
    rig.handlers.onPress = async () => {
      throw new Error('the database is busy');
    };
    assert.equal(await rig.slack.press(await rig.post('Approve'), 'Approve', 'U1'), 'failed');
  });

  it('slow work is acknowledged in time, and answered when it is done', async () => {
    rig = await startSlackRig({ deps: { pace: { acknowledgeMs: 20 } } });
    const { promise, resolve } = Promise.withResolvers<string>();
    rig.handlers.onPress = () => promise;
    assert.equal(await rig.slack.press(await rig.post('Approve'), 'Approve', 'U1'), 'acknowledged');
    assert.deepEqual(rig.slack.privateTo('U1'), []);
    resolve('started s-9');
    await until(() => rig.slack.privateTo('U1').includes('started s-9'), 'the answer');
    assert.equal(new Set(rig.slack.sockets.acknowledged).size, rig.slack.sockets.acknowledged.length);
  });

  for (const reason of ['warning', 'refresh_requested'] as const)
    it(`no event is missed while a connection is renewed after ${reason}`, async () => {
      rig = await startSlackRig();
      const posted = await rig.post('Approve');
      const { sockets } = rig.slack;
      const delivered = new Set<string>();
      let count = 0;
      const pressUntil = async (condition: () => boolean): Promise<void> => {
        while (!condition()) {
          delivered.add(await rig.slack.press(posted, 'Approve', 'U1'));
          count += 1;
        }
      };
      sockets.disconnect(reason, 300);
      await pressUntil(() => sockets.opened() === 2 && sockets.open() === 2);
      await pressUntil(() => sockets.open() === 1);
      await rig.slack.press(posted, 'Approve', 'U1');
      assert.deepEqual([...delivered], ['acknowledged']);
      assert.equal(rig.presses.length, count + 1);
      assert.equal(rig.service.status().state, 'open');
    });

  it('the bot reconnects when the connection breaks off or Slack is silent', async () => {
    rig = await startSlackRig({ deps: { pace: { pingMs: 200 } } });
    const posted = await rig.post('Approve');
    for (const fault of ['cut', 'freeze'] as const) {
      const before = rig.slack.sockets.opened();
      rig.slack.sockets[fault]();
      await until(() => rig.slack.sockets.opened() > before, `a new connection after ${fault}`);
      await rig.isOpen();
      assert.equal(await rig.slack.press(posted, 'Approve', 'U1'), 'acknowledged');
    }
    assert.equal(heardPresses().length, 2);
  });

  it('the bot keeps trying while Slack does not answer, does not greet or refuses', async () => {
    rig = await startSlackRig({ isStarted: false, deps: { pace: { helloMs: 100 } } });
    rig.slack.failNext('auth.test', 'reset_before', { status: 503 }, { status: 429, retryAfterSec: 1 });
    rig.slack.failNext('apps.connections.open', { error: 'internal_error' }, 'html', {
      error: 'invalid_auth',
    });
    rig.slack.sockets.setGreeting(false);
    rig.service.start();
    const wasSaid = (problem: string): boolean => rig.log.some((line) => line.includes(problem));
    await until(() => wasSaid('Slack did not greet'), 'no greeting');
    assert.ok(wasSaid('Slack rejects the token'));
    rig.slack.sockets.setGreeting(true);
    await rig.isOpen();
    assert.equal(rig.service.status().problem, null);
  });

  it('the bot pauses between connections that Slack renews immediately, and keeps at most two next to a new one', async () => {
    rig = await startSlackRig({
      deps: { pace: { steadyMs: 1000, firstMs: 20, longestMs: 40, shortestMs: 20 } },
    });
    rig.slack.sockets.setRestless(true);
    rig.slack.sockets.cut();
    let most = 0;
    await until(() => {
      most = Math.max(most, rig.slack.sockets.open());
      return rig.slack.sockets.opened() > 8;
    }, 'a storm');
    assert.ok(most <= 3, `${most} connections at once`);
    rig.slack.sockets.setRestless(false);
    rig.slack.sockets.disconnect('refresh_requested');
    await until(() => rig.slack.sockets.open() === 1, 'one connection that stays');
    assert.equal(await rig.slack.press(await rig.post('Approve'), 'Approve', 'U1'), 'acknowledged');
  });

  it('the bot reports that Socket Mode is switched off, and continues when it is on again', async () => {
    rig = await startSlackRig();
    rig.slack.isSocketMode = false;
    rig.slack.sockets.disconnect('link_disabled');
    await until(() => rig.service.status().state === 'failing', 'the failure');
    await until(() => /switched off/.test(rig.service.status().problem ?? ''), 'what it is called');
    rig.slack.isSocketMode = true;
    await rig.isOpen();
  });

  it('the bot reports that the app has too many connections', async () => {
    const others: WebSocket[] = [];
    rig = await startSlackRig({ isStarted: false });
    for (let count = 0; count < 10; count += 1) others.push(new WebSocket(rig.slack.makeSocketUrl()));
    await until(() => rig.slack.sockets.open() === 10, 'ten connections');
    rig.service.start();
    await until(() => /as many connections/.test(rig.service.status().problem ?? ''), 'the problem');
    for (const other of others) other.close();
    await rig.isOpen();
  });

  it('the bot accepts only tokens of its app and workspace', async () => {
    rig = await startSlackRig({ isStarted: false, settings: { appId: 'A0OTHER' } });
    rig.service.start();
    await until(() => /a different Slack app/.test(rig.service.status().problem ?? ''), 'the problem');
    await rig.close();
    rig = await startSlackRig({ isStarted: false, settings: { teamId: 'T0OTHER' } });
    rig.service.start();
    await until(() => /a different Slack workspace/.test(rig.service.status().problem ?? ''), 'the problem');
    assert.equal(rig.slack.sockets.opened(), 0);
    await rig.close();
    rig = await startSlackRig({ settings: { teamId: null, appId: null } });
    assert.equal(await rig.slack.press(await rig.post('Approve'), 'Approve', 'U1'), 'acknowledged');
  });

  it('the bot notices that the token was revoked, and that it is valid again', async () => {
    rig = await startSlackRig();
    rig.slack.isBotTokenRevoked = true;
    await assert.rejects(rig.post(), { problem: 'refused', message: 'the token was revoked' });
    // Known before the message fails because of it.
    assert.equal(rig.service.status().problem, 'the token was revoked');
    rig.slack.isBotTokenRevoked = false;
    await rig.isOpen();
    rig.slack.failNext('chat.postMessage', { error: 'msg_too_long' }, { error: 'missing_scope' });
    await assert.rejects(rig.post(), { problem: 'refused' });
    assert.equal(rig.service.status().state, 'open');
    await assert.rejects(rig.post(), { problem: 'refused' });
    assert.match(rig.service.status().problem ?? '', /lacks a scope/);
    await rig.post();
    assert.equal(rig.service.status().state, 'open');
  });

  it('the bot records and acknowledges received events before it closes, and accepts no more', async () => {
    rig = await startSlackRig();
    const posted = await rig.post('Approve');
    const { promise, resolve } = Promise.withResolvers<string>();
    let isAsked = false;
    rig.handlers.onPress = (press) => {
      isAsked = true;
      rig.presses.push(press);
      return promise;
    };
    const pressing = rig.slack.press(posted, 'Approve', 'U1');
    await until(() => isAsked, 'the press');
    const closing = rig.service.close();
    resolve('done');
    assert.equal(await pressing, 'acknowledged');
    await closing;
    assert.equal(rig.service.status().state, 'closed');
    await until(() => rig.slack.sockets.open() === 0, 'no connection');
    assert.equal(await rig.slack.press(posted, 'Approve', 'U1'), 'failed');
    await rig.restart();
    assert.equal(await rig.slack.press(posted, 'Approve', 'U1'), 'acknowledged');
    assert.equal(rig.presses.length, 2);
  });

  it('the bot logs no token and no address of a connection', async () => {
    rig = await startSlackRig();
    rig.slack.failNext('apps.connections.open', 'html', { error: 'invalid_auth' });
    rig.slack.sockets.cut();
    await until(() => rig.log.join('').includes('"state":"failing"'), 'a failure');
    await rig.isOpen();
    assert.doesNotMatch(rig.log.join(''), /xoxb|xapp|ticket|0123456789abcdef/);
  });
});
