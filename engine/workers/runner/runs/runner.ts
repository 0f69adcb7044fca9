import type { Problem } from '../../../core/base/errors.ts';
import type { AgentCommand, OutputFormat, StreamFacts } from '../../agents/index.ts';
import type { GatewayRoute } from '../../agents/presets/index.ts';
import type { Placement, RunProcess } from '../../sessions/index.ts';
import type { ProjectSetup } from '../setup/index.ts';

/** Names one run. */
export interface RunName {
  sessionId: string;
  /** A uuid, which marks every process of the run. */
  runId: string;
}

/** What a run is going to need, before there is one. */
export interface InspectOrder {
  /** Null is the workspace's own. */
  project: string | null;
  /** The programs of the agent's command; none while no agent is known. */
  programs: readonly string[];
  /** The branch to begin from; null is the one that is checked out. */
  base: string | null;
  /** The run is to be confined. */
  isConfined: boolean;
}

export interface Inspection {
  /** The project's folder; null for an unknown project. */
  folder: string | null;
  carries: ProjectSetup | null;
  repository: string | null;
  base: string | null;
  baseCommit: string | null;
  branchPrefix: string;
  /** The first thing that a run would fail with. */
  problem: Problem | null;
}

export interface PlaceOrder {
  sessionId: string;
  project: string | null;
  /** Work in the project's folder itself. */
  inplace: boolean;
  base: string | null;
  /** The commit of the base to begin from; null is where the base is now. */
  baseCommit: string | null;
  /** Where the session works already; null for a first run. */
  placement: Placement | null;
  /** Where the session that it continues worked; null when it continues none. */
  former: Placement | null;
  /** No other worker is running. */
  isQuiet: boolean;
  /** A line for the log, ahead of everything else; null for none. */
  note: string | null;
}

export interface Placed {
  placement: Placement;
  /** Where in the log the output that follows begins, in bytes. */
  outputFrom: number;
}

export interface PrepareOrder {
  run: RunName;
  taskId: string;
  project: string | null;
  /** `guard.profile` of the run. */
  profile: string | null;
  placement: Placement;
  /** An agent may have worked in the folder before. */
  mayHoldWork: boolean;
  /** The session whose agent's own folder becomes this one's; null for none. */
  agentFolderOf: string | null;
}

export interface Prepared {
  /** The command by which the run reaches svc; null when the host has none. */
  svc: string | null;
  /** As in `Placed`, when the setup has printed something; else null. */
  outputFrom: number | null;
}

/** What a worker reads. */
export interface RunTexts {
  /** The task, without anything of ours. */
  prompt: string;
  brief: string;
  /** What is remembered about the task, beside the brief; null for nothing. */
  notes: string | null;
  /** What it is told instead of the task when it goes on with an earlier run; null for a first run. */
  resumption: string | null;
}

export interface StartOrder {
  run: RunName;
  profile: string | null;
  placement: Placement;
  agent: string;
  /** As approved. */
  command: AgentCommand;
  /** The worker's name. */
  worker: string;
  texts: RunTexts;
  /** The agent's own session to resume; null for a new one. */
  agentSession: string | null;
  /** Variables of the run alone. */
  variables: Readonly<Record<string, string>>;
  /** Null for the agent's own login. */
  gateway: GatewayRoute | null;
}

export interface AdoptOrder {
  run: RunName;
  profile: string | null;
  /** As recorded; null when the start was not. */
  process: Pick<RunProcess, 'pid' | 'pidStart'> | null;
  /** The record does not say that it was started. */
  mayNotHaveStarted: boolean;
}

/** What became of a run that an earlier host began. One that was not started never will be. */
export type Adopted =
  | { state: 'not_started' }
  | { state: 'running'; process: RunProcess }
  | { state: 'ended'; exit: RunExit };

export interface WatchOrder {
  run: RunName;
  /** How its output is read. */
  format: OutputFormat;
  /** Where in the log its output begins, in bytes. */
  outputFrom: number;
}

/** What a run has printed so far. */
export interface RunReport {
  facts: StreamFacts;
  /** How long ago its output last grew, ms. */
  quietMs: number;
}

export interface RunExit {
  /** The agent's exit code; null when it was killed together with its wrapper, or is unknown. */
  code: number | null;
  signal: string | null;
}

export interface CollectOrder extends WatchOrder {
  /** Null for a run that was never placed. */
  cwd: string | null;
  profile: string | null;
  worker: string;
  /** When its session was made, Unix ms. */
  since: number;
  /** The agent's own session that it was to resume; null when it began one. */
  resumed: string | null;
}

/** What a run has said by its end. */
export interface RunResult {
  facts: StreamFacts;
  /** It has printed something that is not blank. */
  hasSpoken: boolean;
  /** It was to resume a session that its agent does not have. */
  hasLostSession: boolean;
}

export interface KeepOrder {
  sessionId: string;
  profile: string | null;
  /** Null for a session that never had a place. */
  placement: Placement | null;
  /** No other session works in a project's folder itself. */
  isAlone: boolean;
  /** For the commit of what is left; null when the session goes on later, and then nothing is committed. */
  message: string | null;
}

/** The counts are null where there is nothing to count in, and where it could not be read: `left` then says why. */
export interface Kept {
  headCommit: string | null;
  commits: number | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  /** What a person has to look at, one sentence each: files left behind, commits kept elsewhere. May name paths of its machine. */
  left: string[];
}

