import { SvcError } from '../../base/errors.ts';
import { type ProgramResult, runProgram } from '../../base/run-program.ts';
import type { SentenceWords } from '../../base/sentence.ts';
import type { MountedPlace } from './rules.ts';

/** A command that has to be confined. */
export interface SandboxRun {
  /** The program's path, then its arguments. */
  argv: readonly [string, ...string[]];
  cwd: string;
  /** The environment in which the result is started. */
  env: Readonly<Record<string, string>>;
  /** Its view of the file system; the deepest rule that covers a path applies, else reading. */
  places: readonly MountedPlace[];
  /** Variables that it gets, or loses (null). */
  variables: Readonly<Record<string, string | null>>;
  /** A folder that outlives the run, for files that the sandbox itself needs. The run may only read it. */
  folder: string;
  /** Folders with sockets that it may reach. It reaches no other listening socket's file. */
  socketFolders: readonly string[];
  /** Paths that the trial must find not writable. */
  readOnly: readonly string[];
  /** Paths that the trial must not find. */
  unseen: readonly string[];
  /** True if it is killed together with its parent process. */
  endsWithParent?: boolean;
  /** File descriptor of a system call filter, in the process that starts it. */
  filterFd?: number;
}

/** A program that only reads a folder, and answers over the pipes that it was started with. */
export interface SandboxReader {
  argv: readonly string[];
  /** The folder that it reads and starts in. Absolute, links followed. */
  folder: string;
  /** Folders in it that it does not see. */
  without: readonly string[];
  /** Further files that it needs: its own. */
  files: readonly string[];
}

/** The facts that doctor reports about the sandbox. */
export interface SandboxFacts {
  program: string;
  /** Restrictions that are missing here although it works; one sentence each. */
  missing: string[];
  /** Abstract sockets of listening programs on this machine; a worker can reach them over the network. */
  abstractSockets: string[];
}

/** Confines programs with what the operating system offers. */
export interface Sandbox {
  /** Returns the path of the program that confines. Throws `tool_missing`, `confinement_unavailable`. */
  locate(env: NodeJS.ProcessEnv): string;
  /** Builds the rules that every run starts with: temporary folders and sockets of services. */
  hideSystem(): MountedPlace[];
  /**
   * Checks by a trial whether programs can be confined here. Throws `tool_missing`, `confinement_unavailable`.
   * @param env the engine's own environment, for finding the program
   */
  check(env: NodeJS.ProcessEnv): Promise<SandboxFacts>;
  /** Builds the command that runs it confined, after trying the same sandbox with another program. Throws as `check`. */
  wrap(run: SandboxRun, env: NodeJS.ProcessEnv): Promise<string[]>;
  /**
   * Builds the command that runs a program which may only read one folder: without network, environment, other
   * processes or writable files. Throws as `check`.
   */
  wrapReader(reader: SandboxReader, env: NodeJS.ProcessEnv): Promise<string[]>;
  /**
   * Chooses what prevents a confined program from typing for its person: a filter for `filterFd`, or null if the
   * system does it. Throws `confinement_unavailable`.
   */
  chooseTerminalGuard(): Buffer | null;
}

/** The sandbox of a system, loaded when a program has to be confined. */
export interface SandboxSource {
  /**
   * False if it cannot show one path in the place of another (a rule with `from`, a link). A run then has a home of its
   * own, and its worker in a worktree commits nothing.
   */
  canMount: boolean;
  load(): Promise<Sandbox>;
}

export const CONFINEMENT_DOCS = 'docs/operate/confinement.md lists the requirements';

/** Returns the error of a run that cannot be confined. */
export const describeUnavailable = (what: string, hint: SentenceWords, cause?: unknown): SvcError =>
  new SvcError('confinement_unavailable', `the worker cannot be confined: ${what}`, { hint, cause });

const TRIAL_MS = 10_000;

/** Runs a trial command. */
export const runTrial = (
  [program, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
): Promise<ProgramResult> =>
  runProgram(program, args, { env, timeoutMs: TRIAL_MS, mostBytes: 4 * 1024 * 1024 });

/** Throws `confinement_unavailable` if the trial found something open: one sentence each. */
export function refuseOpenings(open: readonly string[], program: string): void {
  if (open.length === 0) return;
  throw describeUnavailable(
    `the sandbox was tested, and ${open.slice(0, 3).join('; ')}${open.length > 3 ? `; and ${open.length - 3} more` : ''}`,
    `something on this machine opens what ${program} has closed; ${CONFINEMENT_DOCS}`,
  );
}
