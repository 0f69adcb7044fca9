/** The location of a session's work, as its runner reports it. Paths refer to the runner's machine. */
export interface SessionPlacement {
  /** The repository's top folder; null outside of one. */
  repository: string | null;
  /** The worktree; null if it works in the project's folder itself. */
  worktree: string | null;
  /** The folder that its agent starts in. */
  cwd: string;
  branch: string | null;
  base: string | null;
  baseCommit: string | null;
  /** A free port of this machine for servers in the worktree, stable for its life; null without a worktree. */
  port: number | null;
}

/** The process of a run, as its runner reports it; opaque to everything else. */
export interface RunProcess {
  pid: number;
  /** Start time of that pid; the pair identifies one process. */
  pidStart: string;
  /** How the processes of the run are contained; null if that is unknown. */
  containment: 'cgroup' | 'pidns' | 'marks' | null;
}

/** The location and process of a session, as its runner reports them; null before. See `Placement` and `RunProcess`. */
export interface SessionSite {
  repository: string | null;
  worktree: string | null;
  cwd: string | null;
  branch: string | null;
  base: string | null;
  baseCommit: string | null;
  port: number | null;
  pid: number | null;
  /** How the processes of its last run are contained: a cgroup, a pid namespace, or marks in their environment. */
  containment: 'cgroup' | 'pidns' | 'marks' | null;
}

/** Returns the location of a session's work; null before it has one. */
export function findPlacement(session: SessionSite): SessionPlacement | null {
  const { repository, worktree, cwd, branch, base, baseCommit, port } = session;
  return cwd === null ? null : { repository, worktree, cwd, branch, base, baseCommit, port };
}
