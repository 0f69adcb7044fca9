import type { z } from 'zod';
import { SvcError } from '../base/errors.ts';
import { findHalfCharacter } from '../base/text.ts';

/** Who may do what: the Chair seat decides and dispatches, a worker works, a plain session takes part. */
export type Seat = 'chair' | 'worker' | 'plain';

/** Where a call comes from; kept with every change. */
export type Via = 'cli' | 'tui' | 'tool' | 'task' | 'codehost' | 'chat' | 'link' | 'engine';

/** Who calls. The seat is decided by the engine, never taken from the caller's word. */
export interface Caller {
  seat: Seat;
  /** `SVC_ACTOR`, else the OS user; never the name of somebody outside, see `checkLocalActor`. */
  actor: string;
  via: Via;
  /** The session the caller takes part as: a worker's (`s-12`), a Chair's (`chair-3`) or a plain one's name; null for none. */
  sessionId: string | null;
  /** The registered project whose folder the caller stands in; null is the workspace's own. */
  project: string | null;
  /** Per-call environment (scope `call` of the variables table), e.g. `SVC_GIT_BASE`. */
  env: Readonly<Record<string, string | undefined>>;
  /** Of a plain seat: why it is not the Chair's, a clause. */
  notChair?: string | null;
  /** Set by the dispatcher for the worker of a stranger's task: what it may see of sessions and tasks. */
  ownWork?: OwnWork | null;
}

/** The work of a session that nobody vouches for. */
export interface OwnWork {
  sessionId: string;
  taskId: string;
}

/** Who made a change, for the event log. */
export interface By {
  actor: string;
  via: string;
}

/** What a worker or another agent in a session of its own does is its doing, and not the person's whose user it runs as. */
export const by = ({ seat, actor, sessionId, via }: Caller): By => ({
  actor: seat === 'chair' || sessionId === null ? actor : sessionId,
  via,
});

/** The one call that an operation answers. */
export interface Call {
  /** Aborted when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Says what is being waited for. */
  progress(message: string): void;
  /**
   * Changes the database, and with that the call is done: what `work` gives is what `run` answers. The same call sent again
   * is answered so without being run. `work` is synchronous and one transaction; when it throws, nothing is changed.
   */
  finish<T>(work: () => T): Promise<T>;
  /** As `finish`, for a call that goes on: when it is sent again it is run, and `begin` gives what it gave, as JSON. */
  begin<T>(work: () => T): Promise<T>;
  /** What an earlier run of the same call has begun; undefined for nothing. */
  begun<T>(): T | undefined;
}

/** How a client calls. */
export interface CallOptions extends Partial<Pick<Call, 'signal' | 'progress'>> {
  /** Names the call. A client that lost its connection sends it again under the same key, and nothing happens twice. */
  key?: string | null;
}

/**
 * Something a client can ask of the engine: data, so that the socket, the command line, the dashboard, MCP and the docs share
 * one declaration, one check and one error mapping.
 *
 * `N` is its name, `I` the schema of its input, `R` its result in wire form: `Api` is inferred from them.
 */
export interface Operation<N extends string = string, I extends z.ZodType = z.ZodType, R = unknown> {
  /** `module.verb`, e.g. `task.add`. */
  name: N;
  about: string;
  /**
   * `chair`: refused to workers and plain sessions. `trusted`: refused to the worker of a stranger's task; an operation
   * that such a worker may call (`any`) answers it from its own work alone, see `checkOwnTask`.
   */
  seat: 'any' | 'trusted' | 'chair';
  /**
   * Whether it changes anything. Such calls obey `policy.mode: allowlist`, and under a key they change it once: by
   * `Call.finish` or `Call.begin` in one transaction with the record of the call. What changes more than the database does
   * without them; calls that come together share its run, its answer is recorded at the end, and after a crash before that
   * it runs again, so that it has to find what it has done already.
   */
  changes: boolean;
  /** Its answer holds a secret, and is not recorded. */
  isSecret?: boolean;
  /** `run` answers in wire form already, with keys that are the user's own or another standard's. */
  isWire?: boolean;
  input: I;
  run(input: z.output<I>, caller: Caller, call: Call): unknown;
  /** Only for the compiler: what a client gets. */
  readonly result?: R;
}

