import { toOneLine } from './json-lines.ts';
import { findResetTime } from './reset-time.ts';
import type { AgentEnd, EndCode } from './stream.ts';

export type StreamFailure = Extract<AgentEnd, { ok: false }>;

// The only list of phrases by which agents and services report failures. An agent's ordinary answers are never matched against it.

/** Phrases for an exhausted quota, as opposed to a rate that is too high. */
const USED_UP =
  /usage[ _]limit|(?:hour|weekly|session|plan|opus|sonnet) limit reached|payment required|hit your .{0,40}limit|current (?:token )?quota|insufficient[ _](?:quota|balance)|credit balance|account balance|out of (?:\w+ )?(?:credits|usage)|(?:daily|monthly|weekly|plan) (?:quota|limit)|per ?day|exhausted your (?:daily|capacity)|QuotaExceeded|TerminalQuota|quota_exhausted|billing/i;
/** Phrases for a used-up budget of the gateway or the agent's service. */
const SPENT =
  /\bbudget_exceeded\b|\bbudget .{0,40}(?:exceeded|exhausted|used up|spent)|spend(?:ing)? (?:cap|limit)/i;
const TOO_LONG =
  /prompt is too long|context[ _]?(?:length|window|overflow|limit)|too large to compact|maximum context|model token limit|input token count|request_too_large/i;
const TOO_FAST =
  /rate[ _-]?limit|too many requests|overloaded|resource[ _]exhausted|no capacity|unavailable|RetryableQuota/i;
const NO_ENTRY =
  /not logged in|log ?in required|\/login|ProviderAuth|unauthori[sz]ed|authentication|unauthenticated|invalid[ _]?(?:api|access)[ _-]?(?:key|token)|api[ _-]?key|auth type|permission_denied|forbidden/i;
/** Phrases for a failure of the model's service or the connection to it, if nothing above matches. */
const OF_MODEL =
  /API ?Error|server_error|invalid_request|not_found_error|provider_error|ModelNotFound|fetch failed|ECONNREFUSED|unable to connect/i;

/** Finds the HTTP status in a text, such as `API Error: 429 …` or `"statusCode":429`; null without one. */
export function findHttpStatus(text: string): number | null {
  const found =
    /(?:error|status|rejected|fail(?:s|ed) with|http(?:\/[\d.]+)?)(?: ?code)?["']?[:= (]+(?:status: )?([45]\d\d)\b|"code": ?([45]\d\d)\b|^\[?([45]\d\d)\b/i.exec(
      text,
    );
  const status = found?.slice(1).find((digits) => digits !== undefined);
  return status === undefined ? null : Number(status);
}

/** Classifies a failure of the model's API by its status and text. */
export function classifyError(status: number | null, text: string): EndCode | null {
  if ((status === null || status === 402 || status === 429 || status === 403) && SPENT.test(text))
    return 'budget_exceeded';
  if (status === 402 || ((status === null || status === 429 || status === 403) && USED_UP.test(text)))
    return 'usage_limit';
  if ((status === null || status === 400 || status === 413) && TOO_LONG.test(text)) return 'context_exceeded';
  if (status === 401 || status === 403) return 'auth_failed';
  if (status === 429 || status === 529 || status === 503) return 'rate_limited';
  // Some answer with 400 for a wrong key.
  if (status === 400 && /api[ _-]?key (?:not valid|is invalid)|API_KEY_INVALID/i.test(text))
    return 'auth_failed';
  if (status !== null) return 'model_error';
  if (TOO_FAST.test(text)) return 'rate_limited';
  if (NO_ENTRY.test(text)) return 'auth_failed';
  return OF_MODEL.test(text) ? 'model_error' : null;
}

/** Keys in an agent's output, which should not contain any but sometimes does. */
const SECRETS = /\b(?:sk|key|pk|AIza|ghp|gho|xox[a-z])[-_][\w-]{8,}|\bAIza[\w-]{20,}|(?<=Bearer )\S+/g;

/** Creates a failure in the agent's words. */
export function createFailure(
  code: EndCode,
  text: string,
  { resetAt, now = Date.now() }: { resetAt?: number | null; now?: number } = {},
): StreamFailure {
  const isLimit = code === 'usage_limit' || code === 'rate_limited';
  return {
    ok: false,
    code,
    text: toOneLine(text.slice(0, 4096).replace(SECRETS, '…'), 300),
    resetAt: resetAt ?? (isLimit ? findResetTime(text.slice(0, 4096), now) : null),
  };
}
