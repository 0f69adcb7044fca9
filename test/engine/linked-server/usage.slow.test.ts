import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, it } from 'node:test';
import {
  KEPT_TELEMETRY_DAYS,
  TELEMETRY_SCHEMA,
  type TelemetryDay,
} from '../../../engine/core/link-protocol/telemetry-day.ts';
import { askRunningServer, importServer } from '../../../engine/linked-server/index.ts';
import {
  type Browser,
  logMachineIn,
  onBothDatabases,
  openBrowser,
  PASSWORD,
  setUpServer,
  signIn,
  startTestServer,
  type TestServer,
} from '../../support/server/linked-server.ts';
import { listPageFaults } from '../../support/server/page-faults.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const DAY_MS = 24 * 3600_000;

const servers: TestServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
async function open(start: typeof startTestServer): Promise<{ server: TestServer; ann: Browser }> {
  const server = await start();
  servers.push(server);
  return { server, ann: await setUpServer(server) };
}

const dayBefore = (server: TestServer, days: number): string =>
  new Date(server.clock.now() - days * DAY_MS).toISOString().slice(0, 10);

const usageOf = (day: string, more: Partial<TelemetryDay> = {}): TelemetryDay => ({
  schema: TELEMETRY_SCHEMA,
  day,
  version: '1.2.3',
  node: 24,
  platform: 'linux',
  architecture: 'x64',
  tasks: { cli: 3 },
  decisions: { approved: 2, denied: 1 },
  runs: { claude: { sealed: 2, exit_code: 1 }, other: { sealed: 1 } },
  durations: { under_1_min: 4 },
  tokens: { account: 1234, paid: 56 },
  ...more,
});

