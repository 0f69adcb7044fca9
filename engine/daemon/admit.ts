import { decideSeat, type SeatClaim } from '../core/access/index.ts';
import { type Caller, type CallTransport, checkLocalActor } from '../core/api/operation.ts';
import { accountName } from '../core/base/account.ts';
import type { SeatOfRun } from '../workers/runner/index.ts';
import type { ProcessName, ProcessOrigin } from '../workers/runner/processes/index.ts';
import type { Engine } from './compose/compose.ts';

/** A client that connects, by socket or HTTP. */
export interface ConnectionArrival {
  /** The machine's facts about the processes behind the connection; never their own claims. */
  standing: ProcessOrigin;
  /** The process that holds the seat while it lives; null if unknown, or if it may serve other clients. */
  holder: ProcessName | null;
  runId: string | null;
  actor: string;
  via: CallTransport;
  /** The working folder that the caller names; determines whose project's Chair it is. */
  cwd: string | null;
  env: Readonly<Record<string, string | undefined>>;
  /** True if it stays and joins: a Chair gets its own session. */
  attends: boolean;
}

/**
 * Determines the caller's seat and registers it.
 * @param run the worker whose own socket it connected to: then it is that worker, regardless of its claims
 */
export async function admitCaller(
  engine: Engine,
  arrival: ConnectionArrival,
  run: SeatOfRun | null = null,
): Promise<Caller> {
  const { standing, holder, runId, via, env, attends } = arrival;
  checkLocalActor(arrival.actor);
  if (run !== null) {
    const { sessionId } = run;
    const project = engine.projectOf(sessionId);
    const actor = accountName();
    return { seat: 'worker', actor, via, sessionId, project, env: { ...env, SVC_SESSION: sessionId } };
  }
  const claim: SeatClaim = { ...standing, runId, session: env.SVC_SESSION || null };
  const { seat, sessionId, reason } = decideSeat(claim, engine.seats);
  // A worker's project is its session's, regardless of its claims.
  const isWorker = seat === 'worker' && sessionId !== null;
  const project = isWorker ? engine.projectOf(sessionId) : engine.projectAt(arrival.cwd);
  // Only a person may name the actor; for a possible agent or run, it is the engine's user.
  const isPersons = seat !== 'worker' && standing.doubt === null;
  const actor = isPersons ? arrival.actor : accountName();
  const caller: Caller = { seat, actor, via, sessionId, project, env, notChair: reason };
  if (seat === 'chair' && !attends) return caller;
  if (seat === 'worker' || (seat === 'plain' && sessionId === null)) return caller;
  const opened = await engine.attend({
    kind: seat,
    name: sessionId,
    project,
    agent: env.SVC_AGENT || null,
    title: env.SVC_SESSION_NAME || null,
    notifyBase: env.SVC_NOTIFY_URL || null,
    pid: attends ? (holder?.pid ?? null) : null,
  });
  return { ...caller, sessionId: opened.sessionId };
}

/** Keeps the seat of a caller that has just sent something; a worker's is its run's. */
export function noteCallerSeen(engine: Pick<Engine, 'seatSeen'>, { seat, sessionId }: Caller): void {
  if (sessionId !== null && seat !== 'worker') engine.seatSeen(sessionId);
}