export const NOTHING_KEPT: Kept = {
  headCommit: null,
  commits: null,
  files: null,
  insertions: null,
  deletions: null,
  left: [],
};

export interface LogOrder {
  sessionId: string;
  /** An offset in bytes of all that was printed, or how many of the last lines. */
  from: number | { lastLines: number };
  /** At least 4. */
  maxBytes: number;
  /** Whole lines only, unless one is longer than `maxBytes`. */
  byLine: boolean;
  /** Nothing more will be printed: a last line without its newline is given too. */
  hasEnded: boolean;
}

/** A part of what a session's runs have printed. Offsets count all that was ever printed, in bytes. */
export interface LogPart {
  text: string;
  from: number;
  /** Where the next part begins. */
  next: number;
  /** How much from `from` on is no longer there, because the log was cut. */
  dropped: number;
  /** Where the log ends now. */
  end: number;
}

export interface CommitLine {
  id: string;
  subject: string;
}

/** A session whose branch is looked at while it runs. */
export interface CommittedOrder {
  sessionId: string;
  repository: string;
  branch: string;
  baseCommit: string;
}

/** What differs between the commit that a worktree was made from and the branch as it is now. */
export interface Committed {
  files: number;
  insertions: number;
  deletions: number;
}

/**
 * Runs workers on one machine. What crosses is plain data, so that another machine can do the same: the caller decides
 * and records, the runner has the folders, processes, repositories and sandboxes. In the order of a run's life: `place`,
 * `prepare`, `start` (or `adopt` after a restart of the engine), `watch`, perhaps `stop`, `collect`, `keep`, `discard`.
 * What is thrown is an `SvcError`: its code, sentence and hint are data as well.
 */
export interface Runner {
  /** Looks what a run would find here, and makes nothing. What is in its way is told as `problem` and not thrown. */
  inspect(order: InspectOrder): Promise<Inspection>;
  /** Finds or makes the folder that a session works in. Throws `unknown_project`, `not_a_repository`, `worktree_unsafe`. */
  place(order: PlaceOrder): Promise<Placed>;
  /** The commit that a new worktree would begin from now. Throws as `place`. */
  findBase(order: Pick<PlaceOrder, 'project' | 'base'>): Promise<string>;
  /**
   * Makes a new worktree ready: the project's files and setup commands, once. `stop` breaks it off. Throws
   * `consent_missing`, `setup_failed`.
   */
  prepare(order: PrepareOrder): Promise<Prepared>;
  /**
   * Writes what the worker reads and starts its process, confined when its profile says so. Throws `agent_not_found`,
   * `spawn_failed`, `tool_missing`, `confinement_unavailable`: it is then not started at all.
   */
  start(order: StartOrder): Promise<RunProcess>;
  /** Takes a run over that an earlier host began. */
  adopt(order: AdoptOrder): Promise<Adopted>;
  /** Follows a run that was started or adopted until its process ends; null when the runner closes first. */
  watch(order: WatchOrder, onReport: (report: RunReport) => void): Promise<RunExit | null>;
  /** Ends the processes of a run, and the setup before it. They have `graceMs` to end by themselves. */
  stop(run: RunName, graceMs: number): Promise<void>;
  /** After the end of a run: ends what it left running, and reads all that it has said. */
  collect(order: CollectOrder): Promise<RunResult>;
  /** Puts what a session did where others find it, and makes it safe for git outside of the sandbox. Never throws. */
  keep(order: KeepOrder): Promise<Kept>;
  /** Forgets a run whose end is recorded. */
  discard(run: RunName): Promise<void>;
  /** Lists what a session has committed so far, newest first; null when that cannot be read. */
  listCommits(placement: Placement): Promise<CommitLine[] | null>;
  /** Counts what sessions have committed so far, by session; without those whose branch cannot be read. */
  countCommitted(orders: readonly CommittedOrder[]): Promise<Record<string, Committed>>;
  /** Reads a part of a session's log; one that there is not yet is empty. */
  readLog(order: LogOrder): Promise<LogPart>;
  /** When the logs of sessions were last written to, RFC 3339, by session; without those that have none yet. */
  listLogTimes(sessionIds: readonly string[]): Promise<Record<string, string>>;
  /** Lets go of the workers, which go on by themselves. */
  close(): Promise<void>;
}

/** What a run would be made from, as a project is at this moment. */
export interface Checkout {
  /** The project's folder, links followed. */
  folder: string;
  /** The branch that is checked out there, or the commit; null outside of a repository. */
  base: string | null;
}

/**
 * Reads projects on the engine's own machine, where a person approves: synchronously, because what is approved is compared
 * inside the transaction that starts it. Starts no program.
 */
export interface ProjectReader {
  /** @param folder absolute */
  readCheckout(folder: string): Checkout;
  /** Throws `unknown_project`. */
  digestSetup(project: string | null): string;
  /** Throws `consent_missing` when a session of the project needs a consent that nobody has given. */
  checkConsent(session: {
    project: string | null;
    inplace: boolean;
    worktree: string | null;
    continues: string | null;
  }): void;
  /** Throws `agent_not_found` when a program is not found from the folder. */
  checkProgram(program: string, folder: string): void;
}
