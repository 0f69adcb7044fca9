import type { z } from 'zod';
import { SvcError } from '../base/errors.ts';
import { findHalfCharacter } from '../base/text.ts';
import { mapKeys } from './map-keys.ts';

/** Permissions: the Chair seat decides and dispatches, a worker works, a plain session participates. */
export type Seat = 'chair' | 'worker' | 'plain';

/** The origin of a call; stored with every change. */
export type CallTransport = 'cli' | 'tui' | 'tool' | 'task' | 'codehost' | 'chat' | 'link' | 'engine';

/** The caller. The engine decides the seat and never trusts the caller's claim. */
export interface Caller {
  seat: Seat;
  /** `SVC_ACTOR`, otherwise the OS user; never the name of a person outside, see `checkLocalActor`. */
  actor: string;
  via: CallTransport;
  /** The caller's session: a worker's (`s-12`), a Chair's (`chair-3`) or a plain one's name; null for none. */
  sessionId: string | null;
  /** The registered project of the caller's folder; null is the workspace's own. */
  project: string | null;
  /** Per-call environment (scope `call` of the variables table), e.g. `SVC_GIT_BASE`. */
  env: Readonly<Record<string, string | undefined>>;
  /** For a plain seat: why it is not the Chair's, as a clause. */
  notChair?: string | null;
  /** Set by the dispatcher for the worker of a task from an untrusted author: the sessions and tasks that it may see. */
  ownWork?: OwnWork | null;
}

/** The work of a session whose task is from an untrusted author. */
export interface OwnWork {
  sessionId: string;
  taskId: string;
}

/** The author of a change, for the event log. */
export interface CallAuthor {
  actor: string;
  via: string;
}

/** Changes by a worker or another agent session are attributed to it, not to the person whose user it runs as. */
export const by = ({ seat, actor, sessionId, via }: Caller): CallAuthor => ({
  actor: seat === 'chair' || sessionId === null ? actor : sessionId,
  via,
});

/** One call of an operation. */
export interface OperationCall {
  /** Aborted if no one waits for the answer any more. */
  signal: AbortSignal;
  /** Reports what the call is waiting for. */
  progress(message: string): void;
  /**
   * Changes the database and completes the call: the result of `work` is the answer of `run`. A repeat of the call
   * gets the same answer without running. `work` is synchronous and one transaction; if it throws, nothing is
   * changed.
   */
  finish<T>(work: () => T): Promise<T>;
  /**
   * Does the same as `finish` for a call that continues: a repeat runs it again, and `begin` returns its earlier
   * result, as JSON.
   */
  begin<T>(work: () => T): Promise<T>;
  /** Returns the result of `begin` in an earlier run of the same call; undefined for none. */
  begun<T>(): T | undefined;
}

/** Call options of a client. */
export interface CallOptions extends Partial<Pick<OperationCall, 'signal' | 'progress'>> {
  /** Identifies the call. A client that lost its connection sends it again under the same key, and nothing happens twice. */
  key?: string | null;
  /** Replaces the operation's input schema by a narrower one. */
  parameters?: z.ZodType;
}

/**
 * An operation that clients can call: data, so that the socket, the command line, the dashboard, MCP and the docs
 * share one declaration, one check and one error mapping.
 *
 * `N` is its name, `I` the schema of its input, `R` its result in wire form: `Api` is inferred from them.
 */
export interface Operation<N extends string = string, I extends z.ZodType = z.ZodType, R = unknown> {
  /** `module.verb`, e.g. `task.add`. */
  name: N;
  about: string;
  /**
   * `chair`: refused to workers and plain sessions. `trusted`: refused to the worker of a task from an untrusted
   * author; an operation that such a worker may call (`any`) only returns its own work, see `checkOwnTask`.
   */
  seat: 'any' | 'trusted' | 'chair';
  /**
   * True if it changes anything. Such calls obey `policy.mode: allowlist`, and under a key they take effect once: by
   * `Call.finish` or `Call.begin` in one transaction with the record of the call. An operation that changes more than
   * the database uses neither; simultaneous calls share its run, its answer is recorded at the end, and after a crash
   * before that it runs again, so it must recognise finished steps.
   */
  changes: boolean;
  /** True if its answer contains a secret and is not recorded. */
  isSecret?: boolean;
  /** True if `run` returns wire form already, with keys of the user or another standard. */
  isWire?: boolean;
  input: I;
  run(input: z.output<I>, caller: Caller, call: OperationCall): unknown;
  /** Only for the compiler: the client's result type. */
  readonly result?: R;
}

/** Declares an operation whose result the dispatcher converts to wire form. */
export const operation = <const N extends string, I extends z.ZodType, O>(
  definition: Omit<Operation<N, I>, 'run' | 'isWire' | 'result'> & {
    run(input: z.output<I>, caller: Caller, call: OperationCall): O;
  },
): Operation<N, I, WireValue<Awaited<O>>> => definition;

/** Declares an operation whose result is already in wire form. */
export const wireOperation = <const N extends string, I extends z.ZodType, O>(
  definition: Omit<Operation<N, I>, 'run' | 'isWire' | 'result'> & {
    run(input: z.output<I>, caller: Caller, call: OperationCall): O;
  },
): Operation<N, I, Awaited<O>> => ({ ...definition, isWire: true });

