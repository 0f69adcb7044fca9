import { z } from 'zod';
import { type Caller, toWire } from '../core/api/operation.ts';
import { SvcError } from '../core/base/errors.ts';
import type { SeatOfRun } from '../workers/runner/index.ts';
import type { ProcessName } from '../workers/runner/processes/index.ts';
import { admitCaller, noteCallerSeen } from './admit.ts';
import type { Engine } from './compose/compose.ts';
import { parseParameters } from './parse-parameters.ts';
import { PROTOCOL } from './wire.ts';

const helloInput = z.object({
  protocol: z.number(),
  /** Its own pid, which differs inside a pid namespace and so decides nothing. */
  pid: z.int().positive(),
  actor: z.string().min(1).max(200),
  via: z.enum(['cli', 'tui', 'tool']),
  run_id: z.string().nullable(),
  cwd: z.string(),
  attends: z.boolean(),
  env: z.record(z.string(), z.string()),
});

/** The origin of a connection: a process, as the kernel knows it, or a worker's own socket. */
export interface ConnectionOrigin {
  /** Null when unknown. */
  process: ProcessName | null;
  run: SeatOfRun | null;
}

/** Admits the client of a connection by its hello, and holds its seat until it has gone. */
export function createGreeting(
  engine: Engine,
  { process: holder, run }: ConnectionOrigin,
  { gone, onAdmitted }: { gone: AbortSignal; onAdmitted(): void },
) {
  /** Set by hello; a client may send calls without waiting for its welcome. */
  let admitted: Promise<Caller> | null = null;
  let isGreeted = false;
  /** Releases the seat that the client holds. */
  let depart = (): void => undefined;

  async function greet(params: unknown): Promise<unknown> {
    const hello = parseParameters(helloInput, params);
    if (hello.protocol !== PROTOCOL) {
      throw new SvcError(
        'conflict',
        `the engine speaks protocol ${PROTOCOL}, this client ${hello.protocol}`,
        {
          hint:
            hello.protocol > PROTOCOL
              ? 'the engine is the older one: svc down, then svc up; workers continue'
              : 'this client is the older one: start it again, with the version of the engine',
        },
      );
    }
    if (admitted !== null) throw new SvcError('usage', 'a connection may send hello only once');
    isGreeted = true;
    const { actor, via, cwd, attends, env, run_id: runId } = hello;
    const standing = engine.standingOf(run === null ? holder : null);
    admitted = admitCaller(engine, { standing, holder, runId, actor, via, cwd, attends, env }, run);
    admitted.then(onAdmitted, () => {
      isGreeted = false;
    });
    const caller = await admitted;
    if (hello.attends && caller.sessionId !== null && caller.seat !== 'worker') {
      depart();
      if (!gone.aborted) depart = engine.holdSeat(caller.sessionId);
    }
    const { root, version } = engine;
    const workspace = engine.config().workspace.name;
    const { logId } = engine.events;
    return toWire({
      pid: process.pid,
      version,
      root,
      data: engine.paths.data,
      workspace,
      seat: caller.seat,
      sessionId: caller.sessionId,
      logId,
      lastSeq: engine.events.lastSeq(),
    });
  }

  async function waitForCaller(): Promise<Caller> {
    if (admitted === null) throw new SvcError('usage', 'the first call of a connection must be hello');
    const caller = await admitted;
    noteCallerSeen(engine, caller);
    return caller;
  }

  return { greet, waitForCaller, isGreeted: () => isGreeted, depart: () => depart() };
}
