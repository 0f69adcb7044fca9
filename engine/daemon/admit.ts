import { decideSeat, type SeatClaim } from '../access/index.ts';
import { type Caller, checkLocalActor, type Via } from '../api/operation.ts';
import { accountName } from '../base/account.ts';
import type { Engine } from '../compose.ts';
import type { SeatOfRun } from '../runner/index.ts';
import type { ProcessName, ProcessOrigin } from '../runner/processes/index.ts';

/** Who asks to be let in, by socket or HTTP. */
export interface Arrival {
  /** What the machine tells of the process, or the processes, that the connection is from; never what they say. */
  standing: ProcessOrigin;
  /** The process that holds the seat while it lives; null when that is not known, or when it may have other clients. */
  holder: ProcessName | null;
  runId: string | null;
  actor: string;
  via: Via;
  /** Where the caller stands; decides whose project's Chair it is. */
  cwd: string | null;
  env: Readonly<Record<string, string | undefined>>;
  /** It stays and takes part: a Chair gets a session of its own. */
  attends: boolean;
}

/**
 * Decides the caller's seat and puts it on the register.
 * @param run the worker whose own socket it came by: then it is that one, whatever it says
 */
export async function admit(engine: Engine, arrival: Arrival, run: SeatOfRun | null = null): Promise<Caller> {
  const { standing, holder, runId, via, env, attends } = arrival;
  checkLocalActor(arrival.actor);
  if (run !== null) {
    const { sessionId } = run;
    const project = engine.projectAt(arrival.cwd);
    const actor = accountName();
    return { seat: 'worker', actor, via, sessionId, project, env: { ...env, SVC_SESSION: sessionId } };
  }
  const claim: SeatClaim = { ...standing, runId, session: env.SVC_SESSION || null };
  const { seat, sessionId, reason } = decideSeat(claim, engine.seats);
  const project = engine.projectAt(arrival.cwd);
  // Who acts is the word of a person; what may be an agent's or a run's is the engine's user.
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
