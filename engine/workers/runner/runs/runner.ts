import type { ProblemDetails } from '../../../core/base/errors.ts';
import type { AgentCommand, OutputFormat, StreamFacts } from '../../agents/index.ts';
import type { GatewayRoute } from '../../agents/presets/index.ts';
import type { LocalPlacement, RunProcess, SessionPlacement, SitePath } from '../../sessions/index.ts';
import type { ProjectSetup, TornDown } from '../setup/index.ts';

/** Names one run. */
export interface RunName {
  sessionId: string;
  /** A uuid, which marks every process of the run. */
  runId: string;
}

/** The needs of a future run. */
export interface InspectOrder {
  /** Null for the workspace's own. */
  project: string | null;
  /** The programs of the agent's command; empty for an unknown agent. */
  programs: readonly string[];
  /** The branch to start from; null for the checked-out one. */
  base: string | null;
  /** True if the run has to be confined. */
  isConfined: boolean;
}

export interface RunInspection {
  /** The project's folder; null for an unknown project. */
  folder: string | null;
  carries: ProjectSetup | null;
  repository: string | null;
  base: string | null;
  baseCommit: string | null;
  branchPrefix: string;
  /** The first problem that a run would fail with. */
  problem: ProblemDetails | null;
}

/** The files that a run starts from, as found on the engine's machine. */
export interface RunOrigin {
  /** The project's folder, absolute. */
  folder: string;
  /** The repository's top folder; null outside of one. */
  repository: string | null;
  /** The project's folder relative to the repository's top; empty for the top itself. */
  inside: string;
  /** The branch to start from; null for a detached HEAD. */
  base: string | null;
  /** Null outside of a repository. */
  baseCommit: string | null;
  /** True for work in the project's folder itself. */
  inplace: boolean;
  /** The name of the new branch, if the engine's machine has chosen it; the session's id, or one like it, if absent. */
  branch?: string;
}

export interface PlaceOrder<Placement = SessionPlacement> {
  sessionId: string;
  /** The start of a new place; null if the session has one, or takes over that of its former. */
  origin: RunOrigin | null;
  /** The folder of the session's earlier work; null for a first run. */
  placement: Placement | null;
  /** The folder of the session that it continues; null for none. */
  former: Placement | null;
  /** Ports of other worktrees, which a new one does not get. */
  takenPorts: readonly number[];
  /** True if no other worker is running. */
  isQuiet: boolean;
  /** A line for the log, ahead of everything else; null for none. */
  note: string | null;
  /** Gives it up. */
  signal?: AbortSignal;
}

export interface PlacedRun<Placement = SessionPlacement> {
  placement: Placement;
  /** The offset in the log where the output starts, in bytes. */
  outputFrom: number;
}

export interface PrepareOrder<Placement = SessionPlacement> {
  run: RunName;
  taskId: string;
  project: string | null;
  /** The project's commands and files, as read and agreed to on the engine's machine. */
  setup: ProjectSetup;
  /** `guard.profile` of the run. */
  profile: string | null;
  placement: Placement;
  /** True if an agent may have worked in the folder before. */
  mayHoldWork: boolean;
  /** The session whose agent folder is moved to this one; null for none. */
  agentFolderOf: string | null;
}

export interface PreparedRun {
  /** The command by which the run reaches svc; null if the host has none. */
  svc: string | null;
  /** As in `Placed`, if the setup has printed something; otherwise null. */
  outputFrom: number | null;
}

/** The texts for a worker. */
export interface RunTexts {
  /** The task, without additions. */
  prompt: string;
  brief: string;
  /** The memories for the task, in addition to the brief; null for none. */
  notes: string | null;
  /** The prompt that replaces the task when it continues an earlier run; null for a first run. */
  resumption: string | null;
}

export interface StartOrder<Placement = SessionPlacement> {
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
  /** Variables that give its git the author that the person has configured. */
  author: Readonly<Record<string, string>>;
  /** Variables of this run only. */
  variables: Readonly<Record<string, string>>;
  /** The time limit, which the engine enforces while it can reach the run's machine. */
  timeoutSec: number;
  /** Null for the agent's own login. */
  gateway: GatewayRoute | null;
}

export interface AdoptOrder {
  run: RunName;
  profile: string | null;
  /** As recorded; null if the start was not recorded. */
  process: Pick<RunProcess, 'pid' | 'pidStart'> | null;
  /** True if the record does not show a start. */
  mayNotHaveStarted: boolean;
}

/** The state of a run that an earlier host began. A run that was not started never will be. */
export type AdoptedRun =
  | { state: 'not_started' }
  | { state: 'running'; process: RunProcess }
  | { state: 'ended'; exit: RunExit };

export interface WatchOrder {
  run: RunName;
  /** The parser of its output. */
  format: OutputFormat;
  /** The offset in the log where its output starts, in bytes. */
  outputFrom: number;
}

