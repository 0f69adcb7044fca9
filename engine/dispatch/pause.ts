import type { KeptAsks } from '../bus/index.ts';
import { UNTIL_ANSWERED } from '../core/api/state-words.ts';
import { backoffMs } from '../core/base/backoff.ts';
import { findFailure, type StreamFacts } from '../workers/agents/index.ts';
import type { RunResult } from '../workers/runner/runs/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import type { RunEnd, RunVerdict } from './verdict.ts';

/** A session that keeps meeting limits must end some day. */
const MOST_RUNS = 20;
/** After this many pauses in a row, each after a run that did nothing, the limit is not temporary. */
const MOST_IDLE_PAUSES = 5;
/** From the second of them on it waits at least this long, doubled each time. */
const BACKOFF = { firstMs: 30_000, longestMs: 10 * 60_000 };
/** A longer limit is not a pause: a weekly one is the longest common one. */
const LONGEST_MS = 8 * 86_400_000;
/** Grace for a promised time, which agents keep to the second. */
const MARGIN_MS = 1000;

/** When a session resumes, and why it is paused. */
export interface RunPause {
  /** Unix ms. */
  until: number;
  code: string;
  text: string;
  /** Including this one: pauses in a row, each after a run that did nothing. */
  idlePauses: number;
  /** True if the agent's own session is gone, and must not be requested again. */
  isLost?: true;
}

/**
 * Decides what follows a limit with a known end: a pause or, if pausing does not help, a failure of the session. Null
 * for any other end.
 */
export function decideAfterLimit(
  { clock, keys, sessions }: Pick<DispatchDeps, 'clock' | 'keys' | 'sessions'>,
  session: Session,
  verdict: RunVerdict,
  { end, trouble, toolCalls }: StreamFacts,
): { pause: RunPause } | { verdict: RunVerdict } | null {
  const { failure } = verdict;
  if (session.stopReason !== null || failure === null) return null;
  // For a run with its own login, a limit from the gateway belongs to an earlier run.
  const refusedUntil = session.auth === 'gateway' ? keys.limitedUntil(session.sessionId) : null;
  // A used-up budget of the gateway is a limit if its reset time is known.
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

/**
 * Decides what follows for a run whose machine has ended it, since it could not reach the engine for too long. Null for
 * any other end.
 */
export function decideWithoutEngine(
  { clock, machines }: Pick<DispatchDeps, 'clock' | 'machines'>,
  { runner, stopReason }: Session,
  { endedBy, code: exitCode, signal: exitSignal }: RunEnd,
): { pause: RunPause; verdict?: never } | { verdict: RunVerdict; pause?: never } | null {
  if (endedBy !== 'lease' || runner === null || stopReason !== null) return null;
  const { name, mayMove } = machines.explainLoss(runner);
  const text = `its machine ${name} could not reach the engine`;
  if (mayMove) return { pause: { until: clock.now(), code: 'runner_lost', text, idlePauses: 0 } };
  const failure = { code: 'runner_lost', text };
  return { verdict: { sealed: false, exitCode, exitSignal, failure, reason: text } };
}

/** Decides the pause of a session that was stopped because no one answered its question; null for any other end. */
export function decideUntilAnswered(
  { clock, questions }: Pick<DispatchDeps, 'clock' | 'questions'>,
  { sessionId, stopReason }: Session,
): RunPause | null {
  if (stopReason !== 'unanswered') return null;
  const kept = questions.keep(sessionId);
  const until = kept.open.length > 0 ? UNTIL_ANSWERED : clock.now();
  return { until, code: 'unanswered', text: describeQuestions(kept), idlePauses: 0 };
}

/** Describes the questions of a paused session as a clause, which its agent reads when it resumes. */
export function describeQuestions({ open, answered }: KeptAsks): string {
  if (open.length > 0)
    return `it waits for the answer to ${open.map(({ id, question }) => `ask ${id}: ${question}`).join('; ')}`;
  return answered
    .map(
      ({ id, question, answer, answeredBy }) =>
        `your ask ${id} (${question}) was answered by ${answeredBy}: ${answer}`,
    )
    .join('; ');
}

const shortestPauseMs = (idlePauses: number): number =>
  idlePauses < 2 ? 0 : backoffMs(idlePauses - 1, BACKOFF);

const giveUp = (verdict: RunVerdict, why: string): { verdict: RunVerdict } => ({
  verdict: {
    ...verdict,
    failure: { code: 'rate_limited', text: `${why}; last failure: ${verdict.failure?.text ?? ''}` },
    reason: why,
  },
});

/**
 * Restarts a run immediately if its agent does not have the session to resume, with a summary of the earlier work.
 * Null for any other end.
 */
export function decideFreshStart(
  { clock, sessions }: Pick<DispatchDeps, 'clock' | 'sessions'>,
  session: Session,
  { failure }: RunVerdict,
  { facts, hasLostSession }: Pick<RunResult, 'facts' | 'hasLostSession'>,
): RunPause | null {
  const wentOn = session.runs > 1 || session.continues !== null;
  if (session.stopReason !== null || session.runs >= MOST_RUNS || !wentOn) return null;
  if (failure === null || !hasLostSession || facts.toolCalls > 0) return null;
  const text = 'its agent no longer had the conversation to resume';
  const { idlePauses } = sessions.private(session.sessionId);
  return { until: clock.now(), code: 'agent_error', text, idlePauses, isLost: true };
}
