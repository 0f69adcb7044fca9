import type { Session } from '../../bus/sessions/index.ts';
import { failureOf } from '../failures.ts';
import type { StreamFacts } from '../streams/stream.ts';
import type { DispatchDeps } from './context.ts';
import type { Verdict } from './finish.ts';
import type { Hearing } from './hear.ts';

/** A session that meets limits again and again must end some day. */
const MOST_RUNS = 20;
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
  /** The agent's own session is gone, and is not to be asked for again. */
  isLost?: true;
}

/** The pause that an end really is: a limit whose end is known. Null for any other end. */
export function pauseOf(
  { clock, keys }: Pick<DispatchDeps, 'clock' | 'keys'>,
  session: Session,
  { failure }: Verdict,
  { end, trouble }: StreamFacts,
): Pause | null {
  if (session.stopReason !== null || session.runs >= MOST_RUNS) return null;
  if (failure === null || !failureOf(failure.code)?.isLimit) return null;
  const told = end?.ok === false ? end.resetAt : (trouble?.resetAt ?? null);
  // Of a run with its own login, a limit that the gateway told an earlier one is none of its own.
  const resetAt = told ?? (session.auth === 'gateway' ? keys.limitedUntil(session.sessionId) : null);
  if (resetAt === null) return null;
  const now = clock.now();
  if (resetAt - now > LONGEST_MS) return null;
  return { until: Math.max(resetAt, now) + MARGIN_MS, ...failure };
}

/**
 * A run that was to go on with a session which its agent does not have: it begins anew at once, with what was done so
 * far. Null for any other end.
 */
export function anewOf(
  { clock }: Pick<DispatchDeps, 'clock'>,
  session: Session,
  { failure }: Verdict,
  hearing: Hearing,
): Pause | null {
  const wentOn = session.runs > 1 || session.continues !== null;
  if (session.stopReason !== null || session.runs >= MOST_RUNS || !wentOn) return null;
  if (failure === null || !hearing.hasLost() || hearing.facts().toolCalls > 0) return null;
  const text = 'its agent no longer had the conversation that it was to go on with';
  return { until: clock.now(), code: 'agent_error', text, isLost: true };
}
