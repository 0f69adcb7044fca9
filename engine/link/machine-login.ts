import { chmodSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { arch, hostname, platform } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { backoffMs } from '../base/backoff.ts';
import { SvcError } from '../base/errors.ts';
import { version } from '../base/own-package.ts';
import { readPrivate, replacePrivate } from '../base/private-files.ts';
import { toPrintable } from '../base/text.ts';
import { resolveMachineHome } from '../workspace/machine-home.ts';
import { parseAnswer, sendToServer } from './server-calls.ts';

// Logging a machine in to a linked server: the terminal's side of RFC 8628. The token lies in the machine home, beside what
// may be shown of it.

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const CLIENT_ID = 'svc';
const TOKEN_FILE = 'device.token';
const ACCOUNT_FILE = 'account.json';
/** Files of a login are not larger. */
const LARGEST_ANSWER = 64 * 1024;
/** Clocks of virtual machines run fast; a poll that comes too soon makes all that follow slower. */
const POLL_FACTOR = 1.2;
const RETRY = { firstMs: 1000, longestMs: 30_000 };

/** What `account.json` holds; no secret. */
const accountFile = z.looseObject({
  server: z.string(),
  person: z.string(),
  account: z.string(),
  machine: z.object({ id: z.string(), name: z.string() }),
  logged_in_at: z.string(),
});

export type AccountFile = z.output<typeof accountFile>;

/** Where a machine is logged in. */
export interface LoginState extends AccountFile {
  token_file: string;
  /** Its rights in octal, such as `600`. */
  token_mode: string;
}

export interface LoginPrompt {
  /** Where the code is typed in. */
  url: string;
  /** The same with the code filled in. */
  completeUrl: string;
  userCode: string;
  expiresAt: number;
}

/** Checks an address that a token would be sent to. Throws `usage`, `address_refused`. */
export function checkServerUrl(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username !== '')
    throw new SvcError('usage', `${JSON.stringify(toPrintable(text))} is not the address of a server`, {
      hint: 'give it as https://svc.example.org',
    });
  const isLoopback = /^(?:localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLoopback)
    throw new SvcError('address_refused', `${url.origin} would carry the token in the clear`, {
      hint: 'use its https:// address',
    });
  return new URL(url.origin);
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

/** One request. Throws `server_unreachable`. */
async function askServer(
  url: URL,
  { form, token, signal }: { form?: Record<string, string>; token?: string; signal?: AbortSignal },
): Promise<Answer> {
  const { status, text } = await sendToServer(
    url,
    {
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form === undefined ? {} : { method: 'POST', body: new URLSearchParams(form).toString() }),
    },
    signal === undefined ? {} : { signal },
  );
  const parsed = parseAnswer(text);
  return {
    status,
    body: typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {},
  };
}

const deviceAnswer = z.looseObject({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  verification_uri_complete: z.string().optional(),
  expires_in: z.number(),
  interval: z.number().prefault(5),
});

const tokenAnswer = z.looseObject({
  access_token: z.string().min(1),
  person: z.string(),
  account: z.string(),
  machine: z.object({ id: z.string(), name: z.string() }),
});

const notOurs = (server: URL): SvcError =>
  new SvcError('server_unreachable', `${server.origin} does not answer as a server of svc does`);

/** Logs this machine in: tells `show` what a person has to do, and waits until it was done. Throws `login_refused`. */
export async function logIn(
  server: URL,
  env: NodeJS.ProcessEnv,
  { show, signal }: { show(prompt: LoginPrompt): void; signal: AbortSignal },
): Promise<LoginState> {
  const asked = await askServer(new URL('/oauth/device_authorization', server), {
    signal,
    form: {
      client_id: CLIENT_ID,
      machine: hostname(),
      version,
      system: `${platform()} ${arch()}`,
    },
  });
  const started = deviceAnswer.safeParse(asked.body);
  if (asked.status !== 200 || !started.success) throw refusedError(server, asked) ?? notOurs(server);
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in } = started.data;
  show({
    url: toPrintable(verification_uri),
    completeUrl: toPrintable(verification_uri_complete ?? verification_uri),
    userCode: toPrintable(user_code),
    expiresAt: Date.now() + expires_in * 1000,
  });
  let intervalS = started.data.interval;
  for (let failures = 0; ; ) {
    const pause = failures > 0 ? backoffMs(failures, RETRY) : intervalS * 1000 * POLL_FACTOR;
    await delay(pause, undefined, { signal });
    let answer: Answer;
    try {
      answer = await askServer(new URL('/oauth/token', server), {
        signal,
        form: { client_id: CLIENT_ID, grant_type: GRANT, device_code },
      });
      // A proxy in front of a server that is down.
      if (answer.status >= 500) throw notOurs(server);
      failures = 0;
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      if (failures > 30) throw error;
      continue;
    }
    const { error } = answer.body;
    if (error === 'authorization_pending') continue;
    if (error === 'slow_down') {
      intervalS += 5;
      continue;
    }
    const taken = tokenAnswer.safeParse(answer.body);
    if (answer.status !== 200 || !taken.success) throw refusedError(server, answer) ?? notOurs(server);
    return saveLogin(server, env, taken.data);
  }
}

