import type { EngineClient } from '../engine/index.ts';
import type { Paint } from './paint.ts';

/** One flag of a command; names are camelCase here and kebab-case on the command line. */
export interface Flag {
  type: 'string' | 'boolean' | 'number';
  about: string;
  /** What the value is called in help, e.g. `host:port`. */
  value?: string;
  short?: string;
  multiple?: boolean;
  choices?: readonly string[];
}

export type FlagTable = Record<string, Flag>;

type FlagValue<F extends Flag> = F['type'] extends 'boolean'
  ? boolean
  : F['type'] extends 'number'
    ? number
    : F extends { choices: readonly (infer C)[] }
      ? C
      : string;

export type Flags<T extends FlagTable> = {
  readonly [K in keyof T]: T[K]['multiple'] extends true
    ? FlagValue<T[K]>[]
    : T[K]['type'] extends 'boolean'
      ? boolean
      : FlagValue<T[K]> | undefined;
};

/** A positional argument. Only the last one may be `rest`. */
export interface Arg {
  name: string;
  about: string;
  optional?: boolean;
  rest?: boolean;
  /** With `rest`: the words are another program's, and so are their options, with or without `--` before them. */
  foreign?: boolean;
  choices?: readonly string[];
  /** What completes here: everything of a kind, or what the command can be used on. */
  completes?: Proposal | 'file';
}

/** What a shell may propose, asked for while typing; after a colon the state that it has to be in. */
export type Proposal =
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
  | 'tool';

/** What a command is given. Commands print through it and never touch `process` themselves. */
export interface Context<T extends FlagTable = FlagTable> {
  args: readonly string[];
  /** The argument at that place, which the command's declaration requires. */
  arg(index: number): string;
  flags: Flags<T>;
  json: boolean;
  cwd: string;
  env: NodeJS.ProcessEnv;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
  /**
   * The workspace's engine, started when none runs. `start: false` fails with `engine_not_running` instead; with
   * `patienceMs` an engine that hangs is `engine_unreachable` after that time.
   */
  engine(options?: { start?: boolean; patienceMs?: number }): Promise<EngineClient>;
  /** Aborted by Ctrl-C or SIGTERM. */
  signal: AbortSignal;
  /** Every command there is. */
  loadCommands(): Promise<readonly Command[]>;
  /**
   * Prints `value` as JSON under `--json`, else what `text` makes of it (nothing when that is empty). On a terminal no
   * text is printed that would act upon it.
   */
  result<V>(value: V, text: (value: V) => string): void;
  /** A line for people on stderr; silent under `--json`. */
  note(line: string): void;
  /** A line on stderr that is said under `--json` too. */
  remark(line: string): void;
  /** Styles parts of a text; does nothing unless the command has the flag `color` and colours are on. */
  paint: Paint;
}

/** A command is data: help, completion, docs/reference/commands.md and parsing all come from it. */
export interface Command<T extends FlagTable = FlagTable> {
  /** Words after `svc`, e.g. `task add`. */
  name: string;
  about: string;
  /** What else its help says, a paragraph each. */
  details?: readonly string[];
  args?: readonly Arg[];
  flags?: T;
  /** It is done for each argument in turn, of which there is one at least; one that fails does not hold up the others. */
  repeats?: boolean;
  /** Everything after its words is an argument as it stands, options too. */
  verbatim?: boolean;
  /** Example invocations, without the leading `svc`; at least one. */
  examples: readonly [string, ...string[]];
  /** The command line whose output is the help, where that depends on the arguments; null for the usual one. */
  helpWith?(args: readonly string[]): readonly string[] | null;
  /** Left out of help (internal entry points). */
  hidden?: boolean;
  /** Returns the exit code; nothing means 0. */
  run(context: Context<T>): Promise<number | undefined> | Promise<void>;
}

export const defineCommand = <const T extends FlagTable>(definition: Command<T>): Command =>
  definition as unknown as Command;

/** Converts the name of a flag to what is typed: `keepWorktree` is `--keep-worktree`. */
export const toKebabCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** Lets the last argument be given several times, for a command that `repeats`. */
export const repeatArgument = (args: readonly Arg[]): readonly Arg[] => [
  ...args.slice(0, -1),
  ...args.slice(-1).map((last) => ({ ...last, rest: true })),
];
