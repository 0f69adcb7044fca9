import type { EndCode } from '../../engine/index.ts';

/** Why a run failed, as its last line says it. */
export interface Failure {
  code: EndCode;
  text: string;
  /** When a limit is over, Unix ms. */
  resetAt: number | null;
}

const LONGEST = 400;
/** `RequestError.authRequired` of the protocol. */
const AUTH_REQUIRED = -32_000;

/**
 * Agents tell a failure of the model in a sentence and a field or two of their own, so the words decide, the most
 * particular first.
 */
const WORDS: readonly (readonly [EndCode, RegExp])[] = [
  [
    'context_exceeded',
    /ContextOverflow|prompt is too long|context[ _](?:length|window|limit)|maximum context|too large to compact/i,
  ],
  ['budget_exceeded', /budget/i],
  [
    'usage_limit',
    /usage limit|hit your (?:\w+ )?limit|limit reached|insufficient_quota|exceeded your current quota|credit balance|billing|payment required|\b402\b/i,
  ],
  ['rate_limited', /\b(?:429|529)\b|rate[ _-]?limit|too many requests|overloaded|RESOURCE_EXHAUSTED/i],
  [
    'auth_failed',
    /\b(?:401|403)\b|unauthori[sz]ed|authentication|not logged in|log ?in required|(?:invalid|incorrect) (?:x-)?api[ -]?key|api key not valid|ProviderAuth/i,
  ],
  [
    'model_error',
    /API ?Error|server_error|invalid_request|not_found_error|provider_error|ModelNotFound|\b[45]\d\d\b|fetch failed|ECONNREFUSED|unable to connect/i,
  ],
];

/** The failure that an agent's error is. `limitedUntil` is when a plan's limit ends, where the agent has told that. */
export function failureOf(error: unknown, limitedUntil: number | null = null): Failure {
  const { code, message = String(error), data } = error as Record<string, unknown>;
  const text = plain(String(message));
  const told = `${text} ${data === undefined ? '' : JSON.stringify(data)}`;
  const resetAt = limitedUntil ?? resetOf(told);
  if (code === AUTH_REQUIRED) return { code: 'auth_failed', text, resetAt: null };
  const found = WORDS.find(([, words]) => words.test(told))?.[0] ?? 'agent_error';
  if (found === 'rate_limited' && limitedUntil !== null) return { code: 'usage_limit', text, resetAt };
  const isLimit = found === 'rate_limited' || found === 'usage_limit';
  return { code: found, text, resetAt: isLimit ? resetAt : null };
}

/** Without what the protocol's library puts before it, and out of the JSON that some pass on. */
function plain(message: string): string {
  const text = message.replace(/^Internal error: /, '');
  try {
    const inner = (JSON.parse(text) as { error?: { message?: unknown } }).error?.message;
    if (typeof inner === 'string') return short(inner);
  } catch {
    // A sentence, as it should be.
  }
  return short(text);
}

export const short = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text;

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };

function resetOf(told: string, now: number = Date.now()): number | null {
  const epoch = /\|(\d{10})\b/.exec(told)?.[1];
  if (epoch !== undefined) return Number(epoch) * 1000;
  const [, amount, unit = ''] = /(?:retry|try again) (?:after|in) (\d+(?:\.\d+)?) ?([smh])/i.exec(told) ?? [];
  return amount === undefined ? null : now + Math.ceil(Number(amount) * (UNITS[unit.toLowerCase()] ?? 0));
}

/** Takes the values of secrets out of a text: an agent's error may repeat the key that was refused. */
export function withoutSecrets(env: NodeJS.ProcessEnv): (text: string) => string {
  const secrets = Object.entries(env).flatMap(([name, value = '']) =>
    /(?:KEY|TOKEN|SECRET|PASSWORD)$/.test(name) && value.length >= 8 ? [value] : [],
  );
  return (text) => secrets.reduce((clean, secret) => clean.replaceAll(secret, '…'), text);
}
