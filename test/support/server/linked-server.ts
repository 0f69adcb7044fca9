import type { LookupFunction } from 'node:net';
import { after, before, describe } from 'node:test';
import { pino } from 'pino';
import type { Clock } from '../../../engine/core/base/clock.ts';
import { type RunningServer, readServerSettings, startServer } from '../../../engine/linked-server/index.ts';
import { type FakeClock, fakeClock } from '../clock.ts';
import { temporaryFolder } from '../workspaces/git.ts';
import { findPostgres, startPostgres, type TestPostgres } from './postgres.ts';

/** A server on a separate port, with its log. */
export interface TestServer extends RunningServer {
  folder: string;
  clock: FakeClock;
  /** The printed setup codes, the newest last. */
  codes: string[];
  log: string[];
  env: NodeJS.ProcessEnv;
}

/** A response with its body. */
export interface Read {
  status: number;
  text: string;
  headers: Headers;
  location: string | null;
}

/** A browser that keeps cookies, does not follow redirects, and sends the origin of its forms. */
export interface Browser {
  get(path: string, headers?: Record<string, string>): Promise<Read>;
  /** Fields, as pairs if one has several values. */
  post(
    path: string,
    fields?: Record<string, string> | [name: string, value: string][],
    headers?: Record<string, string>,
  ): Promise<Read>;
  /** Posts JSON as a program does. */
  postJson(path: string, body: object, headers?: Record<string, string>): Promise<Read>;
  cookies: Map<string, string>;
}

export async function startTestServer(
  options: {
    env?: NodeJS.ProcessEnv;
    folder?: string;
    publicUrl?: string;
    trustProxy?: string[];
    addr?: string;
    /** The system clock if time must pass by itself; otherwise a frozen clock. */
    clock?: Clock;
    allowTarget?: string[];
    lookup?: LookupFunction;
    telegramApi?: string;
    slackApi?: string;
  } = {},
): Promise<TestServer> {
  const {
    env = {},
    folder = temporaryFolder('server-'),
    addr = '127.0.0.1:0',
    publicUrl,
    trustProxy = [],
    allowTarget = [],
    lookup,
    telegramApi,
    slackApi,
  } = options;
  const clock = fakeClock();
  const codes: string[] = [];
  const log: string[] = [];
  const settings = readServerSettings({
    addr,
    publicUrl,
    allowRemote: false,
    trustProxy,
    allowTarget,
    telegramApi,
    slackApi,
  });
  const server = await startServer(
    {
      folder,
      env,
      clock: options.clock ?? clock,
      ...(lookup === undefined ? {} : { lookup }),
      // These tests are not about guessing.
      passwordCost: { logN: 8, r: 8, p: 1 },
      log: pino({ base: null }, { write: (line: string) => void log.push(line) }),
      tellSetupCode: ({ code }) => void codes.push(code),
    },
    settings,
  );
  return { ...server, folder, clock, codes, log, env };
}

export function openBrowser(server: Pick<TestServer, 'url' | 'port'>): Browser {
  const cookies = new Map<string, string>();
  const { host } = new URL(server.url);
  const request = async (
    path: string,
    init: RequestInit & { headers: Record<string, string> },
  ): Promise<Read> => {
    const { request: send } = await import('undici');
    const answer = await send(`http://127.0.0.1:${server.port}${path}`, {
      method: init.method as 'GET',
      body: (init.body as string | undefined) ?? null,
      headers: {
        host,
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...init.headers,
      },
    });
    const headers = new Headers();
    for (const [name, value] of Object.entries(answer.headers))
      for (const one of [value].flat()) headers.append(name, String(one));
    for (const line of headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      if (pair.slice(at + 1) === '') cookies.delete(pair.slice(0, at));
      else cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return {
      status: answer.statusCode,
      text: await answer.body.text(),
      headers,
      location: headers.get('location'),
    };
  };
  return {
    cookies,
    postJson: (path, body, headers = {}) =>
      request(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
      }),
    get: (path, headers = {}) => request(path, { method: 'GET', headers }),
    post: (path, fields = {}, headers = {}) =>
      request(path, {
        method: 'POST',
        body: new URLSearchParams(fields).toString(),
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          origin: server.url,
          ...headers,
        },
      }),
  };
}

export const PASSWORD = 'correct horse battery';

/** Sets up a new server with its first operator in a browser, which is signed in afterwards. */
export async function setUpServer(
  server: Pick<TestServer, 'url' | 'port' | 'codes'>,
  name = 'ann',
): Promise<Browser> {
  const browser = openBrowser(server);
  await browser.post('/setup', { code: server.codes.at(-1)!, name, password: PASSWORD, account: 'home' });
  return browser;
}

/** Signs in; the answer redirects to `/app` on success. */
export async function signIn(server: TestServer, name: string, password = PASSWORD): Promise<Browser> {
  const browser = openBrowser(server);
  await browser.post('/sign-in', { name, password, next: '' });
  return browser;
}

/** Returns the token of a machine that a person has approved. */
export async function logMachineIn(
  server: Pick<TestServer, 'url' | 'port'>,
  browser: Browser,
  machine = 'laptop',
): Promise<string> {
  const terminal = openBrowser(server);
  const started = JSON.parse(
    (await terminal.post('/oauth/device_authorization', { client_id: 'svc', machine })).text,
  ) as { device_code: string; user_code: string };
  await browser.post('/device', { user_code: started.user_code });
  await browser.post('/device/answer', { user_code: started.user_code, answer: 'allow' });
  const taken = await terminal.post('/oauth/token', {
    client_id: 'svc',
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: started.device_code,
  });
  return (JSON.parse(taken.text) as { access_token: string }).access_token;
}

const bin = findPostgres();

/**
 * Runs the same tests on SQLite and on a real PostgreSQL; prints a notice and skips PostgreSQL if it is not
 * installed.
 */
export function onBothDatabases(
  tests: (
    start: typeof startTestServer,
    /** Returns the environment of a server with a new, empty database. */
    makeDatabase: () => Promise<NodeJS.ProcessEnv>,
  ) => void,
): void {
  describe('SQLite', () => tests(startTestServer, async () => ({})));
  describe('PostgreSQL', { skip: bin === null ? 'PostgreSQL is not installed' : false }, () => {
    let postgres: TestPostgres;
    let made = 0;
    before(async () => {
      postgres = await startPostgres(bin!);
    });
    after(() => postgres?.stop());
    const makeDatabase = async () => {
      made += 1;
      return { DATABASE_URL: await postgres.createDatabase(`test_${made}`) };
    };
    tests(async (options = {}) => {
      const given = options.env?.DATABASE_URL;
      const env = { ...(given === undefined ? await makeDatabase() : {}), ...options.env };
      return startTestServer({ ...options, env });
    }, makeDatabase);
  });
}
