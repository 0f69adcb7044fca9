import { type CommandExpectation, NO_FACTS, type StreamFacts } from '../workers/agents/index.ts';
import type { RunExit } from '../workers/runner/runs/index.ts';
import type { Session, StopReason } from '../workers/sessions/index.ts';

/** The meaning of a session's end. */
export interface RunVerdict {
  sealed: boolean;
  exitCode: number | null;
  exitSignal: string | null;
  /** For this machine; may name its paths. */
  failure: { code: string; text: string } | null;
  /** The agent's last obstacle when it was stopped; left out if that is unrelated. */
  cause?: { code: string; text: string };
  /** The same for events: no path, no output. */
  reason: string | null;
}

/** How a run ended. */
export interface RunEnd extends RunExit {
  /** True if svc ended it; left out if that is unknown. */
  wasStopped?: boolean;
}

/** The reason for a session that is stopped while nothing of it runs. */
export const NEVER: RunExit = { code: null, signal: null };

/** Its output compared with the expectation. */
export interface PrintedResult {
  expects: CommandExpectation;
  hasSpoken: boolean;
}

/** Shells report a death by signal as 128 + its number; only signals that are not also common exit codes. */
const SIGNAL_EXITS = new Map([
  [130, 'SIGINT'],
  [134, 'SIGABRT'],
  [137, 'SIGKILL'],
  [139, 'SIGSEGV'],
  [143, 'SIGTERM'],
]);

/**
 * Interprets an end. The reason for a stop comes first, since the exit code of a stopped program means nothing; then
 * the agent's own report, since many exit with 0 after any failure; then the exit code.
 */
export function decideVerdict(
  session: Session,
  exit: RunEnd,
  facts: StreamFacts = NO_FACTS,
  { expects, hasSpoken }: PrintedResult = { expects: 'nothing', hasSpoken: true },
): RunVerdict {
  const signal = exit.signal ?? (exit.code === null ? null : (SIGNAL_EXITS.get(exit.code) ?? null));
  const base = { exitCode: exit.code, exitSignal: signal };
  const failed = (code: string, text: string, reason = text): RunVerdict => ({
    ...base,
    sealed: false,
    failure: { code, text },
    reason,
  });
  const byItself = ({ code, text }: NonNullable<StreamFacts['trouble']>): RunVerdict =>
    // A program's text may contain anything; events only get the code.
    failed(code, `${session.agent}: ${text}`, `${session.agent} ended with ${code}`);

  if (session.stopReason !== null) return judgeStopped(session, session.stopReason, facts, failed);
  // It reported its end, and was then ended before it exited. If no engine saw that, it was not svc.
  const isCutOff = signal !== null && !exit.wasStopped;
  if (facts.end !== null && !(facts.end.ok && isCutOff))
    return facts.end.ok ? { ...base, sealed: true, failure: null, reason: null } : byItself(facts.end);
  if (signal !== null) return failed('killed', `${session.agent} was killed by ${signal}`);
  if (exit.code === null)
    return failed('lost', `${session.agent} ended while no engine was running, and left no exit code`);
  if (exit.code !== 0 && facts.trouble !== null) return byItself(facts.trouble);
  if (exit.code !== 0) return failed('exit_code', `${session.agent} exited with code ${exit.code}`);
  if (facts.isStream)
    return facts.trouble === null
      ? failed('agent_error', `${session.agent} stopped midway: it exited with code 0 without an end`)
      : byItself(facts.trouble);
  if (facts.trouble !== null) return byItself(facts.trouble);
  if (expects === 'stream' || (expects === 'words' && !hasSpoken))
    return failed('no_result', `${session.agent} exited with code 0 and reported no result`);
  return { ...base, sealed: true, failure: null, reason: null };
}

/** At a limit of svc the agent's last obstacle is reported, and counts for suspending the agent. */
function judgeStopped(
  session: Session,
  reason: StopReason,
  { end, trouble }: StreamFacts,
  failed: (code: string, text: string, reason?: string) => RunVerdict,
): RunVerdict {
  const text = STOPPED[reason](session);
  // It ends only if its task is over: otherwise it pauses.
  if (reason === 'unanswered') return failed('cancelled', text);
  if (reason === 'cancelled' || end !== null || trouble === null) return failed(reason, text);
  const { code } = trouble;
  const whole = `${text}, while ${session.agent} was retrying after ${code}: ${trouble.text}`;
  return {
    ...failed(reason, whole, `${text}, while ${session.agent} was retrying after ${code}`),
    cause: { code, text: trouble.text },
  };
}

const STOPPED: Record<StopReason, (session: Session) => string> = {
  timeout: (session) => `stopped after ${session.timeoutSec} s (timeout_sec)`,
  idle_timeout: (session) => `stopped after ${session.idleTimeoutSec} s without output (idle_timeout_sec)`,
  unanswered: () => 'stopped because no one answered its question',
  cancelled: () => 'cancelled',
};
