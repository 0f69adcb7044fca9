import { arch, hostname, platform } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { backoffMs } from '../core/base/backoff.ts';
import { SvcError } from '../core/base/errors.ts';
import { version } from '../core/base/own-package.ts';
import { toPrintable } from '../core/base/text.ts';
import {
  findLogin,
  type LoginState,
  prepareLoginFiles,
  readMachineToken,
  removeLogin,
  writeLogin,
} from './login-files.ts';
import { parseAnswer, sendToServer } from './server-calls.ts';

// Logging a machine in to a linked server: the terminal's side of RFC 8628.

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code';
const CLIENT_ID = 'svc';
/** Clocks of virtual machines run fast; a premature poll slows down all later ones. */
const POLL_FACTOR = 1.2;
/** Poll interval for servers that give none, s. */
const SHORTEST_INTERVAL_S = 1;
const LONGEST_LOGIN_S = 86_400;
/** A server's value for a machine, in header characters. */
export const MACHINE_TOKEN = /^svcm_[\w-]{1,195}$/;
const RETRY = { firstMs: 1000, longestMs: 30_000 };

export interface LoginPrompt {
  /** The page for entering the code. */
  url: string;
  /** The same page with the code filled in. */
  completeUrl: string;
  userCode: string;
  expiresAt: number;
}

/** Checks an address that a token would be sent to. Throws `usage`, `address_refused`. */
export function checkServerUrl(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (url === null || !['http:', 'https:'].includes(url.protocol) || url.username + url.password !== '')
    throw new SvcError('usage', `invalid server address ${JSON.stringify(toPrintable(text))}`, {
      hint: 'use the form https://svc.example.org',
    });
  const isLoopback = /^(?:localhost|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(url.hostname);
  if (url.protocol === 'http:' && !isLoopback)
    throw new SvcError('address_refused', `${url.origin} would send the token unencrypted`, {
      hint: 'use its https:// address',
    });
  return new URL(url.origin);
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
  /** The wait time that the server or its proxy requests; null for none. */
  retryAfterMs: number | null;
}

/** Reports whether an answer of a server or its proxy is temporary, by its status. */
const isBusy = ({ status }: Answer): boolean => status === 408 || status === 429 || status >= 500;

/** Sends one request. Throws `server_unreachable`. */
async function askServer(
  url: URL,
  { form, token, signal }: { form?: Record<string, string>; token?: string; signal?: AbortSignal },
): Promise<Answer> {
  const { status, text, retryAfterMs } = await sendToServer(
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
    retryAfterMs,
  };
}

/** An address for a browser or a person: any other scheme could start a program. */
const pageAddress = z.url({ protocol: /^https?$/ }).transform((text) => new URL(text).href);
const shownText = z
  .string()
  .min(1)
  .max(200)
  .overwrite((text) => toPrintable(text));

const deviceAnswer = z.looseObject({
  device_code: z.string().min(1),
  user_code: shownText,
  verification_uri: pageAddress,
  verification_uri_complete: pageAddress.optional(),
  expires_in: z.number().positive().max(LONGEST_LOGIN_S),
  interval: z.number().min(0).max(LONGEST_LOGIN_S).prefault(5),
});

const tokenAnswer = z.looseObject({
  access_token: z.string().regex(MACHINE_TOKEN),
  person: shownText,
  account: shownText,
  machine: z.object({ id: shownText, name: shownText }),
});

const notOurs = (server: URL): SvcError =>
  new SvcError('server_unreachable', `${server.origin} does not answer like an svc server`);

const busyError = (server: URL, { status }: Answer): SvcError =>
  new SvcError('server_unreachable', `${server.origin} answered with status ${status}`, {
    hint: `wait a moment, then start again with svc login ${server.origin}`,
  });

/**
 * Logs this machine in: passes instructions for the person to `show`, and waits until they are done. Throws
 * `login_refused`, `server_unreachable`, `conflict` if it was logged in in the meantime, `storage_failed` if a login
 * cannot be stored.
 */
export async function logIn(
  server: URL,
  env: NodeJS.ProcessEnv,
  { show, signal }: { show(prompt: LoginPrompt): void; signal: AbortSignal },
): Promise<LoginState> {
  prepareLoginFiles(env);
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
  if (asked.status !== 200 || !started.success)
    throw refusedError(server, asked) ?? (isBusy(asked) ? busyError(server, asked) : notOurs(server));
  const { user_code, verification_uri, verification_uri_complete, expires_in } = started.data;
  show({
    url: verification_uri,
    completeUrl: verification_uri_complete ?? verification_uri,
    userCode: user_code,
    expiresAt: Date.now() + expires_in * 1000,
  });
  return keepLogin(server, env, await pollForToken(server, started.data, signal));
}

/** Polls until a person has answered, or no longer can. */
async function pollForToken(
  server: URL,
  { device_code, expires_in, interval }: z.output<typeof deviceAnswer>,
  signal: AbortSignal,
): Promise<z.output<typeof tokenAnswer>> {
  const endsAt = performance.now() + expires_in * 1000;
  let intervalS = Math.max(SHORTEST_INTERVAL_S, interval);
  let askedPauseMs = 0;
  for (let failures = 0; ; ) {
    const usualPause = failures > 0 ? backoffMs(failures, RETRY) : intervalS * 1000 * POLL_FACTOR;
    const pause = Math.max(usualPause, askedPauseMs);
    const left = endsAt - performance.now();
    const isLast = left <= pause;
    await delay(Math.max(0, Math.min(pause, left)), undefined, { signal });
    askedPauseMs = 0;
    let answer: Answer;
    try {
      answer = await askServer(new URL('/oauth/token', server), {
        signal,
        form: { client_id: CLIENT_ID, grant_type: GRANT, device_code },
      });
      if (isBusy(answer)) {
        askedPauseMs = Math.max(answer.retryAfterMs ?? 0, intervalS * 1000 * POLL_FACTOR);
        throw busyError(server, answer);
      }
      failures = 0;
    } catch (error) {
      signal.throwIfAborted();
      failures += 1;
      if (isLast) throw error;
      continue;
    }
    const { error } = answer.body;
    const isPending = error === 'authorization_pending' || error === 'slow_down';
    if (error === 'slow_down') intervalS += 5;
    if (isPending && isLast) throw refusedError(server, { ...answer, body: { error: 'expired_token' } })!;
    if (isPending) continue;
    const taken = tokenAnswer.safeParse(answer.body);
    if (answer.status !== 200 || !taken.success) throw refusedError(server, answer) ?? notOurs(server);
    return taken.data;
  }
}

const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['access_denied', 'the login was refused in the browser'],
  ['expired_token', 'the code expired before it was entered'],
  ['invalid_grant', 'the code was already used'],
  ['slow_down', 'too many logins from this address are waiting'],
]);

