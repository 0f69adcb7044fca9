export interface Verdict {
  sealed: boolean;
  exitCode: number | null;
  exitSignal: string | null;
  /** Kept here; may name paths of this machine. */
  failure: { code: string; text: string } | null;
  /** What the agent was up against when it was stopped; left out when that says nothing of it. */
  cause?: { code: string; text: string };
  /** The same for those who are told by event: no path, no output. */
  reason: string | null;
}

/** The counts are null where there is nothing to count in, and where it could not be read: `left` then says why. */
export interface Kept {
  headCommit: string | null;
  commits: number | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  /** What a person has to look at, one sentence each: files left behind, commits kept elsewhere. May name paths of this machine. */
  left: string[];
}
