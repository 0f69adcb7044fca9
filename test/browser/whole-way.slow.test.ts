import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { systemClock } from '../../engine/core/base/clock.ts';
import { SLACK_APP, type Slack } from '../../fixtures/slack/slack.ts';
import { startTelegram, type TelegramFixture } from '../../fixtures/telegram/telegram.ts';
import { findMessage, hasButton, startChattySlack } from '../engine/linked-server/chats/slack/linked-rig.ts';
import { type Catcher, catcher } from '../engine/notify/rig.ts';
import { LOOKS, openChromium, openPage, setLook, withChromium } from '../support/server/chromium.ts';
import { typeForm } from '../support/server/inspect-page.ts';
import { PASSWORD } from '../support/server/linked-server.ts';
import { startLoginProgram } from '../support/server/login-program.ts';
import { startServerProgram } from '../support/server/server-program.ts';
import { until } from '../support/wait.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';
import { makeWorkspace } from '../support/workspaces/workspace.ts';
import { openAutomation } from '../support/workspaces/workspace-by-hand.ts';

// All steps of docs/team/server.md with the programs that people have: `svc server serve`, `svc login`, an engine,
// and a phone.

const ANN = { id: 4201, first_name: 'Ann' };
const PHONE = LOOKS[0]!;

/** Ann's actions on her phone. */
function createPhone(page: Page, url: string) {
  const open = async (path: string): Promise<void> => {
    await page.goto(`${url}${path}`);
  };
  const press = (name: string): Promise<void> => page.getByRole('button', { name }).first().click();
  /** Reads a code from the page, sends it to the bot, and answers the page's next question. */
  const sendCode = async (button: string, send: (code: string) => Promise<unknown>, yes: string) => {
    await press(button);
    const shown = (await page.locator('.code').textContent()) ?? '';
    await send(shown);
    await until(async () => {
      await open('/app/chats');
      return page.getByRole('button', { name: yes }).isVisible();
    }, `the question after ${button}`);
    await press(yes);
  };
  /** Only pending decisions are reported: more than five messages within a minute are merged into one. */
  const tellOfWaiting = async (channel: string): Promise<void> => {
    await open('/app/chats');
    await page.getByRole('link', { name: channel }).click();
    for (const event of ['failed', 'sealed']) await page.locator(`input[value="${event}"]`).uncheck();
    await press('Save');
  };
  const awaitBot = (kind: string) =>
    until(async () => {
      await open(`/operator/bots/${kind}`);
      return page.getByText('works', { exact: true }).isVisible();
    }, `the bot of ${kind}`);
  return {
    open,
    press,
    async connectTelegram(telegram: TelegramFixture) {
      await open('/operator/bots/telegram');
      await typeForm(page, { token: telegram.token });
      await awaitBot('telegram');
      await open('/app/chats');
      await sendCode('Connect Telegram', async (code) => telegram.say(ANN, code), 'Yes, connect');
      await press('Send events to my Telegram');
      await tellOfWaiting('Ann');
    },
    async connectSlack(slack: Slack) {
      await open('/operator/bots/slack');
      await typeForm(page, {
        bot_token: SLACK_APP.botToken,
        app_token: SLACK_APP.appToken,
        team_id: SLACK_APP.teamId,
        app_id: SLACK_APP.appId,
      });
      await awaitBot('slack');
      await open('/app/chats');
      await sendCode('Connect Slack', (shown) => slack.say('D1', 'U1', shown), 'Yes, connect');
      await sendCode(
        'Add a Slack channel',
        (shown) => {
          const [, words = ''] = /^@svc (.*)/.exec(shown) ?? [];
          return slack.say('C1', 'U1', words);
        },
        'Yes, send events there',
      );
      await tellOfWaiting('C1');
    },
    /** The secret of a new catch URL of n8n. */
    async addCatchUrl(address: string): Promise<string> {
      await open('/app/settings');
      await page.getByRole('link', { name: 'Add the catch URL of n8n' }).click();
      await page.getByLabel('Address').fill(address);
      await press('Add');
      return (
        (await page
          .getByText(/^whsec_/)
          .first()
          .textContent()) ?? ''
      ).trim();
    },
    async approve(decision: string): Promise<void> {
      const link = page.locator(`a[href$="/${decision}"]`);
      await until(async () => {
        await open('/app');
        return link.isVisible();
      }, `${decision} on the page`);
      await link.click();
      await press('Approve');
      await page.getByText(/s-\d+ has started/).waitFor();
    },
  };
}

