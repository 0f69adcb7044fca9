import { isJsonObject } from '../core/base/json-object.ts';

/** An answer of a code host's API, as its program prints it with the headers. */
export interface ForgeAnswer {
  status: number;
  /** Names in lower case. */
  headers: ReadonlyMap<string, string>;
  /** Undefined if there is none, or if it is not JSON. */
  body: unknown;
}

/** Parses a status line, headers and a body; null for anything else. */
export function readForgeAnswer(printed: string): ForgeAnswer | null {
  const found = /\r?\n\r?\n/.exec(printed);
  const [head, text] =
    found === null
      ? [printed, '']
      : [printed.slice(0, found.index), printed.slice(found.index + found[0].length)];
  const [statusLine = '', ...lines] = head.split(/\r?\n/);
  const [, status] = /^HTTP\/[\d.]+ (\d{3})\b/.exec(statusLine) ?? [];
  if (status === undefined) return null;
  const headers = new Map(
    lines.flatMap((line) => {
      const at = line.indexOf(':');
      return at <= 0 ? [] : [[line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()] as const];
    }),
  );
  return { status: Number(status), headers, body: readForgeBody(text) };
}

/** Parses a body; undefined for anything but JSON. */
export function readForgeBody(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the message of an error answer; null for none. */
export function readForgeMessage({ body }: Pick<ForgeAnswer, 'body'>): string | null {
  const { message, error_description: description, error } = isJsonObject(body) ? body : {};
  return [message, description, error].find((each) => typeof each === 'string') ?? null;
}

/** The longest pause that a code host is believed to want, ms. */
const LONGEST_PAUSE_MS = 3600_000;
/** The pause after a refusal that names none, as GitHub asks for. */
const USUAL_PAUSE_MS = 60_000;

/**
 * Returns how long to pause after an answer that a rate limit has caused, ms; null for any other answer.
 * https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
 * https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
 */
export function readRateLimit({ status, headers, body }: ForgeAnswer, now: number): number | null {
  if (status !== 403 && status !== 429 && status !== 503) return null;
  const after = Number(headers.get('retry-after') ?? Number.NaN);
  if (status === 503 && Number.isNaN(after)) return null;
  const readLimit = (name: string) => headers.get(`x-${name}`) ?? headers.get(name);
  const isSpent = readLimit('ratelimit-remaining') === '0';
  const isSecondary = /rate limit/i.test(readForgeMessage({ body }) ?? '');
  if (status === 403 && !isSpent && !isSecondary && Number.isNaN(after)) return null;
  const resetAt = Number(readLimit('ratelimit-reset') ?? Number.NaN) * 1000;
  const wanted = !Number.isNaN(after)
    ? after * 1000
    : isSpent && !Number.isNaN(resetAt)
      ? resetAt - now
      : USUAL_PAUSE_MS;
  return Math.min(LONGEST_PAUSE_MS, Math.max(1000, wanted));
}
