import { backoffMs } from '../core/base/backoff.ts';
import { findFailure, type StreamFacts } from '../workers/agents/index.ts';
import type { RunResult } from '../workers/runner/runs/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import type { Verdict } from './verdict.ts';

/** A session that meets limits again and again must end some day. */
const MOST_RUNS = 20;
/** So many pauses in a row, each after a run that did nothing, and its limit is none that passes. */
const MOST_IDLE_PAUSES = 5;
/** From the second of them on it waits at least so long, twice as long each time. */
const BACKOFF = { firstMs: 30_000, longestMs: 10 * 60_000 };
/** A limit that lasts longer is no pause: a weekly one is the longest that is common. */
const LONGEST_MS = 8 * 86_400_000;
/** Those who promise a time keep it to the second. */
const MARGIN_MS = 1000;

/** When a session goes on, and why it does not now. */
export interface Pause {
  /** Unix ms. */
  until: number;
  code: string;
  text: string;
  /** With this one: pauses in a row, each after a run that did nothing. */
  idlePauses: number;
  /** The agent's own session is gone, and is not to be asked for again. */
  isLost?: true;
}

/**
 * Decides what follows a limit whose end is known: a pause, or, when pausing does not help, the verdict that the session has failed.
 * Null for any other end.
 */
export function decideAfterLimit(
  { clock, keys, sessions }: Pick<DispatchDeps, 'clock' | 'keys' | 'sessions'>,
  session: Session,
  verdict: Verdict,
  { end, trouble, toolCalls }: StreamFacts,
): { pause: Pause } | { verdict: Verdict } | null {
  const { failure } = verdict;
  if (session.stopReason !== null || failure === null) return null;
  // Of a run with its own login, a limit that the gateway told an earlier one is none of its own.
  const refusedUntil = session.auth === 'gateway' ? keys.limitedUntil(session.sessionId) : null;
  // A spent budget of the gateway is a limit where it is known when it is filled again.
  const isBudget = failure.code === 'budget_exceeded' && refusedUntil !== null && refusedUntil > clock.now();
  if (!isBudget && !findFailure(failure.code)?.isLimit) return null;
  const told = end?.ok === false ? end.resetAt : (trouble?.resetAt ?? null);
  const resetAt = told ?? refusedUntil;
  if (resetAt === null) return null;
  const now = clock.now();
  if (resetAt - now > LONGEST_MS) return null;
  const idlePauses = toolCalls > 0 ? 0 : sessions.private(session.sessionId).idlePauses + 1;
  if (idlePauses > MOST_IDLE_PAUSES)
    return giveUp(verdict, `it reached its limit again after ${MOST_IDLE_PAUSES} pauses without progress`);
  if (session.runs >= MOST_RUNS) return giveUp(verdict, `it reached a limit in each of ${session.runs} runs`);
  const until = Math.max(resetAt, now + shortestPauseMs(idlePauses)) + MARGIN_MS;
  return { pause: { until, code: failure.code, text: failure.text, idlePauses } };
}

const shortestPauseMs = (idlePauses: number): number =>
  idlePauses < 2 ? 0 : backoffMs(idlePauses - 1, BACKOFF);

const giveUp = (verdict: Verdict, why: string): { verdict: Verdict } => ({
  verdict: {
    ...verdict,
    failure: { code: 'rate_limited', text: `${why}; last failure: ${verdict.failure?.text ?? ''}` },
    reason: why,
  },
});

/**
 * Lets a run that was to resume a session which its agent does not have begin anew at once, with what was done so far.
 * Null for any other end.
 */
export function decideFreshStart(
  { clock, sessions }: Pick<DispatchDeps, 'clock' | 'sessions'>,
  session: Session,
  { failure }: Verdict,
  { facts, hasLostSession }: Pick<RunResult, 'facts' | 'hasLostSession'>,
): Pause | null {
  const wentOn = session.runs > 1 || session.continues !== null;
  if (session.stopReason !== null || session.runs >= MOST_RUNS || !wentOn) return null;
  if (failure === null || !hasLostSession || facts.toolCalls > 0) return null;
  const text = 'its agent no longer had the conversation to resume';
  const { idlePauses } = sessions.private(session.sessionId);
  return { until: clock.now(), code: 'agent_error', text, idlePauses, isLost: true };
}
