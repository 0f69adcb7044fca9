import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { afterEach, describe, it } from 'node:test';
import { type AdminVerb, askRunningServer } from '../../../../engine/linked-server/index.ts';
import { startTelegram, type TelegramFixture } from '../../../../fixtures/telegram/telegram.ts';
import {
  openBrowser,
  setUpServer,
  startTestServer,
  type TestServer,
} from '../../../support/server/linked-server.ts';
import { listPageFaults } from '../../../support/server/page-faults.ts';
import { until } from '../../../support/wait.ts';
import { runHere } from '../../../support/workspaces/command-line.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { ANN } from './rig.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close();
});
async function openBoth(
  options: Parameters<typeof startTestServer>[0] = {},
): Promise<{ server: TestServer; telegram: TelegramFixture }> {
  const telegram = await startTelegram();
  open.push(telegram);
  const server = await startTestServer({ telegramApi: telegram.url, ...options });
  open.push(server);
  return { server, telegram };
}

describe('the bots of a server', () => {
  it('a bot is set up by a command that reads the token from a pipe, even when no server runs', async () => {
    const { server, telegram } = await openBoth();
    const run = (args: string[], input = '') =>
      runHere(['server', 'chat', ...args, '--data', server.folder], {
        cwd: server.folder,
        env: { HOME: temporaryFolder(), PATH: process.env.PATH },
        input,
      });
    const wrong = await run(['telegram'], 'not-a-token\n');
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /the token of a Telegram bot looks like/);
    assert.ok(!wrong.stderr.includes('not-a-token'), 'the typed token is not repeated');
    assert.match(
      (await run(['telegram', '--webhook'], `${telegram.token}\n`)).stderr,
      /only sends updates to an https address/,
    );
    const done = await run(['telegram'], `${telegram.token}\n`);
    assert.equal(done.code, 0, done.stderr);
    const list = async () => (await askRunningServer(server.folder, 'chat.list' as AdminVerb, {}))?.result;
    await until(async () => JSON.stringify(await list()).includes('@svc_test_bot'), 'the name of the bot');
    assert.match((await run(['list'])).stdout, /telegram\s+@svc_test_bot\s+open/);
    const slack = await run(['slack'], 'xoxb-1234567890\n\n\nT0123\n\n');
    assert.match(slack.stderr, /Socket Mode/);
    await server.close();
    assert.match((await run(['list'])).stdout, /telegram\s+closed/);
    assert.equal((await run(['remove', 'telegram'])).code, 0);
    assert.equal((await run(['remove', 'telegram'])).code, 4);
    assert.ok(!server.log.join('').includes(telegram.token));
  });

  it("a bot's messages are withdrawn, even when no server runs", async () => {
    const { server, telegram } = await openBoth({ publicUrl: 'https://svc.example' });
    const countCalls = (method: string) => telegram.calls.filter((call) => call.method === method).length;
    await server.parts.chats.start();
    await server.parts.chats.bots.set('telegram', { token: telegram.token, webhook: true }, 'ann');
    await until(() => countCalls('setWebhook') === 1, 'the webhook');
    const { settings } = await server.parts.db
      .selectFrom('bots')
      .select('settings')
      .executeTakeFirstOrThrow();
    assert.ok(!settings.includes(new URL(telegram.url).host), 'the address is encrypted too');
    await server.close();
    const removed = await runHere(['server', 'chat', 'remove', 'telegram', '--data', server.folder], {
      cwd: server.folder,
      env: { HOME: temporaryFolder(), PATH: process.env.PATH },
      input: '',
    });
    assert.equal(removed.code, 0, removed.stderr);
    assert.doesNotMatch(removed.stdout, /may still send/);
    assert.equal(countCalls('deleteWebhook'), 1);
  });

  it('a bot runs once, even one that is set up while the others start', async () => {
    const { server, telegram } = await openBoth();
    const countCalls = (method: string) => telegram.calls.filter((call) => call.method === method).length;
    await server.parts.chats.bots.set('telegram', { token: telegram.token }, 'ann');
    await server.parts.chats.start();
    await until(() => countCalls('getUpdates') > 0, 'the bot to ask for updates');
    await server.close();
    assert.equal(countCalls('getMe'), 1);
  });

  it('a bot is shown to the operator with its problems, and never with its token', async () => {
    const { server, telegram } = await openBoth();
    const ann = await setUpServer(server);
    const other = `987654:${'C'.repeat(35)}`;
    assert.equal((await ann.post('/operator/bots/telegram', { token: other })).status, 303);
    const page = await until(async () => {
      const read = await ann.get('/operator/bots/telegram');
      return read.text.includes('fails: Telegram rejects the token of the bot') ? read : null;
    }, 'the problem');
    assert.deepEqual(await listPageFaults(page.text), []);
    assert.ok(!page.text.includes(other));
    const refused = await ann.post('/operator/bots/telegram', { token: 'CANARY' });
    assert.equal(refused.status, 422);
    assert.ok(!refused.text.includes('CANARY'));
    await ann.post('/operator/bots/telegram', { token: telegram.token });
    await until(async () => (await ann.get('/operator')).text.includes('works'), 'the bot to work');
    assert.equal((await openBrowser(server).get('/operator/bots/telegram')).status, 303);
    await ann.post('/operator/bots/telegram/remove');
    assert.match((await ann.get('/operator')).text, /not set up/);
    assert.equal((await ann.post('/operator/bots/telegram/remove')).status, 404);
    assert.equal((await ann.get('/operator/bots/pigeon')).status, 404);
  });

  it('a bot listens at a secret path, which is in no log', async () => {
    const { server, telegram } = await openBoth({ publicUrl: 'https://svc.example' });
    const ann = await setUpServer(server);
    await ann.post('/operator/bots/telegram', { token: telegram.token, webhook: 'on' });
    const { url, secret } = await until(() => telegram.webhook, 'the webhook');
    const { pathname } = new URL(url);
    telegram.say(ANN, 'so that the chat is there');
    const text = 'waiting';
    const message = {
      message_id: 1,
      date: 0,
      chat: { id: ANN.id, type: 'private' },
      from: { is_bot: false, ...ANN },
      text,
    };
    const header = 'x-telegram-bot-api-secret-token';
    const post = (path: string, headers: Record<string, string>) =>
      openBrowser(server).postJson(path, { update_id: 7, message }, headers);
    assert.equal((await post(pathname, {})).status, 401);
    assert.equal((await post(`${pathname}x`, { [header]: secret! })).status, 404);
    assert.equal((await post('/chats/slack/events', {})).status, 404);
    assert.equal((await post('/chats/pigeon/events', {})).status, 404);
    const large = await openBrowser(server).postJson(pathname, { text: 'x'.repeat(1_100_000) });
    assert.equal(large.status, 413);
    assert.equal((await post(pathname, { [header]: secret!, origin: 'https://evil.example' })).status, 200);
    assert.match(telegram.messagesTo(ANN.id)[0]!.text, /You are not connected/);
    assert.ok(!server.log.join('').includes(pathname.split('/').at(-1)!));
  });

  it('a removed bot leaves no webhook behind, even where Telegram cannot be reached', async () => {
    const { server, telegram } = await openBoth({ publicUrl: 'https://svc.example' });
    const ann = await setUpServer(server);
    const setUp = async (token: string) => {
      await ann.post('/operator/bots/telegram', { token, webhook: 'on' });
      return until(() => telegram.webhook, 'the webhook');
    };
    await setUp(telegram.token);
    assert.equal((await ann.post('/operator/bots/telegram/remove')).location, '/operator');
    assert.equal(telegram.webhook, null);

    await setUp(telegram.token);
    telegram.fail('deleteWebhook', { code: 502, description: 'Bad Gateway' });
    const page = await ann.post('/operator/bots/telegram/remove');
    assert.equal(page.status, 200);
    assert.match(page.text, /The bot was removed\. Telegram may still send updates .*\(HTTP 502\)\./);
    assert.deepEqual(await listPageFaults(page.text), []);
    assert.match((await ann.get('/operator')).text, /not set up/);

    // Telegram treats it as a separate bot, so the former bot's webhook is removed too.
    await setUp(telegram.token);
    await ann.post('/operator/bots/telegram', { token: `987654:${'C'.repeat(35)}` });
    assert.equal(telegram.webhook, null);
  });

  it("the server loads the bots' code when there is a bot", () => {
    const script = `
      const { readServerSettings, startServer } = await import('./dist/engine/linked-server/index.js');
      const log = { info() {}, warn() {}, error() {} };
      const settings = readServerSettings({ addr: '127.0.0.1:0', allowRemote: false, trustProxy: [], allowTarget: [] });
      const server = await startServer({ folder: process.argv[1], env: {}, log }, settings);
      const { Session } = await import('node:inspector');
      const session = new Session();
      session.connect();
      const urls = [];
      session.on('Debugger.scriptParsed', ({ params }) => urls.push(params.url));
      session.post('Debugger.enable');
      process.stdout.write(JSON.stringify(urls.filter((url) => /grammy|server\\/chats\\/(?:bots|telegram|slack)/.test(url))));
      await server.close();
    `;
    const text = execFileSync(
      process.execPath,
      ['--input-type=module', '-e', script, temporaryFolder('server-')],
      { cwd: new URL('../../../../..', import.meta.url), encoding: 'utf8' },
    );
    const loaded = (JSON.parse(text) as string[]).map((url) => url.replace(/^.*\//, ''));
    assert.deepEqual(loaded, ['bots.js']);
  });
});
