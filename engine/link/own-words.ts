import { ERROR_MEANINGS } from '../core/base/error-meanings.ts';
import { isErrorCode } from '../core/base/errors.ts';
import { findFailure } from '../workers/agents/index.ts';

// Reasons leave in words of svc only. What somebody typed, names of files and answers of programs stay: a reason is taken
// from the lists here, and whatever is in none of them is left out.

const WHOLE = new Set([
  'the request did not ask for dispatch',
  'a task from an untrusted author always needs approval',
  'approved in the request, which did not ask for dispatch',
]);

/** What begins like this, or ends, is said without the part that names somebody or something. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [
    /^the request did not carry one \(webhook\.require_approval\)$/,
    'the request did not carry an approval (webhook.require_approval)',
  ],
  [/^the prompt was edited by /, 'the prompt was edited'],
  [/^the agent was changed to /, 'the agent was changed'],
  [/^a race was requested by /, 'a race was requested'],
  [/^run by /, 'a person ran it'],
  [/ is not in policy\.actors$/, 'the requester is not in policy.actors'],
];

const CHANGED = /^what would run has changed since d-\d+: [a-z][a-z ,_-]{0,200}$/;

/** Why a decision waits. */
export function describeWait(why: string, stranger: string | null): string {
  const prefix = `untrusted author: ${stranger}; `;
  const isStranger = stranger !== null;
  const own = isStranger && why.startsWith(prefix) ? why.slice(prefix.length) : why;
  const known = WHOLE.has(own) || CHANGED.test(own) ? own : PARTS.find(([pattern]) => pattern.test(own))?.[1];
  return `${isStranger ? 'untrusted author; ' : ''}${known ?? 'a person must review it'}`;
}

/** What a code means, with the code; null for one that is in no list. */
export function describeCode(code: unknown): string | null {
  if (typeof code !== 'string') return null;
  const meaning = findFailure(code) ?? (isErrorCode(code) ? ERROR_MEANINGS[code] : null);
  return meaning === null ? null : `${code}: ${meaning.means}`.slice(0, 300);
}
