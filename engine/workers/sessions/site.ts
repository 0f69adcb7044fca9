/** Where a session works, as its runner reports it. Paths are those of the runner's machine. */
export interface Placement {
  /** The repository's top folder; null outside of one. */
  repository: string | null;
  /** Worktree; null when it works in the project's folder itself. */
  worktree: string | null;
  /** The folder that its agent starts in. */
  cwd: string;
  branch: string | null;
  base: string | null;
  baseCommit: string | null;
}

/** The process of a run, as its runner reports it; opaque to everything else. */
export interface RunProcess {
  pid: number;
  /** Start time of that pid; the pair identifies one process. */
  pidStart: string;
  /** How the processes of the run are held together; null when that is not known. */
  containment: 'cgroup' | 'pidns' | 'marks' | null;
}

/** Where a session runs, as its runner reports it; null before. See `Placement` and `RunProcess`. */
export interface SessionSite {
  repository: string | null;
  worktree: string | null;
  cwd: string | null;
  branch: string | null;
  base: string | null;
  baseCommit: string | null;
  pid: number | null;
  /** How the processes of its last run are held together: a cgroup, a pid namespace, or marks in their environment. */
  containment: 'cgroup' | 'pidns' | 'marks' | null;
}

/** Returns where a session works; null before it has a place. */
export function findPlacement(session: SessionSite): Placement | null {
  const { repository, worktree, cwd, branch, base, baseCommit } = session;
  return cwd === null ? null : { repository, worktree, cwd, branch, base, baseCommit };
}
