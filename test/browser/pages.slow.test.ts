import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { Browser } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { type Catcher, catcher } from '../engine/notify/rig.ts';
import { LOOKS, openChromium, openPage, setLook, withChromium } from '../support/server/chromium.ts';
import { inspectPage, typeForm } from '../support/server/inspect-page.ts';
import { PASSWORD, startTestServer, type TestServer } from '../support/server/linked-server.ts';
import { type LinkedWorkspace, linkWorkspace } from '../support/server/linked-workspace.ts';
import { startLoginProgram } from '../support/server/login-program.ts';
import { fillLists } from '../support/server/long-lists.ts';
import { until } from '../support/wait.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';

describe('the pages of a linked server in a browser', withChromium, () => {
  let server: TestServer;
  let browser: Browser;
  before(async () => {
    [server, browser] = await Promise.all([startTestServer(), openChromium()]);
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  it('the pages set up the server, log a machine in and out, and look right at every width in both colour schemes', async () => {
    const { page, context, complaints } = await openPage(browser, server.url);
    const open = async (path: string): Promise<void> => {
      await page.goto(`${server.url}${path}`);
    };
    await open('/');
    await inspectPage(page, 'setup');
    await setLook(page, LOOKS[0]!);
    await typeForm(page, { code: 'wrong', name: 'ann', password: PASSWORD, account: 'home' });
    assert.match((await page.getByRole('alert').textContent()) ?? '', /not the setup code/);
    await inspectPage(page, 'setup-refused', { isPictured: false });
    await typeForm(page, {
      code: server.codes.at(-1)!,
      name: 'ann',
      password: PASSWORD,
      account: 'home',
    });
    assert.equal(new URL(page.url()).pathname, '/app');
    await open('/app/machines');
    await inspectPage(page, 'machines-none');

    const home = temporaryFolder('machine-home-');
    const login = startLoginProgram(server.url, { PATH: process.env.PATH, HOME: home, SVC_HOME: home });
    try {
      await setLook(page, LOOKS[0]!);
      await open('/device');
      await inspectPage(page, 'device');
      const code = await login.code;
      await setLook(page, LOOKS[0]!);
      await typeForm(page, { user_code: code.toLowerCase().replace('-', ' ') });
      assert.equal(await page.locator('.code').textContent(), code);
      await inspectPage(page, 'device-answer');
      await setLook(page, LOOKS[0]!);
      await page.getByRole('button', { name: 'Allow' }).click();
      assert.equal(await login.ended, 0);
    } finally {
      login.child.kill();
    }
    assert.equal(statSync(join(home, 'device.token')).mode & 0o777, 0o600);
    assert.match(readFileSync(join(home, 'account.json'), 'utf8'), /"ann"/);

    for (const [path, name] of [
      ['/app', 'waiting-none'],
      ['/app/runs', 'runs-none'],
      ['/app/workspaces', 'workspaces-none'],
      ['/app/machines', 'machines'],
      ['/app/chats', 'chats-none'],
      ['/app/deliveries', 'deliveries-none'],
      ['/app/people', 'people'],
      ['/app/sign-ins', 'sign-ins'],
      ['/app/usage', 'usage-none'],
      ['/app/log', 'log'],
      ['/operator', 'operator'],
      ['/nothing', 'not-found'],
    ] as const) {
      await open(path);
      assert.equal(await page.getByRole('navigation').count(), 1, name);
      await inspectPage(page, name);
    }
    await open('/operator');
    await page.getByRole('link', { name: 'home', exact: true }).click();
    await inspectPage(page, 'operator-account');
    await open('/app/people');
    await page.getByLabel('Name').first().fill('<b>bob</b>');
    await page.getByRole('button', { name: /invite/i }).click();
    assert.match((await page.getByRole('alert').textContent()) ?? '', /name/);
    await inspectPage(page, 'invitation-refused', { isPictured: false });
    await page.getByLabel('Name').first().fill('bob');
    await page.getByRole('button', { name: /invite/i }).click();
    await inspectPage(page, 'invited');
    const invitation = await page.locator('code').first().textContent();
    const guest = await openPage(browser, server.url);
    await guest.page.goto(invitation ?? '');
    await inspectPage(guest.page, 'invitation');
    await typeForm(guest.page, { password: `${PASSWORD} too` });
    assert.equal(new URL(guest.page.url()).pathname, '/app');

    await page.getByRole('button', { name: 'Sign out' }).first().click();
    await inspectPage(page, 'sign-in');
    await open('/app');
    assert.equal(new URL(page.url()).pathname, '/sign-in');
    assert.deepEqual([...complaints, ...guest.complaints], []);
    await Promise.all([context.close(), guest.context.close()]);
  });

  it('the pages accept no form that another site sends from a signed-in browser', async () => {
    const { page, context } = await openPage(browser, server.url);
    await page.goto(`${server.url}/sign-in`);
    await typeForm(page, { name: 'ann', password: PASSWORD });
    assert.equal(new URL(page.url()).pathname, '/app');
    // Another port is the same site but another origin, so the cookie is sent.
    const { createServer } = await import('node:http');
    const elsewhere = createServer((_, answer) => {
      answer.setHeader('content-type', 'text/html');
      answer.end(`<form method="post" action="${server.url}/sign-out"><button>Go on</button></form>`);
    });
    elsewhere.listen(0, '127.0.0.1');
    await once(elsewhere, 'listening');
    try {
      const { port } = elsewhere.address() as { port: number };
      const evil = await context.newPage();
      await evil.goto(`http://127.0.0.1:${port}/`);
      const [answer] = await Promise.all([
        evil.waitForResponse((each) => each.url().endsWith('/sign-out')),
        evil.getByRole('button').click(),
      ]);
      assert.equal(answer.status(), 403);
      await page.goto(`${server.url}/app`);
      assert.equal(new URL(page.url()).pathname, '/app');
    } finally {
      elsewhere.close();
      await context.close();
    }
  });
});

/** Pages that look different from each other; engine/linked-server/lists tests the others as text. */
const LISTS_SEEN = ['/app', '/app/workspaces', '/app/people', '/operator'];

describe('lists of many pages in a browser', withChromium, () => {
  let server: TestServer;
  let browser: Browser;
  before(async () => {
    [server, browser] = await Promise.all([startTestServer(), openChromium()]);
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  it('long lists can be paged with the keyboard alone, and look right in the middle at every width in both colour schemes', async () => {
    const { page, context, complaints } = await openPage(browser, server.url);
    await page.goto(server.url);
    await typeForm(page, { code: server.codes.at(-1)!, name: 'ann', password: PASSWORD, account: 'home' });
    const [home] = await server.parts.people.listAccounts();
    const lists = await fillLists(server, home!.id, 101);
    for (const { path } of lists.filter((each) => LISTS_SEEN.includes(each.path))) {
      await page.goto(`${server.url}${path}`);
      const links = page.getByRole('navigation', { name: 'More of this list' }).getByRole('link');
      assert.equal(await links.count(), 1, path);
      await links.focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(/after=/);
      assert.equal(await links.count(), 2, path);
      await inspectPage(page, `the second page of ${path}`, { isPictured: false });
    }
    assert.deepEqual(complaints, []);
    await context.close();
  });
});

describe('links and buttons in a browser', withChromium, () => {
  it('links and buttons of the page of people are at least 24 pixels high on a phone', async (t) => {
    const [server, browser] = await Promise.all([startTestServer(), openChromium()]);
    t.after(() => Promise.all([browser.close(), server.close()]));
    const { page } = await openPage(browser, server.url);
    await setLook(page, LOOKS[0]!);
    await page.goto(server.url);
    await typeForm(page, { code: server.codes.at(-1)!, name: 'ann', password: PASSWORD, account: 'home' });
    await page.goto(`${server.url}/app/people`);
    const targets = await page.getByRole('link').or(page.getByRole('button')).all();
    assert.ok(targets.length > 10);
    for (const target of targets)
      assert.ok((await target.boundingBox())!.height >= 24, (await target.textContent()) ?? '');
  });
});

describe('the workspaces of a target in a browser', withChromium, () => {
  let server: TestServer;
  let browser: Browser;
  before(async () => {
    [server, browser] = await Promise.all([startTestServer(), openChromium()]);
  });
  after(async () => {
    await browser?.close();
    await server?.close();
  });

  it('workspaces are found and chosen with the keyboard alone, at every width and in both colour schemes', async () => {
    const { page, context, complaints } = await openPage(browser, server.url);
    await page.goto(server.url);
    await typeForm(page, { code: server.codes.at(-1)!, name: 'ann', password: PASSWORD, account: 'home' });
    const [home] = await server.parts.people.listAccounts();
    await server.parts.plans.assign(home!, 'team', 'the test');
    await fillLists(server, home!.id, 101);
    await page.goto(`${server.url}/app/settings/new?kind=webhook`);
    await inspectPage(page, 'target-new among many', { isPictured: false });
    await page.getByRole('radio', { name: 'all of the account' }).focus();
    await page.keyboard.press('ArrowDown');
    assert.ok(await page.getByRole('radio', { name: 'only the chosen ones' }).isChecked());
    await page.getByLabel('Address').fill('https://93.184.215.14/hook');
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('link', { name: 'Choose them' }).click();
    await typeForm(page, { find: 'machine-000' });
    assert.equal(new URL(page.url()).searchParams.get('find'), 'machine-000');
    for (const name of ['machine-0001', 'machine-0004']) {
      await page.getByRole('checkbox', { name }).focus();
      await page.keyboard.press('Space');
    }
    await page.keyboard.press('Enter');
    assert.equal(await page.getByRole('status').textContent(), 'Saved.');
    assert.ok(await page.getByText('Events of 2 workspaces go there.').isVisible());
    assert.equal(await page.getByRole('checkbox', { name: /machine-/, checked: true }).count(), 2);
    await inspectPage(page, 'target-workspaces');
    await page.goto(`${server.url}${new URL(page.url()).pathname}`);
    await page.getByRole('link', { name: 'Next workspaces' }).click();
    await inspectPage(page, 'the second page of the workspaces of a target', { isPictured: false });
    assert.deepEqual(complaints, []);
    await context.close();
  });
});

describe('a decision of a workspace, from a phone', withChromium, () => {
  let linked: LinkedWorkspace;
  let target: Catcher;
  let browser: Browser;
  before(async () => {
    [linked, target, browser] = await Promise.all([
      linkWorkspace({ start: (options) => startTestServer({ ...options, allowTarget: ['127.0.0.1/32'] }) }),
      catcher(),
      openChromium(),
    ]);
  });
  after(async () => {
    await browser?.close();
    await linked?.close();
    await target?.close();
  });

  it('the decision arrives at a catch URL, is read and approved on a page, and its worker runs', async () => {
    const { server, here, setDecide } = linked;
    const { page, context, complaints } = await openPage(browser, server.url);
    const open = async (path: string): Promise<void> => {
      await page.goto(`${server.url}${path}`);
    };
    await setLook(page, LOOKS[0]!);
    await open('/sign-in');
    await typeForm(page, { name: 'ann', password: PASSWORD });
    await server.parts.plans.assign((await server.parts.people.listAccounts())[0]!, 'team', 'the test');
    await open('/app/settings');
    await inspectPage(page, 'settings');
    await setLook(page, LOOKS[0]!);
    await page.getByRole('link', { name: 'Add a hosted webhook' }).click();
    await inspectPage(page, 'target-new');
    await page.getByLabel('Address').fill(target.url);
    await page.getByRole('button', { name: 'Add' }).click();
    await inspectPage(page, 'target');
    const secret = (
      (await page
        .getByText(/^whsec_/)
        .first()
        .textContent()) ?? ''
    ).trim();

    const [home] = await server.parts.people.listAccounts();
    await server.parts.plans.switchAddon(home!, 'n8n', true, 'the test');
    await open('/app/settings');
    await page.getByRole('link', { name: 'Add the catch URL of n8n' }).click();
    await page.getByLabel('Address').fill(target.url);
    await page.getByRole('button', { name: 'Add' }).click();
    await page.getByRole('heading', { name: 'Decide from n8n' }).waitFor();
    await inspectPage(page, 'target-n8n', { isPictured: false });
    await page.getByRole('button', { name: 'New secret' }).click();
    await inspectPage(page, 'target-n8n-overlap', { isPictured: false });
    await page.getByRole('link', { name: 'New secret' }).click();
    await inspectPage(page, 'target-secret');
    await page.getByRole('link', { name: 'Back', exact: true }).click();
    await page.getByRole('button', { name: 'Switch off' }).click();
    await setDecide({ ann: ['page'] });
    const asked = await here.ask('say hello');
    await target.atLeast(1);
    const caught = await until(
      () => target.caught.find(({ json }) => json.event === 'needs_approval'),
      'the event at the catch URL',
    );
    const told = new Webhook(secret).verify(caught.body, caught.headers as Record<string, string>) as {
      decision_id: string;
    };
    assert.equal(told.decision_id, asked.decision_id);
    assert.doesNotMatch(caught.body, /say hello/);
    await linked.waits(told.decision_id);
    await setLook(page, LOOKS[0]!);
    await open('/app');
    await inspectPage(page, 'waiting');
    await setLook(page, LOOKS[0]!);
    await page.locator('a[href*="/decisions/"]').first().click();
    await inspectPage(page, 'decision');
    await setLook(page, LOOKS[0]!);
    await page.getByRole('button', { name: 'Approve' }).click();
    await page.getByText(/s-1 has started/).waitFor();
    await inspectPage(page, 'decision-started');
    await until(() => target.caught.some(({ json }) => json.event === 'sealed'), 'the end');
    await open('/app/runs');
    assert.match((await page.getByRole('row').last().textContent()) ?? '', /s-1.*ready/);
    for (const [path, name] of [
      ['/app/runs', 'runs'],
      ['/app/workspaces', 'workspaces'],
      [`/app/workspaces/${linked.id}`, 'workspace'],
      ['/app/deliveries', 'deliveries'],
    ] as const) {
      await open(path);
      await inspectPage(page, name);
    }
    await open('/app/workspaces');
    await page.getByRole('link', { name: /^Remove/ }).click();
    assert.equal(await page.getByRole('navigation').count(), 1);
    await inspectPage(page, 'workspace-remove');
    await page.getByRole('button', { name: 'Remove' }).click();
    assert.match((await page.getByRole('status').textContent()) ?? '', /was removed/);
    await until(async () => (await here.call('link.status', {})).state === 'revoked', 'the link to be told');
    assert.deepEqual(complaints, []);
    await context.close();
  });
});
