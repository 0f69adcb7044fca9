import { SvcError } from '../../../core/base/errors.ts';
import { platform } from '../../../core/platform/index.ts';
import { openKnownSessions } from '../../../core/workspace/known-sessions.ts';
import { findLostEngine } from '../../../core/workspace/lost-engine.ts';
import { isInSandbox } from '../../../core/workspace/seat-folder.ts';
import { ENGINE_MARK, probeLiveness } from './marks.ts';
import { createProcesses, type ProcessesDeps } from './processes.ts';
import type { ProcessName, ProcessOrigin } from './trace.ts';

/** Traces this very process, without an engine. */
function traceOwnProcess(lost: Pick<ProcessesDeps, 'lostEngine' | 'knownSessions'> = {}): ProcessOrigin {
  const processes = createProcesses(lost);
  try {
    return processes.traceWithoutEngine(process.pid);
  } finally {
    void processes.close();
  }
}

/**
 * Reports whether this process belongs to a run, or to another process that an engine has started: processes that it
 * starts would inherit that environment and not the person's.
 */
export function isInsideRun(env: NodeJS.ProcessEnv): boolean {
  if (env.SVC_RUN_ID || env[ENGINE_MARK] || isInSandbox()) return true;
  const { runs, isOfEngine } = traceOwnProcess();
  return runs.length > 0 || isOfEngine;
}

/**
 * Reports whether this process must not start the engine of a data folder: it belongs to a run or an engine, or an
 * engine of that folder was killed and may have left it behind.
 */
export function mustNotStartEngine(data: string, env: NodeJS.ProcessEnv): boolean {
  if (isInsideRun(env)) return true;
  const lostEngine = findLostEngine(data);
  if (lostEngine === null) return false;
  return traceOwnProcess({ lostEngine, knownSessions: openKnownSessions(data) }).doubt !== null;
}

/** Reports whether a recorded process still runs; true also if that is unknown. */
export const isStillRunning = ({ pid, pidStart }: ProcessName): boolean =>
  probeLiveness(platform.processes, pid, pidStart) !== 'dead';

/**
 * Refuses an action of the Chair to a process that belongs to a run or a session, if no engine is running that could
 * decide about its seat. Throws `chair_only`.
 * @param what the action as a clause's subject: `svc trust`
 */
export function refuseInsideRun(what: string, env: NodeJS.ProcessEnv): void {
  const { runs, doubt } = traceOwnProcess();
  const isMarked = runs.length > 0 || Boolean(env.SVC_RUN_ID || env.SVC_SESSION);
  if (!isMarked && doubt === null) return;
  const why = isMarked ? 'this process belongs to a session' : (doubt ?? '');
  throw new SvcError('chair_only', `${what} is for the Chair seat: ${why}`, {
    hint: 'ask the person or agent in the Chair seat to do it',
  });
}

/**
 * Returns the start time of a process, which identifies it together with its pid; null if it is gone, or the machine
 * does not report it.
 */
export function readProcessStart(pid: number): string | null {
  const entry = platform.processes.read(pid);
  return typeof entry === 'object' ? entry.start : null;
}
