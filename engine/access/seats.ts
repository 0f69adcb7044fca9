import type { Seat } from '../operation.ts';

export interface SeatDeps {
  /** The mark of the run that a process belongs to, by itself or an ancestor; null for none. */
  markOf(pid: number): string | null;
  sessionOfRun(runId: string): { sessionId: string } | null;
}

/**
 * Whose seat a local caller has (03 §7). A run's mark on the caller, on any ancestor, or shown as a token makes it
 * that worker, so clearing variables does not raise a seat. A caller marked by a run that is not ours takes part as a
 * plain session. This stops agents that use the tools they are given, not a hostile program of the same user.
 */
export function seatOf(
  caller: { pid: number; runId: string | null },
  deps: SeatDeps,
): { seat: Seat; sessionId: string | null } {
  const marks = [deps.markOf(caller.pid), caller.runId].filter((mark) => mark !== null);
  for (const mark of marks) {
    const session = deps.sessionOfRun(mark);
    if (session) return { seat: 'worker', sessionId: session.sessionId };
  }
  return { seat: marks.length === 0 ? 'chair' : 'plain', sessionId: null };
}