/** A workspace that is linked as svc does it, and calls with its token. */
async function linkCaller(server: TestServer, browser: Browser, key = 'workspace-1') {
  const machine = await logMachineIn(server, browser);
  const ask = (token: string, method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        'svc-protocol': '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const linked = await ask(machine, 'POST', '/v1/workspaces', { key, name: key, version: '1.2.3' });
  const { token } = (await linked.json()) as { token: string };
  return {
    put: (body: unknown, day = (body as TelemetryDay).day) => ask(token, 'PUT', `/v1/usage/${day}`, body),
    remove: () => ask(token, 'DELETE', '/v1/usage'),
  };
}

const countRows = async ({ parts }: TestServer): Promise<number> =>
  (await parts.db.selectFrom('usage_days').selectAll().execute()).length;

/** A signed-in person of another account. */
async function addStranger(server: TestServer, operator: Browser): Promise<Browser> {
  const made = await operator.post('/operator/accounts', { account: 'office', name: 'zoe' });
  const place = /\/invitation\/[\w-]+/.exec(made.text)?.[0] ?? '';
  await openBrowser(server).post(place, { password: PASSWORD, username: 'zoe' });
  return signIn(server, 'zoe');
}

onBothDatabases((start, makeDatabase) => {
  it("a workspace's day is kept once, and replaces the earlier version", async () => {
    const { server, ann } = await open(start);
    const caller = await linkCaller(server, ann);
    const day = dayBefore(server, 1);
    assert.equal((await caller.put(usageOf(day))).status, 200);
    assert.equal((await caller.put(usageOf(day, { tasks: { cli: 5, tui: 2 } }))).status, 200);
    assert.equal(await countRows(server), 1);
    const page = (await ann.get('/app/usage')).text;
    assert.match(page, new RegExp(`>${day}<`));
    assert.match(page, /"Tasks">7</);
    assert.match(page, /2 approved, 1 denied, 0 expired/);
    assert.match(page, /3 sealed, 1 failed/);
    assert.match(page, /"Tokens">1\.3k</);
    assert.match(
      page,
      /<svg class="chart" role="img" aria-label="Runs by the day: 4 on the busiest of 30 days/,
    );
    assert.doesNotMatch(page, /style=|<script/);
  });

  it('a field outside the schema is 422 and nothing of it is kept', async () => {
    const { server, ann } = await open(start);
    const caller = await linkCaller(server, ann);
    const day = dayBefore(server, 1);
    const good = usageOf(day);
    const refused: unknown[] = [
      { ...good, prompt: 'secret' },
      { ...good, schema: TELEMETRY_SCHEMA + 1 },
      { ...good, version: 'my-own-fork' },
      { ...good, platform: 'my-laptop' },
      { ...good, tasks: { cli: 1, mine: 1 } },
      { ...good, tasks: { cli: -1 } },
      { ...good, tasks: { cli: 1.5 } },
      { ...good, tasks: { cli: '1' } },
      { ...good, runs: { reviewer: { sealed: 1 } } },
      { ...good, runs: { claude: { my_code: 1 } } },
      { ...good, tokens: { 'gpt-internal': 1 } },
      { ...good, durations: { under_1_min: 1e300 } },
      { ...good, day: '2026-02-30' },
      [good],
      null,
    ];
    for (const body of refused) assert.equal((await caller.put(body, day)).status, 422, JSON.stringify(body));
    assert.equal((await caller.put(good, dayBefore(server, 2))).status, 422, 'the address names another day');
    assert.equal((await caller.put(usageOf(dayBefore(server, -2)))).status, 422, 'a future day');
    assert.equal((await caller.put(usageOf(dayBefore(server, 400)))).status, 422, 'a past day');
    assert.equal((await caller.put('{', day)).status, 400);
    assert.equal((await caller.put(`{"x":"${'x'.repeat(70_000)}"}`, day)).status, 413);
    assert.equal(await countRows(server), 0);
    // The only key that is special in objects but not in JSON.
    await caller.put(JSON.stringify(good).replace('"cli":3', '"cli":3,"__proto__":{"secret":1}'), day);
    assert.doesNotMatch(
      JSON.stringify(await server.parts.db.selectFrom('usage_days').selectAll().execute()),
      /secret/,
    );
  });

  it('an account sees only its own days, and the operator the sum of all', async () => {
    const { server, ann } = await open(start);
    const zoe = await addStranger(server, ann);
    const day = dayBefore(server, 0);
    await (await linkCaller(server, ann)).put(usageOf(day, { tasks: { cli: 11 } }));
    await (await linkCaller(server, zoe, 'workspace-2')).put(usageOf(day, { tasks: { cli: 30 } }));
    assert.match((await ann.get('/app/usage')).text, /"Tasks">11</);
    const hers = (await zoe.get('/app/usage?days=400')).text;
    assert.match(hers, /"Tasks">30</);
    assert.doesNotMatch(hers, /"Tasks">41</);
    assert.equal((await zoe.get('/operator')).status, 404);
    assert.match((await ann.get('/operator')).text, /"Tasks">41</);
  });

  it('days are deleted by an admin, by the workspace itself, with the account, and after 400 days', async () => {
    const { server, ann } = await open(start);
    const zoe = await addStranger(server, ann);
    const hers = await linkCaller(server, zoe, 'workspace-2');
    const his = await linkCaller(server, ann);
    const tell = async (): Promise<void> => {
      for (const caller of [his, hers]) await caller.put(usageOf(dayBefore(server, 0)));
    };
    await tell();
    assert.equal((await ann.get('/app/usage/delete')).status, 200);
    assert.equal(await countRows(server), 2, 'reading deletes nothing');
    assert.equal((await ann.post('/app/usage/delete')).location, '/app/usage?said=deleted');
    assert.equal(await countRows(server), 1);
    assert.match((await ann.get('/app/log')).text, /usage deleted/);
    await tell();
    assert.equal((await hers.remove()).status, 204);
    assert.equal(await countRows(server), 1);
    await tell();
    await askRunningServer(server.folder, 'account.remove', { name: 'office' });
    assert.equal(await countRows(server), 1);
    server.clock.advance(399 * DAY_MS);
    await server.parts.retention.clean();
    assert.ok((await countRows(server)) > 0);
    server.clock.advance(DAY_MS);
    await server.parts.retention.clean();
    assert.equal(await countRows(server), 0);
  });

  it('a member sees the days and cannot delete them', async () => {
    const { server, ann } = await open(start);
    await (await linkCaller(server, ann)).put(usageOf(dayBefore(server, 0)));
    const invited = await ann.post('/app/people', { name: 'bob', role: 'member' });
    const place = /\/invitation\/[\w-]+/.exec(invited.text)?.[0] ?? '';
    await openBrowser(server).post(place, { password: PASSWORD, username: 'bob' });
    const bob = await signIn(server, 'bob');
    assert.match((await bob.get('/app/usage')).text, /"Tasks">3</);
    assert.doesNotMatch((await bob.get('/app/usage')).text, /usage\/delete/);
    assert.equal((await bob.get('/app/usage/delete')).status, 404);
    assert.equal((await bob.post('/app/usage/delete')).status, 404);
    assert.equal((await ann.post('/app/usage/delete', {}, { origin: 'https://evil.example' })).status, 403);
    assert.equal(await countRows(server), 1);
  });

  it('an export includes the days', async () => {
    const { server, ann } = await open(start);
    await (await linkCaller(server, ann)).put(usageOf(dayBefore(server, 0)));
    const page = (await ann.get('/app/usage')).text;
    const folder = temporaryFolder('server-');
    const file = join(folder, 'export.jsonl');
    await askRunningServer(server.folder, 'export', { file });
    copyFileSync(join(server.folder, 'server.key'), join(folder, 'server.key'));
    const env = await makeDatabase();
    await importServer({ folder, env }, file);
    const again = await start({ folder, env });
    servers.push(again);
    assert.equal((await (await signIn(again, 'ann')).get('/app/usage')).text, page);
  });
});

it('the page is well formed, and reads without a chart', async () => {
  const { server, ann } = await open(startTestServer);
  assert.match((await ann.get('/app/usage')).text, /No figures were received for these days/);
  const caller = await linkCaller(server, ann);
  for (let back = 0; back < 30; back += 1) await caller.put(usageOf(dayBefore(server, back)));
  for (const path of [
    '/app/usage',
    '/app/usage?days=90',
    '/app/usage?days=x',
    '/app/usage/delete',
    '/operator',
  ])
    assert.deepEqual(await listPageFaults((await ann.get(path)).text), [], path);
  assert.equal((await ann.get('/app/usage?days=x')).text.match(/<time/g)?.length, 30);
});

it('all days are drawn on each page, and listed 50 at a time', async () => {
  const { server, ann } = await open(startTestServer);
  await linkCaller(server, ann);
  const [home] = await server.parts.people.listAccounts();
  const [linked] = await server.parts.workspaces.list(home!.id);
  const { id, account_id } = linked!;
  const days = Array.from({ length: KEPT_TELEMETRY_DAYS }, (_, back) => dayBefore(server, back));
  const rows = days.map((day) => ({ workspace_id: id, account_id, day, received_at: 0 }));
  const told = rows.map((row) => ({ ...row, body: JSON.stringify(usageOf(row.day)) }));
  for (const part of [told.slice(0, 200), told.slice(200)])
    await server.parts.db.insertInto('usage_days').values(part).execute();
  const readDays = (text: string): string[] =>
    [...text.matchAll(/<time datetime="(.*?)"/g)].map(([, day]) => day!);
  const pages: string[] = [];
  for (let path: string | undefined = '/app/usage?days=400'; path !== undefined; ) {
    const { text } = await ann.get(path);
    pages.push(text);
    assert.ok(Buffer.byteLength(text) < 50 * 1024, `${Buffer.byteLength(text)} bytes`);
    assert.deepEqual(await listPageFaults(text), [], path);
    assert.match(text, /on the busiest of 400 days/);
    assert.equal(/<path class="sealed" d="(.*?)"/.exec(text)?.[1]?.split('M').length, 401);
    path = /<a rel="next" href="(.*?)"/.exec(text)?.[1]?.replaceAll('&amp;', '&');
  }
  assert.deepEqual(pages.flatMap(readDays), days);
  const back = /<a rel="prev" href="(.*?)"/.exec(pages[2]!)![1]!.replaceAll('&amp;', '&');
  assert.equal((await ann.get(back)).text, pages[1]);
  for (const strange of ['after=x', 'before=', `before=${days[3]}`, 'after=2026-02-30'])
    assert.deepEqual(
      readDays((await ann.get(`/app/usage?days=400&${strange}`)).text),
      days.slice(0, 50),
      strange,
    );
});
