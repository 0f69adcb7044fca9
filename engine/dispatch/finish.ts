import { type Expectation, NO_FACTS, type StreamFacts } from '../agents/index.ts';
import { asSvcError } from '../base/errors.ts';
import type { ExitResult } from '../runner/processes/index.ts';
import type { Session, StopReason } from '../sessions/index.ts';
import type { DispatchDeps } from './context.ts';
import { dataFolder, sessionDir } from './folders.ts';
import type { Kept, Verdict } from './verdict.ts';

/** How a run ended. */
export interface RunExit extends ExitResult {
  /** svc has ended it; left out where that is not known. */
  wasStopped?: boolean;
}

/** What it printed, against what it should have. */
export interface Printed {
  expects: Expectation;
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
 * What the end means. Why it was stopped comes first, since the exit code of a stopped program says nothing; then what
 * the agent says of its end, since many exit with 0 whatever happened; the exit code is what is left.
 */
export function verdictOf(
  session: Session,
  exit: RunExit,
  facts: StreamFacts = NO_FACTS,
  { expects, hasSpoken }: Printed = { expects: 'nothing', hasSpoken: true },
): Verdict {
  const signal = exit.signal ?? (exit.code === null ? null : (SIGNAL_EXITS.get(exit.code) ?? null));
  const base = { exitCode: exit.code, exitSignal: signal };
  const failed = (code: string, text: string, reason = text): Verdict => ({
    ...base,
    sealed: false,
    failure: { code, text },
    reason,
  });
  const byItself = ({ code, text }: NonNullable<StreamFacts['trouble']>): Verdict =>
    // What a program says may hold anything; who is told by event gets the code only.
    failed(code, `${session.agent}: ${text}`, `${session.agent} ended with ${code}`);

  if (session.stopReason !== null) return stopped(session, session.stopReason, facts, failed);
  // It has told its end, and then something that was not svc has ended it before it was there.
  const isCutOff = signal !== null && exit.wasStopped === false;
  if (facts.end !== null && !(facts.end.ok && isCutOff))
    return facts.end.ok ? { ...base, sealed: true, failure: null, reason: null } : byItself(facts.end);
  if (signal !== null) return failed('killed', `${session.agent} was killed by ${signal}`);
  if (exit.code === null)
    return failed('lost', `${session.agent} ended while no engine was running, and left no exit code`);
  if (exit.code !== 0 && facts.trouble !== null) return byItself(facts.trouble);
  if (exit.code !== 0) return failed('exit_code', `${session.agent} exited with code ${exit.code}`);
  if (facts.isStream)
    return facts.trouble === null
      ? failed('agent_error', `${session.agent} stopped in the middle: it exited with code 0 and no end`)
      : byItself(facts.trouble);
  if (facts.trouble !== null) return byItself(facts.trouble);
  if (expects === 'stream' || (expects === 'words' && !hasSpoken))
    return failed('no_result', `${session.agent} exited with code 0 and told no result`);
  return { ...base, sealed: true, failure: null, reason: null };
}

/** At a limit of svc the last that it was up against is told, and counts for holding the agent back. */
function stopped(
  session: Session,
  reason: StopReason,
  { end, trouble }: StreamFacts,
  failed: (code: string, text: string, reason?: string) => Verdict,
): Verdict {
  const text = STOPPED[reason](session);
  if (reason === 'cancelled' || end !== null || trouble === null) return failed(reason, text);
  const { code } = trouble;
  const whole = `${text}, while ${session.agent} tried again after ${code}: ${trouble.text}`;
  return {
    ...failed(reason, whole, `${text}, while ${session.agent} tried again after ${code}`),
    cause: { code, text: trouble.text },
  };
}

const STOPPED: Record<StopReason, (session: Session) => string> = {
  timeout: (session) => `stopped after ${session.timeoutSec} s (timeout_sec)`,
  idle_timeout: (session) => `stopped after ${session.idleTimeoutSec} s without output (idle_timeout_sec)`,
  cancelled: () => 'cancelled',
};

export const NOTHING_KEPT: Kept = {
  headCommit: null,
  commits: null,
  files: null,
  insertions: null,
  deletions: null,
  left: [],
};

/** Puts what the worker left on its branch. Never throws: the run has ended whatever git says. */
export async function keepWork(deps: DispatchDeps, session: Session): Promise<Kept> {
  if (session.worktree === null || session.branch === null) return countInside(deps, session);
  try {
    const end = await deps.worktrees.finish({
      path: session.worktree,
      branch: session.branch,
      baseCommit: session.baseCommit ?? '',
      ...(session.repository === null ? {} : { repository: session.repository }),
      message: `svc: work in progress of ${session.sessionId} (${session.taskId})`,
    });
    const left = [
      ...end.savedRefs.map((ref) => `commits made off the branch are kept under ${ref}`),
      ...end.nested.map((path) => `${path} is a repository of its own; its commits are only in the worktree`),
      ...(end.unsafe === undefined ? [] : [end.unsafe]),
      ...(await plantedIn(deps, session.worktree)),
    ];
    return {
      headCommit: end.head,
      commits: end.commits,
      files: end.files,
      insertions: end.insertions,
      deletions: end.deletions,
      left,
    };
  } catch (error) {
    const { message } = asSvcError(error);
    deps.log.error({ session: session.sessionId, error: message }, 'the work could not be committed');
    return { ...NOTHING_KEPT, left: [`the work is still in ${session.worktree}, not committed: ${message}`] };
  }
}

/** Settings by which git would run what a worker wants; the engine's own calls do not. */
async function plantedIn({ worktrees }: DispatchDeps, folder: string): Promise<string[]> {
  const names = await worktrees.findPlantedPrograms(folder).catch(() => []);
  if (names.length === 0) return [];
  const named = names.slice(0, 5).join(', ');
  return [
    `git was told to run programs while it ran (${named}): svc does not run them, your own git would; git config --show-origin --get ${names[0]} says where`,
  ];
}

/** Repositories that a confined run has left below the folder it was in; they are moved out of it. */
export async function setAside(deps: DispatchDeps, session: Session): Promise<string[]> {
  const { profile, worktree, cwd, sessionId } = session;
  if (profile !== 'strict' || worktree !== null || cwd === null) return [];
  const kept = sessionDir(deps, sessionId);
  const found = await deps.worktrees.setAsideRepositories(cwd, kept, dataFolder(deps));
  if (found.length > 0) deps.log.warn({ session: sessionId, found }, 'repositories that it made were moved');
  return found;
}

/** In place the checkout is the user's: svc commits nothing there. */
async function countInside(deps: DispatchDeps, session: Session): Promise<Kept> {
  // Before git is called there.
  const left = await setAside(deps, session);
  if (session.repository !== null) left.push(...(await plantedIn(deps, session.repository)));
  if (session.repository === null || session.baseCommit === null) return { ...NOTHING_KEPT, left };
  try {
    const { commits, files } = await deps.worktrees.diffBranch({
      repository: session.repository,
      head: 'HEAD',
      baseCommit: session.baseCommit,
    });
    const sum = (pick: (file: (typeof files)[number]) => number) =>
      files.reduce((total, file) => total + pick(file), 0);
    return {
      ...NOTHING_KEPT,
      headCommit: commits[0]?.id ?? session.baseCommit,
      commits: commits.length,
      files: files.length,
      insertions: sum((file) => file.insertions),
      deletions: sum((file) => file.deletions),
      left,
    };
  } catch (error) {
    left.push(`what it did in ${session.repository} could not be read: ${asSvcError(error).message}`);
    return { ...NOTHING_KEPT, left };
  }
}
