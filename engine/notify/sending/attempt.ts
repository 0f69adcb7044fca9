import { backoffMs } from '../../core/base/backoff.ts';
import { type SigningSecrets, signedHeaders } from './signing.ts';

const TRY_MS = 10_000;
const FIRST_BACKOFF_MS = 5000;
const LONGEST_MS = 3_600_000;
const SHORTEST_MS = 1000;
/** How long a delivery is tried again before it counts as dead, ms. */
export const GIVE_UP_MS = 24 * 3_600_000;

/** The outcome of one attempt. `error` never quotes fetch, whose message may contain the address with credentials. */
export interface SendOutcome {
  ok: boolean;
  /** True if the target says that it is gone (410). Make also says so for a scenario that is merely switched off. */
  gone: boolean;
  status: number | null;
  error: string | null;
  /** Delay requested by the target, ms from now. */
  retryAfterMs: number | null;
}

/** The fetch function and other means that sending uses. */
export interface SendOptions {
  fetch: typeof globalThis.fetch;
  now: number;
  /** Ends the attempt. */
  signal: AbortSignal;
}

/** Sends an event in one POST, signed with each of the secrets, the newest first. See `postOnce`. */
export const attemptDelivery = (
  {
    url,
    body,
    messageId,
    secrets,
  }: { url: string; body: string; messageId: string; secrets: SigningSecrets },
  options: SendOptions,
): Promise<SendOutcome | null> =>
  postOnce({ url, body, headers: signedHeaders({ secrets, messageId, body, now: options.now }) }, options);

/** Sends one POST of JSON. Null when `signal` aborted it, since the outcome is then unknown. */
export async function postOnce(
  { url, body, headers: given }: { url: string; body: string; headers: Readonly<Record<string, string>> },
  { fetch, now, signal }: SendOptions,
): Promise<SendOutcome | null> {
  // Not AbortSignal.any: `signal` lives as long as the engine and would accumulate dependents.
  const ending = new AbortController();
  const endAttempt = () => ending.abort();
  const timer = setTimeout(endAttempt, TRY_MS);
  signal.addEventListener('abort', endAttempt);
  try {
    const target = new URL(url);
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      'user-agent': 'svc',
      ...given,
    };
    if (target.username !== '' || target.password !== '') {
      // fetch rejects an address with credentials, and its message repeats them.
      const pair = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`;
      headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
      target.username = '';
      target.password = '';
    }
    const response = await fetch(target, {
      method: 'POST',
      headers,
      body,
      // A redirect would take the signed event to an address that is not configured.
      redirect: 'manual',
      signal: ending.signal,
    });
    // Only the status matters; the body is never read.
    void response.body?.cancel().catch(() => undefined);
    return judgeResponse(response, now);
  } catch (error) {
    if (signal.aborted) return null;
    return {
      ok: false,
      gone: false,
      status: null,
      error: describeCause(error, ending.signal),
      retryAfterMs: null,
    };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', endAttempt);
  }
}

function judgeResponse(response: Response, now: number): SendOutcome {
  const { status } = response;
  const ok = status >= 200 && status < 300;
  const redirects = status >= 300 && status < 400 ? ' (redirects are not followed)' : '';
  return {
    ok,
    gone: status === 410,
    status,
    error: ok ? null : `HTTP ${status}${redirects}`,
    retryAfterMs:
      status === 429 || status === 503 ? parseRetryAfter(response.headers.get('retry-after'), now) : null,
  };
}

/** Parses Retry-After: seconds or an HTTP date (RFC 9110 §10.2.3), capped at an hour. */
function parseRetryAfter(value: string | null, now: number): number | null {
  if (value === null) return null;
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isNaN(ms) ? null : Math.min(LONGEST_MS, Math.max(SHORTEST_MS, ms));
}

function describeCause(error: unknown, timeout: AbortSignal): string {
  if (timeout.aborted) return `no answer within ${TRY_MS / 1000} s`;
  const cause = (error as { cause?: { code?: unknown; message?: unknown } })?.cause;
  if (typeof cause?.code === 'string' && /^[A-Z0-9_]{1,60}$/.test(cause.code)) return cause.code;
  return cause?.message === 'bad port' ? 'fetch does not connect to this port' : 'the connection failed';
}

/**
 * Returns the time without attempts although something was due, ms: because a machine slept, an engine or a server
 * did not run, or a target was switched off. Pending deliveries do not age in it. 0 if attempts are at
 * most as far apart as allowed.
 */
export function idleMs({ dueAt, triedAt, now }: { dueAt: number; triedAt: number; now: number }): number {
  const idle = now - Math.max(dueAt, triedAt);
  return idle > LONGEST_MS ? idle : 0;
}

/** Returns the exponential backoff with full jitter: up to 5 s after the first failure, up to an hour eventually. */
export const nextTryMs = (failures: number, random: () => number): number =>
  backoffMs(failures, { firstMs: FIRST_BACKOFF_MS, longestMs: LONGEST_MS, shortestMs: SHORTEST_MS, random });
