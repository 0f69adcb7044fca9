import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { sql } from 'kysely';
import { listenOn } from '../../../engine/core/http/listen.ts';
import { buildSample } from '../../../engine/linked-server/deliveries/samples.ts';
import { type AdminVerb, askRunningServer, readServerSettings } from '../../../engine/linked-server/index.ts';
import { findFreePort } from '../../support/free-port.ts';
import {
  logMachineIn,
  onBothDatabases,
  openBrowser,
  setUpServer,
  startTestServer,
} from '../../support/server/linked-server.ts';
import { listPageFaults } from '../../support/server/page-faults.ts';
import { findPostgres, startPostgres } from '../../support/server/postgres.ts';
import { settled } from '../../support/wait.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const NO_POSTGRES = findPostgres() === null ? 'PostgreSQL is not installed' : false;
const FLAGS = { allowRemote: false, trustProxy: [], allowTarget: [] };

it('a data folder whose path is too long for a socket is refused, and nothing is left in it', async () => {
  const folder = join(temporaryFolder('server-'), 'x'.repeat(100));
  mkdirSync(folder);
  const refused = { code: 'usage', message: /too long: .* bytes; a socket may have at most/ };
  await assert.rejects(startTestServer({ folder }), refused);
  await assert.rejects(askRunningServer(folder, 'person.list', {}), refused);
  assert.deepEqual(readdirSync(folder), []);
});