function refusedError(server: URL, { body }: Pick<Answer, 'body'>): SvcError | null {
  const { error } = body;
  if (typeof error !== 'string') return null;
  const why = REFUSALS.get(error) ?? `${server.origin} answered ${toPrintable(error).slice(0, 100)}`;
  return new SvcError('login_refused', why, { hint: `start again with svc login ${server.origin}` });
}

/** Stores the server's token; if that fails, the token is lost, so the server is asked to forget it. */
async function keepLogin(
  server: URL,
  env: NodeJS.ProcessEnv,
  { access_token: token, person, account, machine }: z.output<typeof tokenAnswer>,
): Promise<LoginState> {
  try {
    const other = findLogin(env);
    if (other !== null)
      throw new SvcError('conflict', `this machine was logged in to ${other.server} in the meantime`, {
        hint: 'svc login status shows it; svc logout first',
      });
    const logged_in_at = new Date().toISOString();
    return writeLogin(env, { server: server.origin, person, account, machine, logged_in_at }, token);
  } catch (error) {
    await revokeToken(server, token).catch(() => false);
    throw error;
  }
}

/** Returns the server's verdict on this machine's token: `known`, `revoked`, or unreachable. */
export async function askLoginState(
  env: NodeJS.ProcessEnv,
  login: LoginState,
): Promise<'known' | 'revoked' | 'unreachable'> {
  try {
    const token = readMachineToken(env) ?? '';
    const { status } = await askServer(new URL('/v1/machine', checkServerUrl(login.server)), { token });
    return status === 200 ? 'known' : status === 401 ? 'revoked' : 'unreachable';
  } catch {
    return 'unreachable';
  }
}

async function revokeToken(server: URL, token: string): Promise<boolean> {
  const form = { client_id: CLIENT_ID, token };
  return (await askServer(new URL('/oauth/revoke', server), { form })).status === 200;
}

/** The result of a logout. */
export interface LogoutResult {
  /** Null if unknown, because a file of the login is damaged or missing. */
  server: string | null;
  /** True if there was any part of a login. */
  wasLoggedIn: boolean;
  /** False if the server could not be notified. */
  isRevoked: boolean;
}

/** Logs this machine out: first on the server, then locally in any case. */
export async function logOut(env: NodeJS.ProcessEnv): Promise<LogoutResult> {
  let server: string | null = null;
  let isRevoked = false;
  try {
    server = findLogin(env)?.server ?? null;
    const token = readMachineToken(env);
    if (server !== null && token !== null) isRevoked = await revokeToken(checkServerUrl(server), token);
  } catch {
    // reported by the answer
  }
  return { server, wasLoggedIn: removeLogin(env), isRevoked };
}

/** Returns the server and the token of this machine's login; null if there is none. */
export function readMachineLogin(env: NodeJS.ProcessEnv): { server: string; token: string } | null {
  const login = findLogin(env);
  const token = login === null ? null : readMachineToken(env);
  return login === null || token === null ? null : { server: login.server, token };
}
