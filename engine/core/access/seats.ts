import type { Seat } from '../api/operation.ts';
import { SvcError } from '../base/errors.ts';

export interface SeatDeps {
  sessionOfRun(runId: string): { sessionId: string } | null;
  /** Reports whether a worker session of that id exists. */
  isWorkerSession(sessionId: string): boolean;
  /** Reports whether a session other than a worker's may have that name. */
  isPlainName(name: string): boolean;
}

export interface SeatClaim {
  /** The runs of the caller's process and its ancestors, nearest first. */
  runs: readonly string[];
  /** Why the process cannot be trusted to be a person's; null if every required fact is known. */
  doubt: string | null;
  /** The run's mark, presented as a token. */
  runId: string | null;
  /** `SVC_SESSION` of the caller. */
  session: string | null;
}

export interface DecidedSeat {
  seat: Seat;
  sessionId: string | null;
  /** Why the seat is not the Chair's, as a clause; null for the Chair, and for a worker, where it is obvious. */
  reason: string | null;
}

/**
 * Decides the seat of a local caller (03 §7). A caller inside a run, or with the mark of a run as its token, is that
 * worker. Lacking a mark does not make a caller the Chair: the machine must identify the living process, and no
 * ancestor may belong to a run or the engine. Naming a session can only lower a seat. Throws `fields_invalid` for an
 * invalid session name.
 */
export function decideSeat(claim: SeatClaim, deps: SeatDeps): DecidedSeat {
  // Check all: a forged one must not hide the real run around it.
  const marks = [...claim.runs, ...(claim.runId === null ? [] : [claim.runId])];
  for (const mark of marks) {
    const session = deps.sessionOfRun(mark);
    if (session) return { seat: 'worker', sessionId: session.sessionId, reason: null };
  }
  const named = claim.session;
  if (named !== null && deps.isWorkerSession(named))
    return { seat: 'worker', sessionId: named, reason: null };
  if (named !== null) {
    const isName = deps.isPlainName(named);
    // In a run of another workspace this is that workspace's name, which no one here chose.
    if (!isName && marks.length === 0) throw noSuchNameError(named);
    return { seat: 'plain', sessionId: isName ? named : null, reason: 'SVC_SESSION names a session' };
  }
  const reason = marks.length > 0 ? 'it belongs to a run of another workspace' : claim.doubt;
  return { seat: reason === null ? 'chair' : 'plain', sessionId: null, reason };
}

const noSuchNameError = (named: string): SvcError =>
  new SvcError(
    'fields_invalid',
    `SVC_SESSION is ${JSON.stringify(named)}, which is neither a session id nor a valid name`,
    {
      hint: 'unset it, or choose a name: letters, digits, . _ -, but not one like s-1, chair or me',
      data: { fields: [{ field: 'SVC_SESSION', problem: 'is neither a session id nor a valid name' }] },
    },
  );
