import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { sql } from 'kysely';
import { request } from 'undici';
import { makeServerApp } from '../../../engine/linked-server/http/app.tsx';
import {
  openBrowser,
  setUpServer,
  startTestServer,
  type TestServer,
} from '../../support/server/linked-server.ts';
import { linkByHand } from '../../support/workspaces/workspace-by-hand.ts';

const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

describe('security headers for browsers', () => {
  let server: TestServer;
  let token: string;
  let cookie: string;
  before(async () => {
    server = await startTestServer({ publicUrl: 'https://svc.example.org' });
    const ann = await setUpServer(server);
    token = (await linkByHand(server, ann)).token;
    cookie = [...ann.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  });
  after(() => server?.close());

  const seen = new Set<number>();
  function check(place: string, status: number, headers: Readonly<Record<string, unknown>>): void {
    seen.add(status);
    const isCached = /^(?:GET|HEAD) \/(?:style\.css|icon\.svg)$/.test(place);
    assert.deepEqual(
      [
        headers['content-security-policy'],
        headers['x-content-type-options'],
        headers['referrer-policy'],
        headers['cache-control'],
        headers['strict-transport-security'],
      ],
      [
        POLICY,
        'nosniff',
        'same-origin',
        isCached && status === 200 ? 'public, max-age=3600' : 'no-store',
        'max-age=31536000',
      ],
      `${place}: ${status}`,
    );
  }
  async function send(
    method: (typeof METHODS)[number],
    path: string,
    { headers = {}, body }: { headers?: Record<string, string>; body?: string } = {},
  ): Promise<number> {
    const answer = await request(`http://127.0.0.1:${server.port}${path}`, {
      method,
      headers: { host: 'svc.example.org', ...headers },
      body: body ?? null,
    });
    await answer.body.dump();
    check(`${method} ${path}`, answer.statusCode, answer.headers);
    return answer.statusCode;
  }
  const bearer = (): Record<string, string> => ({
    authorization: `Bearer ${token}`,
    'svc-protocol': '1',
    'content-type': 'application/json',
  });
  const listPaths = (): string[] => [
    ...new Set(
      makeServerApp(server.parts)
        .routes.map(({ path }) => path.replace(/:\w+(\{.*?\})?/g, 'none').replace('*', 'none'))
        // This route would end the session that the other requests need.
        .filter((path) => path !== '/sign-out'),
    ),
  ];

  it('the headers are in the answer of every route to every method and caller', async () => {
    const paths = listPaths();
    assert.ok(paths.length > 60, `${paths.length} routes`);
    for (const path of paths)
      for (const method of METHODS) {
        // This one waits for commands.
        if (path === '/v1/commands' && ['GET', 'HEAD'].includes(method)) continue;
        await send(method, path);
        await send(method, path, { headers: { cookie, origin: 'https://svc.example.org' } });
        await send(method, path, { headers: { cookie, origin: 'https://evil.example' } });
        if (path !== '/v1/workspace') await send(method, path, { headers: bearer() });
      }
  });

  it('the headers are in every refusal', async () => {
    const events = '/v1/events';
    for (const [status, method, path, how] of [
      [400, 'POST', events, { headers: bearer(), body: '{' }],
      [401, 'POST', events, { headers: { 'svc-protocol': '1' }, body: '{}' }],
      [403, 'POST', '/sign-in', { body: 'name=ann' }],
      [404, 'GET', '/nothing', {}],
      [404, 'GET', '/app/%00', {}],
      [405, 'PATCH', '/v1/decisions/w_none/d-1', {}],
      [413, 'POST', events, { headers: bearer(), body: 'x'.repeat(300_000) }],
      [421, 'GET', '/app', { headers: { host: 'evil.example' } }],
      [422, 'POST', events, { headers: bearer(), body: '{}' }],
      [426, 'POST', events, { headers: { ...bearer(), 'svc-protocol': '2' }, body: '{}' }],
    ] as const)
      assert.equal(await send(method, path, how), status, `${method} ${path}`);
    const storm = await Promise.all(
      Array.from({ length: 150 }, () => send('GET', '/v1/lease?nonce=x', { headers: bearer() })),
    );
    assert.ok(storm.includes(429));
    const browser = openBrowser(server);
    for (let tries = 0; tries < 7; tries += 1)
      await browser.post('/sign-in', { name: 'ann', password: 'wrong wrong wrong' });
    const refused = await browser.post('/sign-in', { name: 'ann', password: 'wrong wrong wrong' });
    check('POST /sign-in', refused.status, Object.fromEntries(refused.headers));
    assert.equal(refused.status, 429);
  });

  it('the headers are in answers that precede routing', async () => {
    for (const [text, status] of [
      ['GET /app HTTP/1.1\r\nHost: a b\r\n\r\n', 400],
      ['GET /app HTTP/1.1\r\nHost: [::\r\n\r\n', 400],
      ['GET http://[:: HTTP/1.1\r\nHost: svc.example.org\r\n\r\n', 400],
      ['GET /app HTTP/1.1\r\n\r\n', 400],
      ['GET https://evil.example/app HTTP/1.1\r\nHost: svc.example.org\r\n\r\n', 421],
      ['nonsense\r\n\r\n', 400],
      [`GET /app HTTP/1.1\r\nHost: svc.example.org\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
      [
        'POST /sign-in HTTP/1.1\r\nHost: svc.example.org\r\nExpect: nonsense\r\nContent-Length: 0\r\n\r\n',
        417,
      ],
      ['BREW /app HTTP/1.1\r\nHost: svc.example.org\r\n\r\n', 400],
    ] as const) {
      const socket = connect(server.port, '127.0.0.1');
      await once(socket, 'connect');
      socket.write(text);
      let answer = '';
      socket.on('data', (part: Buffer) => {
        answer += part;
      });
      socket.on('error', () => undefined);
      while (!answer.includes('\r\n\r\n') && !socket.closed)
        await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      socket.destroy();
      const [first = '', ...lines] = (answer.split('\r\n\r\n')[0] ?? '').split('\r\n');
      const headers = Object.fromEntries(
        lines.map((line) => {
          const at = line.indexOf(': ');
          return [line.slice(0, at).toLowerCase(), line.slice(at + 2)];
        }),
      );
      assert.equal(Number(first.split(' ')[1]), status, `${text.slice(0, 60)}: ${answer.slice(0, 200)}`);
      check(text.slice(0, 60), status, headers);
    }
  });

  it('the headers are in answers during a database failure', async () => {
    const { db } = server.parts;
    await sql`PRAGMA query_only = ON`.execute(db);
    const body = JSON.stringify({ workspace: 'web-shop', events: [] });
    server.clock.advance(120_000);
    assert.equal(await send('POST', '/v1/workspace/token', { headers: bearer(), body }), 503);
    await sql`PRAGMA query_only = OFF`.execute(db);
    await sql`ALTER TABLE browser_sessions RENAME TO gone`.execute(db);
    assert.equal(await send('GET', '/app', { headers: { cookie } }), 500);
    await sql`ALTER TABLE gone RENAME TO browser_sessions`.execute(db);
    assert.ok(
      [200, 400, 401, 403, 404, 405, 413, 421, 422, 426, 429, 500, 503].every((each) => seen.has(each)),
    );
  });
});