/** Declares an operation whose result is put into wire form by the dispatcher. */
export const operation = <const N extends string, I extends z.ZodType, O>(
  definition: Omit<Operation<N, I>, 'run' | 'isWire' | 'result'> & {
    run(input: z.output<I>, caller: Caller, call: Call): O;
  },
): Operation<N, I, Wire<Awaited<O>>> => definition;

/** Declares an operation that answers in wire form already. */
export const wireOperation = <const N extends string, I extends z.ZodType, O>(
  definition: Omit<Operation<N, I>, 'run' | 'isWire' | 'result'> & {
    run(input: z.output<I>, caller: Caller, call: Call): O;
  },
): Operation<N, I, Awaited<O>> => ({ ...definition, isWire: true });

/** What the functions that declare a module's operations return. */
export type OperationsOf<F extends (deps: never) => readonly Operation[]> = ReturnType<F>[number];

/** By name what each operation takes and answers. */
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

export interface Policy {
  mode: '' | 'solo' | 'allowlist';
  actors: readonly string[];
}

/** Under `policy.mode: allowlist` only listed actors may change anything (02 Authentication). */
export const mayAct = ({ mode, actors }: Policy, actor: string): boolean =>
  mode !== 'allowlist' || actors.includes(actor);

export const actorDenied = (actor: string): SvcError =>
  new SvcError('actor_denied', `actor ${JSON.stringify(actor)} is not in policy.actors`, {
    hint: 'have a listed person do it, or add this actor to policy.actors',
  });

/** Names that only the engine gives: to people of a chat, a code host or the linked server, and to whoever signs requests. */
const GIVEN = /^\s*(?:(?:chat|codehost)\s*:|webhook\s*$)|@\s*(?:page|telegram|slack|automation)\s*$/i;

/**
 * What a client on this machine calls itself, by `SVC_ACTOR` or as a tool's `actor`: a name that a record can hold, and
 * none that stands for somebody outside. Throws `actor_denied`.
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

/** Whatever takes in text from outside asks this first. Throws `fields_invalid`, which names the field. */
export function checkWholeText(input: unknown): void {
  const path = findHalfCharacter(input);
  if (path === null) return;
  const field = path.join('.') || '(body)';
  const problem = 'contains an unpaired surrogate';
  throw new SvcError('fields_invalid', `${field}: ${problem}`, { data: { fields: [{ field, problem }] } });
}

/** `name` was called from another seat. */
export function chairOnly(name: string, { seat, sessionId, notChair }: Caller): SvcError {
  const who = sessionId === null ? `a ${seat} session` : `${seat} session ${sessionId}`;
  const why = seat === 'plain' && notChair ? ` (${notChair})` : '';
  return new SvcError('chair_only', `${name} is for the Chair seat; this call comes from ${who}${why}`, {
    hint: 'ask the person or agent in the Chair seat to do it',
  });
}

/** Whether a caller may see what belongs to a task: the worker of a stranger's task sees that task alone. */
export const maySeeTask = ({ ownWork }: Caller, taskId: string | null): boolean =>
  ownWork == null || taskId === ownWork.taskId;

/** Throws `chair_only` when the caller may not see `what`, such as `s-3`, which belongs to the task. */
export function checkOwnTask(caller: Caller, taskId: string | null, what: string): void {
  if (!maySeeTask(caller, taskId)) throw ownWorkError(what, caller);
}

/** `what` is more than a stranger's worker may see. */
export const ownWorkError = (what: string, { ownWork }: Caller): SvcError =>
  new SvcError('chair_only', `${ownWork?.sessionId ?? 'this session'} has no access to ${what}`, {
    hint: `a worker on a task from an untrusted author can only see its own task ${ownWork?.taskId ?? ''}`,
  });

type SnakeCase<S extends string> = S extends `${infer Head}${infer Rest}`
  ? `${Head extends Lowercase<Head> ? Head : `_${Lowercase<Head>}`}${SnakeCase<Rest>}`
  : S;

/** A type of the engine as clients see it: `toWire` for types. */
export type Wire<T> = T extends readonly (infer E)[]
  ? Wire<E>[]
  : T extends object
    ? { [K in keyof T as K extends string ? SnakeCase<K> : K]: Wire<T[K]> }
    : T;

/** Keys of our own objects from camelCase to snake_case, deeply. Maps with keys of the user's own must not pass here. */
export const toWire = <T>(value: T): Wire<T> => withSnakeKeys(value) as Wire<T>;

function withSnakeKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSnakeKeys);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      withSnakeKeys(inner),
    ]),
  );
}
