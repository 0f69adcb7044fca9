import { join } from 'node:path';

/** The runner's folders for sessions. */
export interface SessionFolders {
  /** Absolute; one folder per session with log, prompt and run directories. Invisible to a confined run. */
  agents: string;
  /** Absolute; one worktree per session. */
  worktrees: string;
}

interface Paths {
  paths: SessionFolders;
}

/** The folder of one session; kept as long as its log. */
export const sessionFolder = ({ paths }: Paths, sessionId: string): string => join(paths.agents, sessionId);

export const logFile = (deps: Paths, sessionId: string): string =>
  join(sessionFolder(deps, sessionId), 'log');

/** The folder for the agent's own files, in addition to the person's configuration. */
export const agentFolder = (deps: Paths, sessionId: string): string =>
  join(sessionFolder(deps, sessionId), 'agent');

/**
 * The location of a session's prompt and brief: in the folder that its worker starts in, below `.svc/`, which git's
 * own exclude list hides; in place next to the log, since others may work in that folder too.
 */
export const briefFolder = (
  deps: Paths,
  { sessionId, worktree, cwd }: { sessionId: string; worktree: string | null; cwd: string },
): string => (worktree === null ? sessionFolder(deps, sessionId) : join(cwd, '.svc'));

export const briefFile = (...session: Parameters<typeof briefFolder>): string =>
  join(briefFolder(...session), 'TASK_BRIEF.md');

/** The memories for a session's task. */
export const notesFile = (...session: Parameters<typeof briefFolder>): string =>
  join(briefFolder(...session), 'MEMORY_BRIEF.md');

/** The folder of one run; removed once its end is recorded. */
export const runFolder = (deps: Paths, { sessionId, runId }: { sessionId: string; runId: string }): string =>
  join(sessionFolder(deps, sessionId), runId);
