import { seatOf } from '../access/seats.ts';
import type { Engine } from '../compose.ts';
import { type Caller, checkLocalActor, type Via } from '../operation.ts';
import type { SeatOfRun } from './run-sockets.ts';

/** Who asks to be let in, by socket or HTTP. */
export interface Arrival {
  /** Null when it is not known. */
  pid: number | null;
  runId: string | null;
  actor: string;
  via: Via;
  /** Where the caller stands; decides whose project's Chair it is. */
  cwd: string | null;
  env: Readonly<Record<string, string | undefined>>;
  /** It stays and takes part: a Chair gets a session of its own. */
  attends: boolean;
  /** Its process may have more than one client in it, so it is not what holds the seat. */
  isShared?: boolean;
}

/**
 * Decides the caller's seat and puts it on the register.
 * @param run the worker whose own socket it came by: then it is that one, whatever it says
 */
export async function admit(engine: Engine, arrival: Arrival, run: SeatOfRun | null = null): Promise<Caller> {
  const { pid, runId, actor, via, env, attends } = arrival;
  checkLocalActor(actor);
  if (run !== null) {
    const { sessionId } = run;
    const project = engine.projectAt(arrival.cwd);
    return { seat: 'worker', actor, via, sessionId, project, env: { ...env, SVC_SESSION: sessionId } };
  }
  const given = env.SVC_SESSION || null;
  const { seat, sessionId } = seatOf({ pid, runId, session: given }, engine.seats);
  const project = engine.projectAt(arrival.cwd);
  const caller: Caller = { seat, actor, via, sessionId, project, env };
  if (seat === 'chair' && !attends) return caller;
  if (seat === 'worker' || (seat === 'plain' && sessionId === null)) return caller;
  const opened = await engine.attend({
    kind: seat,
    name: sessionId,
    project,
    agent: env.SVC_AGENT || null,
    title: env.SVC_SESSION_NAME || null,
    notifyBase: env.SVC_NOTIFY_URL || null,
    pid: attends && arrival.isShared !== true ? pid : null,
  });
  return { ...caller, sessionId: opened.sessionId };
}
