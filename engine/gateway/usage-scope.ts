import type { Caller } from '../core/api/operation.ts';
import { asWorkerSession } from '../core/base/ids.ts';

/** Whose calls are told of. */
export interface UsageScope {
  /** A session; null for everybody's, '' for nobody's. */
  session: string | null;
  /** Its number in the books; null for everybody's. */
  number: number | null;
}

/** What no session has: of the calls of a plain seat none are booked under it. */
const NOBODY = 0;

/** The Chair is told of everybody's calls, anybody else of those of its own session. */
export function scopeUsage({ seat, sessionId }: Pick<Caller, 'seat' | 'sessionId'>): UsageScope {
  if (seat === 'chair') return { session: null, number: null };
  const own = asWorkerSession(sessionId);
  return { session: sessionId ?? '', number: own === null ? NOBODY : Number(own.slice(2)) };
}
