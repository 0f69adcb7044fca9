import type { EngineClient } from '../engine/index.ts';
import type { PaintFunction } from './paint.ts';

/** One flag of a command; names are camelCase here and kebab-case on the command line. */
export interface FlagSpec {
  type: 'string' | 'boolean' | 'number';
  about: string;
  /** The name of the value in help, e.g. `host:port`. */
  value?: string;
  short?: string;
  multiple?: boolean;
  choices?: readonly string[];
}

export type FlagTable = Record<string, FlagSpec>;

type FlagValue<F extends FlagSpec> = F['type'] extends 'boolean'
  ? boolean
  : F['type'] extends 'number'
    ? number
    : F extends { choices: readonly (infer C)[] }
      ? C
      : string;

export type FlagValues<T extends FlagTable> = {
  readonly [K in keyof T]: T[K]['multiple'] extends true
    ? FlagValue<T[K]>[]
    : T[K]['type'] extends 'boolean'
      ? boolean
      : FlagValue<T[K]> | undefined;
};

/** A positional argument. Only the last one may be `rest`. */
export interface ArgumentSpec {
  name: string;
  about: string;
  optional?: boolean;
  rest?: boolean;
  /** With `rest`: the words and their options belong to another program, with or without `--` before them. */
  foreign?: boolean;
  choices?: readonly string[];
  /** The completions: all values of a kind, or those that the command accepts. */
  completes?: CompletionProposal | 'file';
}

/** The kinds that a shell may propose; after a colon the required state. */
export type CompletionProposal =
  | 'task'
  | 'task:idle'
  | 'task:failed'
  | 'task:unended'
  | 'decision'
  | 'decision:pending'
  | 'session'
  | 'session:live'
  | 'session:stopped'
  | 'session:ended'
  | 'question'
  | 'question:open'
  | 'message'
  | 'message:unread'
  | 'delivery'
  | 'project'
  | 'agent'
  | 'agent:held'
  | 'key'
  /** The values of the key before it. */
  | 'setting'
  | 'tool';

/** The context of a command. Commands print through it and never use `process` themselves. */
export interface CommandContext<T extends FlagTable = FlagTable> {
  args: readonly string[];
  /** Returns the argument at an index, which the command's declaration requires. */
  arg(index: number): string;
  flags: FlagValues<T>;
  json: boolean;
  cwd: string;
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /**
   * Returns the workspace's engine, started if it is not running. `start: false` fails with `engine_not_running`
   * instead; with `patienceMs` a hanging engine is `engine_unreachable` after that time.
   */
  engine(options?: { start?: boolean; patienceMs?: number }): Promise<EngineClient>;
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal;
  /** All commands. */
  loadCommands(): Promise<readonly Command[]>;
  /**
   * Prints `value` as JSON under `--json`, otherwise the result of `text` (nothing if empty). On a terminal, text
   * with control sequences is escaped.
   */
  result<V>(value: V, text: (value: V) => string): void;
  /** A line for people on stderr; silent under `--json`. */
  note(line: string): void;
  /** Prints a line on stderr, under `--json` too. */
  remark(line: string): void;
  /** Styles parts of a text; does nothing unless the command has the flag `color` and colours are on. */
  paint: PaintFunction;
}

/** A command as data: help, completion, docs/reference/commands.md and parsing all use it. */
export interface Command<T extends FlagTable = FlagTable> {
  /** Words after `svc`, e.g. `task add`. */
  name: string;
  about: string;
  /** Further paragraphs of its help. */
  details?: readonly string[];
  args?: readonly ArgumentSpec[];
  flags?: T;
  /** It runs for each argument in turn, at least one; a failure does not stop the rest. */
  repeats?: boolean;
  /** Everything after its words is an argument, taken literally, including options. */
  verbatim?: boolean;
  /** Example invocations, without the leading `svc`; at least one. */
  examples: readonly [string, ...string[]];
  /** Returns the command line whose output is the help, if it depends on the arguments; null for the usual help. */
  helpWith?(args: readonly string[]): readonly string[] | null;
  /** Left out of help (internal entry points). */
  hidden?: boolean;
  /** Returns the exit code; nothing means 0. */
  run(context: CommandContext<T>): Promise<number | undefined> | Promise<void>;
}

export const defineCommand = <const T extends FlagTable>(definition: Command<T>): Command =>
  definition as unknown as Command;

/** Converts the name of a flag to its command line form: `keepWorktree` is `--keep-worktree`. */
export const toKebabCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Lets the last argument be given several times, for a command that `repeats`. */
export const repeatArgument = (args: readonly ArgumentSpec[]): readonly ArgumentSpec[] => [
  ...args.slice(0, -1),
  ...args.slice(-1).map((last) => ({ ...last, rest: true })),
];
