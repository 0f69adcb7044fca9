import type { Caller } from '../core/api/operation.ts';
import { asWorkerSession } from '../core/base/ids.ts';

/** The scope of reported calls. */
export interface UsageScope {
  /** A session; null for all calls, '' for none. */
  session: string | null;
  /** Its number in the books; null for all calls. */
  number: number | null;
}

/** Matches no session: a plain seat has no calls in the books. */
const NOBODY = 0;

/** Returns the scope of a caller: the Chair sees all calls, any other caller only its own session. */
export function scopeUsage({ seat, sessionId }: Pick<Caller, 'seat' | 'sessionId'>): UsageScope {
  if (seat === 'chair') return { session: null, number: null };
  const own = asWorkerSession(sessionId);
  return { session: sessionId ?? '', number: own === null ? NOBODY : Number(own.slice(2)) };
}
