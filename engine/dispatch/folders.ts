import { join } from 'node:path';

export interface DispatchPaths {
  /** Absolute; one folder per session with log, prompt and run directories. */
  agents: string;
  /** Absolute; one worktree per session. */
  worktrees: string;
}

interface Paths {
  paths: DispatchPaths;
}

/** Of one session; kept as long as its log. */
export const sessionDir = ({ paths }: Paths, sessionId: string): string => join(paths.agents, sessionId);
export const logFile = (deps: Paths, sessionId: string): string => join(sessionDir(deps, sessionId), 'log');
/** What the agent itself keeps or reads, beside the person's own configuration. */
export const agentDir = (deps: Paths, sessionId: string): string =>
  join(sessionDir(deps, sessionId), 'agent');
/**
 * Where a session's prompt and brief are: in the folder that its worker starts in, below `.svc/`, which git's own exclude
 * list hides; in place beside the log, since others may work in that folder too.
 */
export const briefFolder = (
  deps: Paths,
  { sessionId, worktree, cwd }: { sessionId: string; worktree: string | null; cwd: string },
): string => (worktree === null ? sessionDir(deps, sessionId) : join(cwd, '.svc'));
export const briefFile = (...session: Parameters<typeof briefFolder>): string =>
  join(briefFolder(...session), 'TASK_BRIEF.md');
/** Of one run; removed at its end. */
export const runDir = (deps: Paths, sessionId: string, runId: string): string =>
  join(sessionDir(deps, sessionId), runId);
/** What a confined run sees nothing of, with the folders of all sessions. */
export const dataFolder = ({ paths }: Paths): string => paths.agents;
