import { SvcError } from '../../core/base/errors.ts';
import { sentence } from '../../core/base/sentence.ts';

/** A path on another machine. It is not a string, so that no code here uses it as a path of this machine. */
export interface RemotePath {
  /** Absolute. */
  readonly path: string;
}

/** A path of a session: a string exactly if it is a path of this machine. */
export type SitePath = string | RemotePath;

/** The location of a session's work, as its runner reports it. */
export interface SessionPlacement {
  /** The id of the runner's machine; null for this one. */
  runner: string | null;
  /** The repository's top folder on this machine; null outside of one. */
  repository: string | null;
  /** The worktree; null if it works in the project's folder itself. */
  worktree: SitePath | null;
  /** The folder that its agent starts in. */
  cwd: SitePath;
  branch: string | null;
  base: string | null;
  baseCommit: string | null;
  /** A free port of the run's machine for servers in the worktree, stable for its life; null without a worktree. */
  port: number | null;
}

/** A placement on the machine of the runner that is asked. */
export interface LocalPlacement extends SessionPlacement {
  runner: null;
  worktree: string | null;
  cwd: string;
}

/** The process of a run, as its runner reports it; opaque to everything else. */
export interface RunProcess {
  pid: number;
  /** Start time of that pid; the pair identifies one process. */
  pidStart: string;
  /** How the processes of the run are contained; null if that is unknown. */
  containment: 'cgroup' | 'pidns' | 'marks' | null;
}

/** The location and process of a session, as its runner reports them; null before. See `SessionPlacement` and `RunProcess`. */
export interface SessionSite {
  runner: string | null;
  repository: string | null;
  worktree: SitePath | null;
  cwd: SitePath | null;
  branch: string | null;
  base: string | null;
  baseCommit: string | null;
  port: number | null;
  /** Null for a process of another machine. */
  pid: number | null;
  /** How the processes of its last run are contained: a cgroup, a pid namespace, or marks in their environment. */
  containment: 'cgroup' | 'pidns' | 'marks' | null;
}

/** Returns the location of a session's work; null before it has one. */
export function findPlacement(session: SessionSite): SessionPlacement | null {
  const { runner, repository, worktree, cwd, branch, base, baseCommit, port } = session;
  return cwd === null ? null : { runner, repository, worktree, cwd, branch, base, baseCommit, port };
}

/** Returns a path if it is one of this machine; otherwise null. */
export const findLocalPath = (path: SitePath | null): string | null =>
  typeof path === 'string' ? path : null;

/** Writes a path for its row, whose `runner` says where it is. */
export function writeSitePath<Missing extends null>(path: SitePath | Missing): string | Missing {
  return path === null || typeof path === 'string' ? path : path.path;
}

/** Writes a path for people: `/work/s-9 (on r-2)`. */
export const formatSitePath = (path: SitePath | null, runner: string | null): string | null =>
  path === null || typeof path === 'string' ? path : `${path.path} (on ${runner})`;

export const formatRunnerId = (id: number): string => `r-${id}`;

/** Reads the id of a runner. Throws for anything else, which only a fault of ours passes. */
export function parseRunnerId(text: string): number {
  const [, digits] = /^r-(\d{1,15})$/.exec(text) ?? [];
  if (digits === undefined) throw new Error(`${text} is not the id of a runner`);
  return Number(digits);
}

export const remoteSessionError = ({
  sessionId,
  runner,
}: {
  sessionId: string;
  runner: string | null;
}): SvcError =>
  new SvcError('remote_session', `${sessionId} is on another machine, that of ${runner}`, {
    hint: sentence`{worktree.open ${sessionId}} checks its newest commits out here`,
  });
