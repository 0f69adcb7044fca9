import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { findLogin } from '../../../engine/link/login-files.ts';
import { type LoginPrompt, logIn, logOut } from '../../../engine/link/machine-login.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

const TOKEN = `svcm_${'t'.repeat(43)}`;

/** The answer of a well-behaved server; its code expires before the second poll. */
const STARTED = { device_code: 'secret', user_code: 'BCDF-GHJK', expires_in: 0.1, interval: 5 };
const GIVEN = {
  access_token: TOKEN,
  person: 'ann',
  account: 'home',
  machine: { id: 'm_1', name: 'laptop' },
};

describe('a machine that logs in', () => {
  /** Answers by path; a list is used in order, and its last entry repeatedly. */
  let answers: Record<string, { status: number; body: unknown; headers?: Record<string, string> }[]>;
  let asked: { path: string; form: URLSearchParams }[] = [];
  let home: string;
  let env: NodeJS.ProcessEnv;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        const path = request.url ?? '';
        asked.push({ path, form: new URLSearchParams(Buffer.concat(parts).toString('utf8')) });
        const listed = answers[path] ?? [];
        const { status, body, headers } = (listed.length > 1 ? listed.shift() : listed[0]) ?? {
          status: 404,
          body: {},
          headers: {},
        };
        response
          .writeHead(status, { 'content-type': 'application/json', ...headers })
          .end(typeof body === 'string' ? body : JSON.stringify(body));
      });
  });
  let url: URL;
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  after(() => server.close());
  beforeEach(() => {
    home = temporaryFolder('machine-home-');
    env = { SVC_HOME: home };
    asked = [];
    answers = {
      '/oauth/device_authorization': [start()],
      '/oauth/token': [{ status: 200, body: GIVEN }],
      '/oauth/revoke': [{ status: 200, body: {} }],
    };
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const start = (differing: object = {}): { status: number; body: unknown } => ({
    status: 200,
    body: { verification_uri: 'https://svc.example/device', ...STARTED, ...differing },
  });
  const logInHere = (show: (prompt: LoginPrompt) => void = () => undefined) =>
    logIn(url, env, { show, signal: AbortSignal.timeout(60_000) });
  const listRevoked = () =>
    asked.filter(({ path }) => path === '/oauth/revoke').map(({ form }) => form.get('token'));
  const paths = (): string[] => asked.map(({ path }) => path);

  it('the login shows and opens only addresses of pages, and waits at most for the life of the code', async () => {
    const wrong = [
      { verification_uri: 'javascript:alert(1)' },
      { verification_uri_complete: '--help' },
      { verification_uri_complete: 'file:///etc/passwd' },
      { verification_uri_complete: 'vscode://evil' },
      { expires_in: 1e300 },
      { expires_in: -1 },
      { interval: 1e12 },
      { interval: -5 },
      { user_code: '' },
    ];
    for (const each of wrong) {
      answers['/oauth/device_authorization'] = [start(each)];
      const shown: LoginPrompt[] = [];
      await assert.rejects(
        logInHere((prompt) => shown.push(prompt)),
        { code: 'server_unreachable', message: /does not answer like an svc server/ },
        JSON.stringify(each),
      );
      assert.deepEqual(shown, []);
    }
    answers['/oauth/device_authorization'] = [
      start({ verification_uri: 'https://x.example/\u001b[31m\n\u202ed' }),
    ];
    const shown: LoginPrompt[] = [];
    await logInHere((prompt) => shown.push(prompt));
    assert.equal(shown[0]?.url, 'https://x.example/%1B[31m%E2%80%AEd');
  });

  it('the login ends when its code has expired, even if the server never says so', async () => {
    answers['/oauth/device_authorization'] = [start()];
    for (const body of [{ error: 'authorization_pending' }, { error: 'slow_down' }]) {
      answers['/oauth/token'] = [{ status: 400, body }];
      await assert.rejects(logInHere(), { code: 'login_refused', message: /expired/ });
    }
  });

  it('the login polls on when a proxy answers temporarily with any body, and no sooner than requested', async () => {
    const polls = () => paths().filter((path) => path === '/oauth/token').length;
    answers['/oauth/device_authorization'] = [start({ expires_in: 60, interval: 0 })];
    answers['/oauth/token'] = [
      { status: 429, body: '<html>too many requests</html>', headers: { 'retry-after': '1' } },
      { status: 200, body: GIVEN },
    ];
    assert.equal((await logInHere()).person, 'ann');
    assert.equal(polls(), 2);
    asked = [];
    answers['/oauth/device_authorization'] = [start({ expires_in: 3, interval: 0 })];
    answers['/oauth/token'] = [{ status: 429, body: '', headers: { 'retry-after': '100' } }];
    await assert.rejects(logInHere(), { code: 'server_unreachable', message: /status 429/ });
    // Once, and again just before the code expires.
    assert.equal(polls(), 2);
  });

  it('the login names the blocking status when the code expires before the server answers', async () => {
    for (const status of [429, 408, 502, 504]) {
      answers['/oauth/token'] = [{ status, body: { error: 'access_denied' } }];
      await assert.rejects(logInHere(), {
        code: 'server_unreachable',
        message: new RegExp(`status ${status}`),
      });
    }
    answers['/oauth/device_authorization'] = [{ status: 429, body: 'busy' }];
    await assert.rejects(logInHere(), { code: 'server_unreachable', message: /status 429/ });
  });

  it('the login explains a refusal with any code in words', async () => {
    for (const error of ['constructor', '__proto__', 'toString', 'a\u001b[31mb']) {
      answers['/oauth/token'] = [{ status: 400, body: { error } }];
      const named = error.startsWith('a') ? 'a\\x1b[31mb' : error;
      const wanted = { code: 'login_refused', message: `${url.origin} answered ${named}` };
      await assert.rejects(logInHere(), wanted);
      answers['/oauth/device_authorization'] = [{ status: 400, body: { error } }];
      await assert.rejects(logInHere(), wanted);
      answers['/oauth/device_authorization'] = [start()];
    }
  });

  it('the login stores no token that is invalid in a header, and no name that acts on a terminal', async () => {
    for (const access_token of ['svcm_a\r\nx-evil: 1', 'svcm_а', 'svcw_workspace', '', 't'.repeat(50_000)]) {
      answers['/oauth/token'] = [{ status: 200, body: { ...GIVEN, access_token } }];
      await assert.rejects(logInHere(), { code: 'server_unreachable' });
      assert.deepEqual(readdirSync(home), []);
    }
    const machine = { id: 'm_1', name: 'lap\u001b]0;x\u0007top' };
    answers['/oauth/token'] = [{ status: 200, body: { ...GIVEN, person: 'an\u202en', machine } }];
    const { person, machine: known } = await logInHere();
    assert.deepEqual([person, known.name], ['an\\u202en', 'lap\\x1b]0;x\\x07top']);
    assert.equal(readFileSync(join(home, 'device.token'), 'utf8'), `${TOKEN}\n`);
  });

  it('the login is not requested where it could not be stored, and the server forgets one that was not', async () => {
    const file = join(home, 'a-file');
    writeFileSync(file, '');
    await assert.rejects(
      logIn(
        url,
        { SVC_HOME: join(file, 'svc') },
        { show: () => undefined, signal: AbortSignal.timeout(60_000) },
      ),
      {
        code: 'storage_failed',
      },
    );
    assert.deepEqual(asked, []);
    mkdirSync(join(home, 'device.token', 'in-the-way'), { recursive: true });
    await assert.rejects(logInHere(), { code: /storage_/ });
    assert.deepEqual(listRevoked(), [TOKEN]);
    assert.deepEqual(readdirSync(home).sort(), ['a-file', 'device.token']);
  });

  it('the first of two simultaneous logins is kept, and the server forgets the other', async () => {
    const other = `svcm_${'o'.repeat(43)}`;
    answers['/oauth/token'] = [
      { status: 200, body: GIVEN },
      { status: 200, body: { ...GIVEN, access_token: other } },
    ];
    const both = await Promise.allSettled([logInHere(), logInHere()]);
    assert.deepEqual(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    const kept = readFileSync(join(home, 'device.token'), 'utf8').trim();
    assert.deepEqual([kept, ...listRevoked()].sort(), [other, TOKEN]);
  });

  it('a logout works with files in any state, and says if the server was not notified', async () => {
    const tokenFile = join(home, 'device.token');
    const accountFile = join(home, 'account.json');
    assert.deepEqual(await logOut(env), { server: null, wasLoggedIn: false, isRevoked: false });
    await logInHere();
    assert.deepEqual(await logOut(env), { server: url.origin, wasLoggedIn: true, isRevoked: true });
    const damage = [
      () => writeFileSync(accountFile, '{'),
      () => rmSync(accountFile),
      () => {
        rmSync(tokenFile);
        symlinkSync('elsewhere', tokenFile);
      },
    ];
    for (const change of damage) {
      await logInHere();
      change();
      asked = [];
      assert.deepEqual(await logOut(env), { server: null, wasLoggedIn: true, isRevoked: false });
      assert.deepEqual([paths(), readdirSync(home), findLogin(env)], [[], [], null]);
    }
  });
});