describe('the flags of a server', () => {
  it('the flags refuse addresses that others reach, and passwords in the clear', () => {
    const codeOf = (flags: object): string => {
      try {
        readServerSettings({ ...FLAGS, ...flags });
        return 'fine';
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    assert.equal(codeOf({}), 'fine');
    assert.equal(codeOf({ addr: '0.0.0.0:80' }), 'address_refused');
    assert.equal(codeOf({ addr: ':80' }), 'address_refused');
    assert.equal(codeOf({ addr: '0.0.0.0:80', allowRemote: true }), 'usage');
    assert.equal(codeOf({ addr: '0.0.0.0:80', allowRemote: true, publicUrl: 'https://a.example' }), 'fine');
    assert.equal(codeOf({ publicUrl: 'http://a.example' }), 'address_refused');
    assert.equal(codeOf({ publicUrl: 'http://localhost:80' }), 'fine');
    assert.equal(codeOf({ publicUrl: 'https://a.example/path' }), 'usage');
    assert.equal(codeOf({ publicUrl: 'https://u:p@a.example' }), 'usage');
    assert.equal(codeOf({ addr: '127.0.0.1:70000' }), 'usage');
    // An incomplete range is invalid, and never means all addresses.
    for (const range of [
      '10.0.0.0/33',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/1e1',
      'fe80::1%lo',
      'example.org',
      '/8',
      '',
    ])
      for (const flag of ['trustProxy', 'allowTarget'])
        assert.equal(codeOf({ [flag]: [range] }), 'usage', range);
    const { isTrustedProxy } = readServerSettings({
      ...FLAGS,
      trustProxy: ['10.0.0.0/8', 'fd00::/8', '192.0.2.1'],
    });
    for (const address of ['10.9.9.9', 'fd12::1', '192.0.2.1', '::ffff:10.1.1.1'])
      assert.ok(isTrustedProxy(address), address);
    for (const address of ['11.0.0.1', 'fe80::1', '192.0.2.2', '', 'localhost'])
      assert.ok(!isTrustedProxy(address), address);
  });
});

onBothDatabases((start) => {
  it('the server answers under its own name only, except a health check', async () => {
    const server = await start();
    try {
      const browser = openBrowser(server);
      for (const path of ['/', '/metrics', '/healthz/', '/healthz%00']) {
        const answer = await browser.get(path, { host: 'evil.example' });
        assert.equal(answer.status, 421, path);
        assert.equal(answer.text, `this server is at ${server.url}\n`);
      }
      const healthy = await browser.get('/healthz', { host: '127.0.0.1' });
      assert.deepEqual([healthy.status, healthy.text], [200, '{"ok":true}']);
      assert.equal((await browser.get('/healthz')).status, 200);
    } finally {
      await server.close();
    }
  });

  it('the server logs refusals that precede routing, and no secret address', async () => {
    const server = await start({ publicUrl: 'https://svc.example.org' });
    try {
      const browser = openBrowser(server);
      const opening = '/invitation/a-token-that-opens';
      const misdirected = await browser.get(opening, { host: '10.0.0.7:8791' });
      assert.equal(misdirected.text, 'this server has another name\n');
      await browser.get(`${opening}%00`);
      await browser.get(opening);
      await sql`ALTER TABLE invitations RENAME TO gone`.execute(server.parts.db);
      assert.equal((await browser.get(opening)).status, 500);
      const lines = server.log.map((line) => JSON.parse(line) as Record<string, unknown>);
      const [path, method] = ['/invitation/…', 'GET'];
      assert.partialDeepStrictEqual(
        lines.filter((line) => 'path' in line),
        [
          { path, method, status: 421, host: '10.0.0.7:8791' },
          { path, method, status: 404 },
          { path, method, status: 404 },
          { path, level: 50 },
          { path, method, status: 500 },
        ],
      );
      assert.doesNotMatch(server.log.join(''), /a-token-that-opens/);
    } finally {
      await server.close();
    }
  });

  it('the server accepts forms of any type from its own pages only', async () => {
    const server = await start();
    try {
      const ann = await setUpServer(server);
      const paths = [
        '/sign-out',
        '/app/people',
        '/device',
        '/device/answer',
        '/app/password',
        '/operator/accounts',
        '/app/settings/targets',
        '/app/deliveries/1/again',
        '/app/chats/connect/telegram/code',
        '/app/chats/connect/telegram',
        '/app/chats/channels/telegram/private',
        '/operator/bots/telegram',
        '/operator/bots/slack/remove',
      ];
      const foreign: Record<string, string>[] = [
        { origin: 'https://evil.example' },
        { origin: 'null' },
        { origin: '' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'none' },
        { origin: 'null', 'content-type': 'text/plain' },
      ];
      for (const path of paths)
        for (const headers of foreign)
          assert.equal((await ann.post(path, {}, headers)).status, 403, `${path} ${JSON.stringify(headers)}`);
      assert.equal((await ann.get('/app')).status, 200);
    } finally {
      await server.close();
    }
  });

  it("an unreadable form is reported as such, and not as the server's fault", async () => {
    const server = await start();
    try {
      const ann = await setUpServer(server);
      for (const path of ['/sign-in', '/app/people', '/app/settings/targets']) {
        const answer = await ann.post(path, { name: 'bob' }, { 'content-type': 'multipart/form-data' });
        assert.equal(answer.status, 400, path);
        assert.match(answer.text, /The form cannot be read/);
      }
      assert.doesNotMatch(server.log.join(''), /"level":50/);
    } finally {
      await server.close();
    }
  });

  it('every page has its policy and no script', async () => {
    const server = await start();
    try {
      const fresh = openBrowser(server);
      const setup = await fresh.get('/setup');
      const ann = await setUpServer(server);
      await logMachineIn(server, ann);
      const begun = JSON.parse(
        (await openBrowser(server).post('/oauth/device_authorization', { client_id: 'svc' })).text,
      ) as { user_code: string };
      const invited = await ann.post('/app/people', { name: 'bob', role: 'member' });
      const invitation = /\/invitation\/[\w-]+/.exec(invited.text)![0];
      const { plans, people, deliveries, db } = server.parts;
      const [home] = await people.listAccounts();
      await plans.switchAddon(home!, 'n8n', true, 'a test');
      const wish = {
        kind: 'n8n',
        name: 'n8n',
        url: 'https://93.184.215.14/webhook-test/x',
        'events[]': 'sealed',
      };
      const added = await ann.post('/app/settings/targets', wish);
      const target = /\/app\/settings\/targets\/t_[\w-]+/.exec(added.text)![0];
      const origin = { workspaceId: 'w', workspaceName: 'w', accountId: home!.id };
      await db
        .transaction()
        .execute((change) =>
          deliveries.queueDeliveries(change, origin, [buildSample('sealed', { at: server.clock.now() })]),
        );
      const pages = [
        setup,
        invited,
        await openBrowser(server).get('/sign-in'),
        await openBrowser(server).post('/sign-in', { name: 'ann', password: 'wrong' }),
        await openBrowser(server).get(invitation),
        await openBrowser(server).get('/invitation/none'),
        await ann.get('/app'),
        await ann.get('/app/runs'),
        await ann.get('/app/people'),
        await ann.get('/app/sign-ins'),
        await ann.get('/app/log'),
        await ann.get('/app/settings'),
        await ann.get('/app/settings/new?kind=n8n'),
        added,
        await ann.get(`${target}/remove`),
        await ann.get('/app/deliveries'),
        await ann.get('/device'),
        await ann.post('/device', { user_code: begun.user_code }),
        await ann.get('/operator'),
        await ann.get(`/operator/accounts/${home!.id}`),
        await ann.get('/app/chats'),
        await ann.get('/operator/bots/telegram'),
        await ann.post('/operator/bots/slack', { bot_token: 'wrong' }),
        await ann.get('/operator/bots/slack/remove'),
        await ann.get('/nothing'),
      ];
      for (const { text, headers } of pages) {
        assert.match(headers.get('content-security-policy') ?? '', /^default-src 'none'/);
        assert.equal(headers.get('x-content-type-options'), 'nosniff');
        assert.equal(headers.get('cache-control'), 'no-store');
        assert.equal(headers.get('referrer-policy'), 'same-origin');
        assert.deepEqual(await listPageFaults(text), [], text);
      }
    } finally {
      await server.close();
    }
  });

  it('the server stores no plain secret, and refuses another root secret', async () => {
    const env = { SVC_LEASE_SECRET: 'a'.repeat(40) };
    const first = await start({ env });
    const ann = await setUpServer(first);
    const token = await logMachineIn(first, ann);
    const logged = first.log.join('');
    await first.close();
    assert.doesNotMatch(logged, new RegExp(token));
    if (first.env.DATABASE_URL === undefined) {
      const file = readFileSync(join(first.folder, 'server.db')).toString('latin1');
      for (const secret of [token, ann.cookies.get('svc')!, first.codes[0]!])
        assert.ok(!file.includes(secret));
      assert.equal(statSync(join(first.folder, 'server.db')).mode & 0o777, 0o600);
      await assert.rejects(start({ folder: first.folder, env: { SVC_LEASE_SECRET: 'b'.repeat(40) } }), {
        code: 'key_mismatch',
      });
      await assert.rejects(start({ folder: first.folder, env: { SVC_LEASE_SECRET: 'short' } }), {
        code: 'usage',
      });
      const again = await start({ folder: first.folder, env });
      assert.equal(
        (await openBrowser(again).get('/v1/machine', { authorization: `Bearer ${token}` })).status,
        200,
      );
      await again.close();
    }
  });

  it('the socket is open to its own user alone, even in a folder that others may enter', async () => {
    const folder = temporaryFolder('server-');
    chmodSync(folder, 0o755);
    const before = process.umask(0);
    const server = await start({ folder }).finally(() => process.umask(before));
    try {
      assert.equal(statSync(join(folder, 'server.sock')).mode & 0o777, 0o600);
    } finally {
      await server.close();
    }
  });

  it('the socket runs administration for its own user, and metrics need a token', async () => {
    const server = await start();
    try {
      const ask = async (verb: AdminVerb, input: object) =>
        (await askRunningServer(server.folder, verb, input))?.result as Record<string, string>;
      const { invitation = '' } = await ask('person.add', { name: 'ann', operator: true });
      assert.ok(invitation.startsWith(`${server.url}/invitation/`));
      assert.equal((await openBrowser(server).get('/setup')).status, 404);
      await assert.rejects(askRunningServer(server.folder, 'person.add', { name: 'ANN' }), {
        code: 'conflict',
      });
      await assert.rejects(askRunningServer(server.folder, 'person.remove', { name: 'ann' }), {
        code: 'conflict',
      });
      const { token } = await ask('token.metrics', {});
      assert.equal((await openBrowser(server).get('/metrics')).status, 401);
      const metrics = await openBrowser(server).get('/metrics', { authorization: `Bearer ${token}` });
      assert.match(metrics.text, /^svc_server_people 1$/m);
    } finally {
      await server.close();
    }
    assert.equal(await askRunningServer(server.folder, 'account.list', {}), undefined);
  });

  it('a second server on the database is refused', async () => {
    const server = await start();
    try {
      await assert.rejects(
        start({
          ...(server.env.DATABASE_URL === undefined
            ? { folder: server.folder }
            : { env: { DATABASE_URL: server.env.DATABASE_URL } }),
        }),
        (error: { code: string; message: string }) =>
          error.code === 'already_running' && error.message.includes(String(process.pid)),
      );
    } finally {
      await server.close();
    }
  });
});

describe('a server behind a proxy', () => {
  it('X-Forwarded-For applies from trusted proxies only, and marks the cookie', async () => {
    const proxied = await startTestServer({ publicUrl: 'https://svc.example', trustProxy: ['127.0.0.1'] });
    try {
      const browser = openBrowser(proxied);
      const sent = await browser.post(
        '/setup',
        { code: proxied.codes[0]!, name: 'ann', password: 'correct horse battery' },
        { 'x-forwarded-for': '198.51.100.7, 203.0.113.9' },
      );
      assert.match(
        sent.headers.get('set-cookie') ?? '',
        /^__Host-svc=.*Path=\/; HttpOnly; Secure; SameSite=Lax/,
      );
      assert.match((await browser.get('/app/sign-ins')).text, /203\.0\.113\.9/);
    } finally {
      await proxied.close();
    }
    const direct = await startTestServer();
    try {
      const browser = openBrowser(direct);
      const fields = { code: direct.codes[0]!, name: 'ann', password: 'correct horse battery' };
      await browser.post('/setup', fields, { 'x-forwarded-for': '203.0.113.9' });
      assert.doesNotMatch((await browser.get('/app/sign-ins')).text, /203\.0\.113\.9/);
    } finally {
      await direct.close();
    }
  });
});

it('requests and commands during the opening of the database are answered after it', {
  skip: NO_POSTGRES,
}, async (t) => {
  const postgres = await startPostgres(findPostgres()!);
  const [, sockets = ''] = (await postgres.createDatabase('late')).split('?host=');
  const [asked, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  // A connection to the database that stays silent for a while.
  const gate = createServer(async (client) => {
    asked.resolve();
    await opened.promise;
    const socket = connect(join(decodeURIComponent(sockets), '.s.PGSQL.5432'));
    client.pipe(socket).pipe(client);
    socket.on('error', () => client.destroy());
    client.on('error', () => socket.destroy());
  });
  await listenOn(gate, { host: '127.0.0.1', port: 0 });
  const { port: gatePort } = gate.address() as AddressInfo;
  const port = await findFreePort();
  const folder = temporaryFolder('server-');
  const starting = startTestServer({
    folder,
    addr: `127.0.0.1:${port}`,
    env: { DATABASE_URL: `postgresql://svc@127.0.0.1:${gatePort}/late` },
  });
  t.after(async () => {
    await (await starting).close();
    gate.close();
    await postgres.stop();
  });
  await asked.promise;
  const client = connect(port, '127.0.0.1');
  client.setEncoding('utf8');
  const text = [
    'POST /sign-in HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    'Expect: 100-continue',
    'Content-Length: 0',
  ];
  client.write(`${text.join('\r\n')}\r\n\r\n`);
  // This shows that the server has it.
  assert.match(String((await once(client, 'data'))[0]), /^HTTP\/1\.1 100 /);
  const answered = once(client, 'data');
  const command = askRunningServer(folder, 'person.add', { name: 'ann', operator: true });
  opened.resolve();
  await starting;
  const added = await settled(command, 'the command', 10_000);
  assert.partialDeepStrictEqual(added, { result: { name: 'ann', account: 'home' } });
  assert.match(String((await settled(answered, 'the answer', 10_000))[0]), /^HTTP\/1\.1 403 /);
  client.destroy();
});

it('a server that cannot start leaves no socket and no lock behind', async () => {
  const folder = temporaryFolder('server-');
  const taken = createServer();
  await listenOn(taken, { host: '127.0.0.1', port: 0 });
  const { port } = taken.address() as AddressInfo;
  try {
    await assert.rejects(startTestServer({ folder, addr: `127.0.0.1:${port}` }), { code: 'address_in_use' });
    await assert.rejects(startTestServer({ folder, env: { DATABASE_URL: 'mysql://x' } }), { code: 'usage' });
    assert.ok(!existsSync(join(folder, 'server.sock')));
    await (await startTestServer({ folder })).close();
  } finally {
    taken.close();
  }
});

it('a server behind an untrusted proxy explains the consequence', async (t) => {
  const warns = async (options: Parameters<typeof startTestServer>[0]): Promise<boolean> => {
    const server = await startTestServer(options);
    t.after(() => server.close());
    return server.log.some((line) => line.includes('--trust-proxy'));
  };
  const publicUrl = 'https://svc.example.org';
  assert.equal(await warns({ publicUrl }), true);
  assert.equal(await warns({ publicUrl, trustProxy: ['127.0.0.1'] }), false);
  assert.equal(await warns({}), false);
});