/** The output facts of a run so far. */
export interface RunReport {
  facts: StreamFacts;
  /** Time since its output last grew, ms. */
  quietMs: number;
}

export interface RunExit {
  /** The agent's exit code; null if it was killed together with its wrapper, or is unknown. */
  code: number | null;
  signal: string | null;
  /**
   * Why the run's machine has ended it while the engine could not be reached: at the end of the time that runs there may
   * continue without the engine, or by themselves. Left out for any other end.
   */
  endedBy?: 'lease' | 'timeout' | undefined;
}

export interface CollectOrder<Placement = SessionPlacement> extends WatchOrder {
  /** Null for a run that was never placed. */
  placement: Placement | null;
  profile: string | null;
  worker: string;
  /** When its session was created, Unix ms. */
  since: number;
  /** The agent's own session to resume; null for a new one. */
  resumed: string | null;
}

/** The output facts of a run at its end. */
export interface RunResult {
  facts: StreamFacts;
  /** True if it has printed something that is not blank. */
  hasSpoken: boolean;
  /** True if it should resume a session that its agent does not have. */
  hasLostSession: boolean;
}

export interface KeepOrder<Placement = SessionPlacement> {
  sessionId: string;
  /** The number of the run that has ended. */
  number: number;
  profile: string | null;
  /** Null for a session that never had a place. */
  placement: Placement | null;
  /** True if no other session works in a project's folder itself. */
  isAlone: boolean;
  /** The message for the commit of leftovers; null if the session continues later, and then nothing is committed. */
  message: string | null;
  /** Gives up what is not saved yet. On another machine it has no effect. */
  signal?: AbortSignal;
}

/** A run whose files are removed. */
export interface DiscardOrder extends RunName {
  /** True if its session got no place: what another machine has begun of one is removed there, too. */
  isUnplaced?: boolean;
}

/** A worktree that is about to be removed, and the setup of its project. */
export type ClearOrder<Placement = SessionPlacement> = Omit<TornDown, 'placement'> & { placement: Placement };

/** The counts are null if there is nothing to count in, or if it could not be read: `left` then has the reason. */
export interface KeptWorktree {
  headCommit: string | null;
  commits: number | null;
  files: number | null;
  insertions: number | null;
  deletions: number | null;
  /** Facts for a person to check, one sentence each: files left behind, commits kept elsewhere. May name paths of its machine. */
  left: string[];
}

export const NOTHING_KEPT: KeptWorktree = {
  headCommit: null,
  commits: null,
  files: null,
  insertions: null,
  deletions: null,
  left: [],
};

export interface LogOrder {
  sessionId: string;
  /** An offset in bytes of all output, or a number of last lines. */
  from: number | { lastLines: number };
  /** At least 4. */
  maxBytes: number;
  /** Whole lines only, unless one is longer than `maxBytes`. */
  byLine: boolean;
  /** True if there will be no more output: a last line without its newline is returned too. */
  hasEnded: boolean;
}

/** A part of the output of a session's runs. Offsets count all output ever, in bytes. */
export interface LogPart {
  text: string;
  from: number;
  /** The start of the next part. */
  next: number;
  /** How much from `from` on is gone, because the log was cut. */
  dropped: number;
  /** The current end of the log. */
  end: number;
}

export interface CommitLine {
  id: string;
  subject: string;
}

/** A session's branch in the repository of this machine. */
export type BranchOrder = Pick<SessionPlacement, 'repository' | 'branch' | 'baseCommit'>;

/** A session whose branch is read while it runs. */
export interface CommittedOrder {
  sessionId: string;
  repository: string;
  branch: string;
  baseCommit: string;
}

/** The difference between the commit that a worktree was created from and the current branch. */
export interface CommitResult {
  files: number;
  insertions: number;
  deletions: number;
}

/**
 * Runs workers on one machine. Its interface is plain data, so that another machine can implement it: the caller
 * decides and records, the runner has the folders, processes, repositories and sandboxes. In the order of a run's
 * life: `place`, `prepare`, `start` (or `adopt` after a restart of the engine), `watch`, perhaps `stop`, `collect`,
 * `keep`, `discard`. It throws `SvcError`s: code, sentence and hint are data as well. A call that is repeated with the
 * same order, because its answer was lost, does no harm, also if the runner was killed and started again in between: it
 * waits for the first one, or finds by the run what that has done. After `discard` none is repeated.
 */