/** The return value of functions that declare a module's operations. */
export type OperationsOf<F extends (deps: never) => readonly Operation[]> = ReturnType<F>[number];

/** Inputs and results of the operations by name. */
export type ApiOf<O extends Operation> = {
  [Each in O as Each['name']]: {
    input: z.input<Each['input']>;
    output: Each extends Operation<string, z.ZodType, infer R> ? R : never;
  };
};

export interface Operations<O extends Operation = Operation> {
  readonly all: readonly O[];
  /** Checks seat and actor, parses, runs. Throws SvcError. The result is in wire form (snake_case keys). */
  call(name: string, input: unknown, caller: Caller, call?: CallOptions): Promise<unknown>;
}

export interface OperationPolicy {
  mode: '' | 'solo' | 'allowlist';
  actors: readonly string[];
}

/** Reports whether an actor may change anything: under `policy.mode: allowlist` only listed actors may (02 Authentication). */
export const mayAct = ({ mode, actors }: OperationPolicy, actor: string): boolean =>
  mode !== 'allowlist' || actors.includes(actor);

export const actorDenied = (actor: string): SvcError =>
  new SvcError('actor_denied', `actor ${JSON.stringify(actor)} is not in policy.actors`, {
    hint: 'have a listed person do it, or add this actor to policy.actors',
  });

/** Names that only the engine assigns: to people of a chat, a code host or the linked server, and to signers of requests. */
const GIVEN = /^\s*(?:(?:chat|codehost)\s*:|webhook\s*$)|@\s*(?:page|telegram|slack|automation)\s*$/i;

/**
 * Checks the name of a local client, from `SVC_ACTOR` or a tool's `actor`: it must be storable and not reserved for
 * people outside. Throws `actor_denied`.
 */
export function checkLocalActor(actor: string): void {
  const plain = actor.normalize('NFKC');
  const what = /[\p{C}\p{Zl}\p{Zp}]/u.test(actor)
    ? 'contains an invisible character'
    : GIVEN.test(plain)
      ? 'is reserved for people outside this machine'
      : null;
  if (what === null) return;
  throw new SvcError('actor_denied', `the actor ${JSON.stringify(plain.slice(0, 60))} ${what}`, {
    hint: 'set SVC_ACTOR to another name',
  });
}

/** Checks text from outside before it is stored. Throws `fields_invalid`, which names the field. */
export function checkWholeText(input: unknown): void {
  const path = findHalfCharacter(input);
  if (path === null) return;
  const field = path.join('.') || '(body)';
  const problem = 'contains an unpaired surrogate';
  throw new SvcError('fields_invalid', `${field}: ${problem}`, { data: { fields: [{ field, problem }] } });
}

/** Creates the error for calling `name` from another seat. */
export function chairOnly(name: string, { seat, sessionId, notChair }: Caller): SvcError {
  const who = sessionId === null ? `a ${seat} session` : `${seat} session ${sessionId}`;
  const why = seat === 'plain' && notChair ? ` (${notChair})` : '';
  return new SvcError('chair_only', `${name} is for the Chair seat; this call comes from ${who}${why}`, {
    hint: 'ask the person or agent in the Chair seat to do it',
  });
}

/** Reports whether a caller may see data of a task: the worker of a task from an untrusted author only sees its own task. */
export const maySeeTask = ({ ownWork }: Caller, taskId: string | null): boolean =>
  ownWork == null || taskId === ownWork.taskId;

/** Throws `chair_only` if the caller may not see `what`, such as `s-3`, which belongs to the task. */
export function checkOwnTask(caller: Caller, taskId: string | null, what: string): void {
  if (!maySeeTask(caller, taskId)) throw ownWorkError(what, caller);
}

/** Creates the error for data that such a worker may not see. */
export const ownWorkError = (what: string, { ownWork }: Caller): SvcError =>
  new SvcError('chair_only', `${ownWork?.sessionId ?? 'this session'} has no access to ${what}`, {
    hint: `a worker on a task from an untrusted author can only see its own task ${ownWork?.taskId ?? ''}`,
  });

type SnakeCase<S extends string> = S extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Rest>}`
  : S;

/** An engine type as clients see it: `toWire` for types. */
export type WireValue<T> = T extends readonly (infer E)[]
  ? WireValue<E>[]
  : T extends object
    ? { [K in keyof T as K extends string ? SnakeCase<K> : K]: WireValue<T[K]> }
    : T;

/** Converts keys of our objects from camelCase to snake_case, deeply. Not for maps with the user's own keys. */
export const toWire = <T>(value: T): WireValue<T> => mapKeys(value, toSnakeCase) as WireValue<T>;

/** Keys that were converted before. */
const snakeCases = new Map<string, string>();
/** Far more than the program has. */
const MOST_SNAKE_CASES = 5000;

function toSnakeCase(key: string): string {
  let found = snakeCases.get(key);
  if (found === undefined) {
    found = key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (snakeCases.size < MOST_SNAKE_CASES) snakeCases.set(key, found);
  }
  return found;
}
