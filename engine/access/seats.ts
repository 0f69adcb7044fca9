import type { Seat } from '../operation.ts';

export interface SeatDeps {
  /** The mark of the run that a process belongs to, by itself or an ancestor; null for none. */
  markOf(pid: number): string | null;
  sessionOfRun(runId: string): { sessionId: string } | null;
  /** Whether a worker session of that id exists. */
  isWorkerSession(sessionId: string): boolean;
  /** Whether a session that is no worker's may have that name. */
  isPlainName(name: string): boolean;
}

export interface Claim {
  /** Null when the caller's process is not known. */
  pid: number | null;
  /** The run's mark, shown as a token. */
  runId: string | null;
  /** `SVC_SESSION` of the caller. */
  session: string | null;
}

/**
 * Whose seat a local caller has (03 §7). A run's mark on the caller, on any ancestor, or shown as a token makes it
 * that worker, so clearing variables does not raise a seat. A caller marked by a run that is not ours takes part as a
 * plain session, and so does one whose `SVC_SESSION` names no worker: naming a session can only lower a seat. This stops
 * agents that use the tools they are given, not a hostile program of the same user.
 */
export function seatOf(claim: Claim, deps: SeatDeps): { seat: Seat; sessionId: string | null } {
  const marks = [claim.pid === null ? null : deps.markOf(claim.pid), claim.runId].filter(
    (mark) => mark !== null,
  );
  for (const mark of marks) {
    const session = deps.sessionOfRun(mark);
    if (session) return { seat: 'worker', sessionId: session.sessionId };
  }
  const named = claim.session;
  if (named !== null && deps.isWorkerSession(named)) return { seat: 'worker', sessionId: named };
  if (named !== null) return { seat: 'plain', sessionId: deps.isPlainName(named) ? named : null };
  return { seat: marks.length === 0 ? 'chair' : 'plain', sessionId: null };
}