const REFUSALS: Readonly<Record<string, string>> = {
  access_denied: 'the login was refused in the browser',
  expired_token: 'the code ran out before it was typed in',
  invalid_grant: 'the code was used already',
  slow_down: 'too many logins of this address wait',
};

function refusedError(server: URL, { body }: Answer): SvcError | null {
  const { error } = body;
  if (typeof error !== 'string') return null;
  const why = REFUSALS[error] ?? `${server.origin} answered ${toPrintable(error).slice(0, 100)}`;
  return new SvcError('login_refused', why, { hint: `svc login ${server.origin} starts anew` });
}

function saveLogin(server: URL, env: NodeJS.ProcessEnv, answer: z.output<typeof tokenAnswer>): LoginState {
  const home = resolveMachineHome(env);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const account: AccountFile = {
    server: server.origin,
    person: answer.person,
    account: answer.account,
    machine: answer.machine,
    logged_in_at: new Date().toISOString(),
  };
  replacePrivate(join(home, TOKEN_FILE), `${answer.access_token}\n`, { isDurable: true });
  replacePrivate(join(home, ACCOUNT_FILE), `${JSON.stringify(account, null, 2)}\n`, { isDurable: true });
  chmodSync(join(home, TOKEN_FILE), 0o600);
  return findLogin(env)!;
}

/** Where this machine is logged in; null when it is nowhere. Throws `config_invalid` for a damaged file. */
export function findLogin(env: NodeJS.ProcessEnv): LoginState | null {
  const home = resolveMachineHome(env);
  const tokenFile = join(home, TOKEN_FILE);
  const text = readPrivate(join(home, ACCOUNT_FILE), LARGEST_ANSWER);
  const token = readPrivate(tokenFile, LARGEST_ANSWER);
  if (text === null || token === null) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = null;
  }
  const read = accountFile.safeParse(parsed);
  if (!read.success)
    throw new SvcError('config_invalid', `${join(home, ACCOUNT_FILE)} is damaged`, {
      hint: 'svc logout removes it',
    });
  const mode = (statSync(tokenFile).mode & 0o777).toString(8);
  return { ...read.data, token_file: tokenFile, token_mode: mode };
}

/** The server and the token of this machine's login; null when it is nowhere. */
export function readMachineLogin(env: NodeJS.ProcessEnv): { server: string; token: string } | null {
  const login = findLogin(env);
  const token = login === null ? undefined : readPrivate(login.token_file, LARGEST_ANSWER)?.trim();
  return login === null || !token ? null : { server: login.server, token };
}

/** What the server says of this machine's token: `known`, `revoked`, or that it could not be asked. */
export async function askLoginState(login: LoginState): Promise<'known' | 'revoked' | 'unreachable'> {
  const token = readPrivate(login.token_file, LARGEST_ANSWER)?.trim() ?? '';
  try {
    const { status } = await askServer(new URL('/v1/machine', checkServerUrl(login.server)), { token });
    return status === 200 ? 'known' : status === 401 ? 'revoked' : 'unreachable';
  } catch {
    return 'unreachable';
  }
}

/** Logs this machine out: on the server first, then here in any case. False where the server could not be told. */
export async function logOut(env: NodeJS.ProcessEnv): Promise<{ server: string | null; isRevoked: boolean }> {
  const home = resolveMachineHome(env);
  const token = readPrivate(join(home, TOKEN_FILE), LARGEST_ANSWER)?.trim() ?? null;
  let server: string | null = null;
  let isRevoked = false;
  try {
    server = findLogin(env)?.server ?? null;
    if (server !== null && token !== null) {
      const revoked = await askServer(new URL('/oauth/revoke', checkServerUrl(server)), {
        form: { client_id: CLIENT_ID, token },
      });
      isRevoked = revoked.status === 200;
    }
  } catch {
    // said by the answer
  }
  rmSync(join(home, TOKEN_FILE), { force: true });
  rmSync(join(home, ACCOUNT_FILE), { force: true });
  return { server, isRevoked };
}