/** Waits for a decision's event at the catch URL, and verifies it as the tool there would. */
async function awaitEvent(caught: Catcher, secret: string, event: string, decision: string) {
  const found = await until(
    () => caught.caught.find(({ json }) => json.event === event && json.decision_id === decision),
    `${event} of ${decision} at the catch URL`,
  );
  assert.ok(!found.body.includes('say hello'), 'the body does not contain the prompt');
  return new Webhook(secret).verify(found.body, found.headers as Record<string, string>) as {
    decision_url: string;
  };
}

it(
  'a new server takes one approval each by page, signed request, Telegram and Slack',
  withChromium,
  async (t) => {
    const [telegram, slack, caught, browser, ws] = await Promise.all([
      startTelegram(),
      startChattySlack(),
      catcher(),
      openChromium(),
      makeWorkspace(),
    ]);
    const folder = temporaryFolder('server-');
    const args = ['--allow-target', '127.0.0.1/32', '--telegram-api', telegram.url, '--slack-api', slack.api];
    const server = await startServerProgram(folder, { args });
    const url = `http://127.0.0.1:${server.port}`;
    t.after(async () => {
      await browser.close();
      await ws.close();
      await server.stop();
      for (const each of [telegram, slack, caught]) await each.close();
    });
    const run = async (...words: string[]): Promise<void> => {
      const { code, stderr } = await ws.program(words);
      assert.equal(code, 0, stderr);
    };

    const { page, complaints } = await openPage(browser, url);
    const phone = createPhone(page, url);
    await setLook(page, PHONE);
    await phone.open('/');
    await typeForm(page, { code: server.setupCode ?? '', name: 'ann', password: PASSWORD, account: 'home' });

    const login = startLoginProgram(url, ws.env);
    t.after(() => login.child.kill());
    await phone.open('/device');
    await typeForm(page, { user_code: await login.code });
    await phone.press('Allow');
    assert.equal(await login.ended, 0);

    await run('server', 'account', 'plan', 'home', 'team', '--data', folder);
    await run('server', 'account', 'addon', 'home', 'n8n', 'on', '--data', folder);
    const secret = await phone.addCatchUrl(caught.url);
    await phone.connectTelegram(telegram);
    await phone.connectSlack(slack);
    await run('link');
    await run('config', 'set', 'server.decide', '{ann: [page, telegram, slack], n8n: [automation]}');

    const automation = openAutomation({ url, port: server.port, clock: systemClock }, secret);
    const ways: Readonly<Record<string, (decision: string, decisionUrl: string) => Promise<unknown>>> = {
      'ann@page': phone.approve,
      'n8n@automation': (decision, decisionUrl) =>
        until(async () => {
          const { pathname } = new URL(decisionUrl);
          const { status, json } = await automation.post(`${pathname}/approve`);
          // The event may arrive before the list of pending decisions.
          return status !== 404 && [status, json.state, json.decision_id];
        }, `the answer about ${decision}`),
      'ann@telegram': async (decision) => {
        const message = await until(
          () => telegram.messagesTo(ANN.id).find(({ text }) => text.includes(`${decision} about`)),
          `${decision} in Telegram`,
        );
        telegram.press(ANN, message, 'Approve');
      },
      'ann@slack': async (decision) => {
        const message = await until(() => findMessage(slack, decision), `${decision} in Slack`);
        assert.ok(hasButton(message, 'Approve'));
        await slack.press(message, 'Approve', 'U1');
      },
    };
    for (const [actor, approve] of Object.entries(ways)) {
      const { status, body } = await ws.post('say hello');
      assert.equal(status, 201);
      const { decision_url } = await awaitEvent(caught, secret, 'needs_approval', body.decision_id);
      await approve(body.decision_id, decision_url);
      await awaitEvent(caught, secret, 'sealed', body.decision_id);
      const { decision } = (await ws.svc(['decision', 'show', body.decision_id, '--json'])).json<{
        decision: { state: string; decided_by: string };
      }>();
      assert.deepEqual([decision.state, decision.decided_by], ['approved', actor]);
    }
    const seen = JSON.stringify([telegram.messagesTo(ANN.id), slack.inChannel('C1'), await page.content()]);
    assert.ok(!seen.includes('say hello'), 'the body does not contain the prompt');
    assert.deepEqual(complaints, []);
  },
);
