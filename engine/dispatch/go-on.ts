import { findPresetOfCommand } from '../agents/index.ts';
import { appendPrivate } from '../base/private-files.ts';
import type { Placement, Session } from '../sessions/index.ts';
import { formerOf } from './carry.ts';
import type { DispatchDeps } from './context.ts';
import { logFile } from './folders.ts';
import type { Launch } from './run.ts';

const MOST_COMMITS = 20;

/** What a run is told that goes on with an earlier one: its conversation where the agent can take that up, else what was done. */
export async function goOn(
  deps: DispatchDeps,
  { session, task, command, placement, interruption }: Launch,
): Promise<{ text: string; agentSession: string | null }> {
  const before = session.continues === null ? null : deps.sessions.get(session.continues);
  const cause = interruption ?? before?.failure?.text ?? null;
  const why = cause === null ? '' : ` The reason: ${cause}.`;
  // A later run of its own without one has lost it.
  const ofBefore = formerOf(deps, session)?.agentSession ?? null;
  const agentSession = session.agentSession ?? ofBefore;
  const canResume =
    agentSession !== null &&
    (command.transport === 'acp' || findPresetOfCommand(command, session.agent)?.resume != null);
  if (canResume) {
    return {
      text: `You were interrupted.${why} Go on with your task from where you were; look at git status first.\n`,
      agentSession,
    };
  }
  const parts = [
    task.prompt.trimEnd(),
    '',
    '---',
    `An earlier run of this task was interrupted.${why} You are in its folder: what it did is here. Look at it, keep what is good, and finish the task.`,
    ...(await doneSoFar(deps, placement)),
  ];
  return { text: `${parts.join('\n')}\n`, agentSession: null };
}

async function doneSoFar(
  deps: DispatchDeps,
  { repository, branch, baseCommit }: Placement,
): Promise<string[]> {
  if (repository === null || branch === null || baseCommit === null) return [];
  try {
    const { commits } = await deps.worktrees.diffBranch({ repository, branch, baseCommit });
    if (commits.length === 0) return ['Nothing was committed yet.'];
    const newest = commits.slice(0, MOST_COMMITS);
    const more = commits.length - newest.length;
    return [
      'Its commits, newest first:',
      ...newest.map(({ id, subject }) => `- ${id.slice(0, 10)} ${subject}`),
      ...(more === 0 ? [] : [`- and ${more} more`]),
    ];
  } catch {
    return [];
  }
}

/** A line in the log between the runs of a session that has paused. Without it the run is no worse. */
export async function noteRun(deps: DispatchDeps, { sessionId, runs, pause }: Session): Promise<void> {
  const line = `[svc: run ${runs + 1}, after ${pause?.code}]\n`;
  try {
    appendPrivate(logFile(deps, sessionId), line);
  } catch {
    // The log is a convenience.
  }
}