export interface RunCalls<Placement = SessionPlacement> {
  /** Finds or creates the folder that a session works in. Throws `exists`, `git_failed`, `worktree_unsafe`. */
  place(order: PlaceOrder<Placement>): Promise<PlacedRun<Placement>>;
  /**
   * Prepares a new worktree: the project's files and setup commands, once. `stop` interrupts it. Throws
   * `consent_missing`, `setup_failed`.
   */
  prepare(order: PrepareOrder<Placement>): Promise<PreparedRun>;
  /**
   * Writes the worker's texts and starts its process, confined if its profile requires it. Throws `agent_not_found`,
   * `spawn_failed`, `tool_missing`, `confinement_unavailable`: then it is not started. Repeated it returns the process
   * that was started, which may have ended since. Throws `conflict` for a run that was not prepared, was given up or
   * discarded.
   */
  start(order: StartOrder<Placement>): Promise<RunProcess>;
  /** Adopts a run that an earlier host started. */
  adopt(order: AdoptOrder): Promise<AdoptedRun>;
  /**
   * Follows a run that was started or adopted until its process ends; null if the runner closes first. Throws
   * `not_found` for another run.
   */
  watch(order: WatchOrder, onReport: (report: RunReport) => void): Promise<RunExit | null>;
  /** Ends the processes of a run, and the setup before it. They have `graceMs` to end by themselves. */
  stop(run: RunName, graceMs: number): Promise<void>;
  /** After the end of a run: ends its leftover processes, and reads its remaining output. */
  collect(order: CollectOrder<Placement>): Promise<RunResult>;
  /** Publishes the work of a session, and makes it safe for git outside of the sandbox. Never throws. */
  keep(order: KeepOrder<Placement>): Promise<KeptWorktree>;
  /** Forgets a run whose end is recorded. */
  discard(order: DiscardOrder): Promise<void>;
  /**
   * Runs the teardown commands in a worktree that is about to be removed, and removes it if it is on another machine.
   * Never throws; returns the problems, a sentence each.
   */
  clear(order: ClearOrder<Placement>): Promise<string[]>;
}

/** Runs workers, and reads on the engine's machine what is known about runs and projects there. */
export interface Runner<Placement = SessionPlacement> extends RunCalls<Placement> {
  /** Checks what a run would find here, and creates nothing. Obstacles are returned as `problem` and not thrown. */
  inspect(order: InspectOrder): Promise<RunInspection>;
  /** Lists what a session has committed so far, newest first; null if that cannot be read. */
  listCommits(branch: BranchOrder): Promise<CommitLine[] | null>;
  /** Counts what sessions have committed so far, by session; omits unreadable branches. */
  countCommitted(orders: readonly CommittedOrder[]): Promise<Record<string, CommitResult>>;
  /** Reads a part of a session's log; a missing log is empty. */
  readLog(order: LogOrder): Promise<LogPart>;
  /** Returns when the logs of sessions were last written to, RFC 3339, by session; omits missing logs. */
  listLogTimes(sessionIds: readonly string[]): Promise<Record<string, string>>;
  /**
   * Prepares the next worktree of each of these projects while no one waits for it, and forgets those of all others.
   * A start that finds none creates its own. Throws `unknown_project`.
   */
  prepareAhead(projects: readonly (string | null)[]): Promise<void>;
  /** Releases the workers, which continue by themselves. */
  close(): Promise<void>;
}

/** The runner of one machine, as that machine sees it: its paths are strings. */
export type MachineRunner = RunCalls<LocalPlacement>;

/** The runner of the engine's machine. */
export type LocalRunner = Runner<LocalPlacement>;

/** The inputs of a run from a project's current state. */
export interface ProjectCheckout {
  /** The project's folder, links followed. */
  folder: string;
  /** The branch that is checked out there, or the commit; null outside of a repository. */
  base: string | null;
}

/**
 * Reads projects on the engine's own machine, where a person approves. Everything that is bound to an approval is read
 * synchronously and without a program, because it is compared inside the transaction that starts the run.
 */
export interface ProjectReader {
  /** @param folder absolute */
  readCheckout(folder: string): ProjectCheckout;
  /**
   * Finds where a new session of a project would start; for work in the folder itself, `inplace`, the repository may
   * be missing. Throws `unknown_project`, `not_a_repository`, `repository_empty`, `not_found`, `worktree_unsafe`.
   */
  findOrigin(wanted: { project: string | null; base: string | null; inplace: boolean }): Promise<RunOrigin>;
  /** Returns variables that give git the author that the person has configured for a folder; none in doubt. */
  findAuthor(folder: string): Promise<Record<string, string>>;
  /** Reads what a project's sessions are set up with. Throws `unknown_project`. */
  readSetup(project: string | null): ProjectSetup;
  /** Throws `unknown_project`. */
  digestSetup(project: string | null): string;
  /** Throws `consent_missing` if a session of the project needs a missing consent. */
  checkConsent(session: {
    project: string | null;
    inplace: boolean;
    worktree: SitePath | null;
    continues: string | null;
  }): void;
  /** Throws `agent_not_found` if a program is not found from the folder. */
  checkProgram(program: string, folder: string): void;
}
