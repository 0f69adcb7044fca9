import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Browser, Page } from 'playwright-core';
import { TELEMETRY_SCHEMA } from '../../engine/core/link-protocol/telemetry-day.ts';
import { SLACK_APP, type Slack } from '../../fixtures/slack/slack.ts';
import { startTelegram, type TelegramFixture } from '../../fixtures/telegram/telegram.ts';
import { connectSlack, startChattySlack } from '../engine/linked-server/chats/slack/linked-rig.ts';
import { LOOKS, openChromium, openPage, setLook, withChromium } from '../support/server/chromium.ts';
import { inspectPage, typeForm } from '../support/server/inspect-page.ts';
import {
  type Browser as Caller,
  logMachineIn,
  openBrowser,
  PASSWORD,
  setUpServer,
  startTestServer,
  type TestServer,
} from '../support/server/linked-server.ts';
import { until } from '../support/wait.ts';

const ANN = { id: 4201, first_name: 'Ann', username: 'ann_t' };
const DAY_MS = 24 * 3600_000;

/** A workspace that has reported some of the last 30 days. */
async function tellDays(server: TestServer, ann: Caller): Promise<void> {
  const caller = openBrowser(server);
  const protocol = { 'svc-protocol': '1' };
  const linked = await caller.postJson(
    '/v1/workspaces',
    { key: 'workspace-1', name: 'web-shop', version: '1.2.3' },
    { ...protocol, authorization: `Bearer ${await logMachineIn(server, ann)}` },
  );
  const { token } = JSON.parse(linked.text) as { token: string };
  for (const back of [0, 1, 2, 5, 6, 7, 8, 12, 13, 20, 27]) {
    const day = new Date(server.clock.now() - back * DAY_MS).toISOString().slice(0, 10);
    const sealed = 3 + ((back * 7) % 11);
    const answer = await fetch(`${server.url}/v1/usage/${day}`, {
      method: 'PUT',
      headers: { ...protocol, authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        schema: TELEMETRY_SCHEMA,
        day,
        version: '1.2.3',
        node: 24,
        platform: 'linux',
        architecture: 'x64',
        tasks: { cli: sealed, tool: 2 },
        decisions: { approved: sealed, denied: back % 2 },
        runs: { claude: { sealed, exit_code: back % 3 } },
        durations: { under_1_min: sealed },
        tokens: { account: 41_000 * sealed, paid: 900 },
      }),
    });
    assert.equal(answer.status, 200, await answer.text());
  }
}

describe('the pages for chats and usage', withChromium, () => {
  let server: TestServer;
  let telegram: TelegramFixture;
  let slack: Slack;
  let ann: Caller;
  let browser: Browser;
  before(async () => {
    [telegram, slack, browser] = await Promise.all([startTelegram(), startChattySlack(), openChromium()]);
    server = await startTestServer({ telegramApi: telegram.url, slackApi: slack.api });
    ann = await setUpServer(server);
    const { plans, people } = server.parts;
    await plans.assign((await people.listAccounts())[0]!, 'team', 'the test');
  });
  after(async () => {
    await browser?.close();
    await server?.close();
    await telegram?.close();
    await slack?.close();
  });

  /** Ann's browser, and a function that opens a page in it. */
  async function openAsAnn(): Promise<{
    page: Page;
    complaints: string[];
    open(path: string): Promise<void>;
    close(): Promise<void>;
  }> {
    const { page, context, complaints } = await openPage(browser, server.url);
    const open = async (path: string): Promise<void> => {
      await page.goto(`${server.url}${path}`);
      await setLook(page, LOOKS[0]!);
    };
    await open('/sign-in');
    await typeForm(page, { name: 'ann', password: PASSWORD });
    return { page, complaints, open, close: () => context.close() };
  }

  it('the pages set up a bot, connect a person and a channel, and look right at every width in both colour schemes', async () => {
    const { page, complaints, open, close } = await openAsAnn();
    const press = (name: string) => page.getByRole('button', { name }).click();
    for (const kind of ['telegram', 'slack']) {
      await open(`/operator/bots/${kind}`);
      await inspectPage(page, `bot-${kind}-none`, { isPictured: false });
    }
    await open('/operator/bots/telegram');
    await typeForm(page, { token: telegram.token });
    await page.getByText('Saved. The bot starts now.').waitFor();
    await until(async () => {
      await open('/operator/bots/telegram');
      return page.getByText('works', { exact: true }).isVisible();
    }, 'the bot to work');
    await inspectPage(page, 'bot-telegram');
    await page.getByRole('link', { name: 'Remove the bot' }).click();
    await inspectPage(page, 'bot-remove');

    await open('/app/chats');
    await inspectPage(page, 'chats-unconnected');
    await setLook(page, LOOKS[0]!);
    await press('Connect Telegram');
    const code = (await page.locator('.code').textContent()) ?? '';
    assert.match(code, /^\/start [A-Z]{4}-[A-Z]{4}$/);
    await inspectPage(page, 'chats-code');
    telegram.say(ANN, code);
    await until(() => telegram.messagesTo(ANN.id).length > 0, 'the answer of the bot');
    await open('/app/chats');
    await inspectPage(page, 'chats-claim');
    await setLook(page, LOOKS[0]!);
    await press('Yes, connect');
    await page.getByText('Ann (@ann_t), id 4201').waitFor();
    await connectSlack(ann, slack);
    await open('/app/chats');
    await press('Send events to my Telegram');
    await page.getByText('Events now go there.').waitFor();
    await inspectPage(page, 'chats');
    await page.getByRole('link', { name: 'C1' }).click();
    await inspectPage(page, 'chat-channel');
    await page.getByRole('link', { name: /^Remove/ }).click();
    await inspectPage(page, 'chat-channel-remove');
    await open('/operator/bots/slack');
    await inspectPage(page, 'bot-slack');
    const text = await page.content();
    for (const secret of [telegram.token, SLACK_APP.botToken, SLACK_APP.appToken])
      assert.ok(!text.includes(secret), 'secrets are not shown again');
    assert.deepEqual(complaints, []);
    await close();
  });

  it('the pages show the reported days of workspaces to their account and to the operator', async () => {
    const { page, complaints, open, close } = await openAsAnn();
    await tellDays(server, ann);
    await open('/app/usage');
    assert.equal(await page.getByRole('img', { name: /^Runs by the day/ }).count(), 1);
    assert.equal(await page.locator('tbody tr').count(), 11);
    await inspectPage(page, 'usage');
    await page.getByRole('link', { name: 'Delete these figures' }).click();
    await inspectPage(page, 'usage-delete');
    await open('/operator');
    await inspectPage(page, 'operator-busy');
    assert.deepEqual(complaints, []);
    await close();
  });
});
