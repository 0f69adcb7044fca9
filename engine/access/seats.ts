import type { Seat } from '../operation.ts';

export interface SeatDeps {
  /** The marks of the runs that a process belongs to, by itself and its ancestors, the nearest first. */
  marksOf(pid: number): string[];
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
  // All of them: one that the caller has made up must not hide the run around it.
  const marks = [
    ...(claim.pid === null ? [] : deps.marksOf(claim.pid)),
    ...(claim.runId === null ? [] : [claim.runId]),
  ];
  for (const mark of marks) {
    const session = deps.sessionOfRun(mark);
    if (session) return { seat: 'worker', sessionId: session.sessionId };
  }
  const named = claim.session;
  if (named !== null && deps.isWorkerSession(named)) return { seat: 'worker', sessionId: named };
  if (named !== null) return { seat: 'plain', sessionId: deps.isPlainName(named) ? named : null };
  return { seat: marks.length === 0 ? 'chair' : 'plain', sessionId: null };
}
