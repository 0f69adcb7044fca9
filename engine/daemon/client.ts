import { connect as connectSocket, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { JSONRPCClient } from 'json-rpc-2.0';
import type { Wire } from '../api/operation.ts';
import type { ToolAnswer } from '../api/tool-operations.ts';
import { asSvcError, SvcError } from '../base/errors.ts';
import type { Api } from '../compose.ts';
import type { DaemonRecord } from '../workspace/daemon-record.ts';
import { findWorkspace } from '../workspace/find.ts';
import { helloFrom } from './hello.ts';
import { lineSplitter } from './json-lines.ts';
import { locateEngine } from './where.ts';
import { errorFromWire, type Hello, type Welcome } from './wire.ts';

// This module is the cold start of every command: it loads neither zod nor yaml nor the database.

/** A notification of a subscription: `event`, `log`, `access` or `subscription_failed`. */
export type Notification = { method: string; params: Record<string, unknown> & { subscription: number } };

/** A connection to a workspace's engine. */
export interface EngineClient {
  readonly welcome: Wire<Welcome>;
  /** Runs an operation. Rejects with the engine's SvcError, or `engine_unreachable` when the connection ends. */
  call<K extends keyof Api>(operation: K, ...input: ApiInput<K>): Promise<Api[K]['output']>;
  /** `call` for what knows the operation by its name alone, such as a bridge that passes on what others send. */
  callByName(operation: string, input?: object): Promise<unknown>;
  /**
   * Runs an operation that may take long. The same `key` after a lost connection means the same call: what it made is
   * not made again. `signal` ends the waiting, not what was begun; then it rejects with `cancelled`.
   */
  run<K extends keyof Api>(
    operation: K,
    input: Api[K]['input'],
    options: RunOptions,
  ): Promise<Api[K]['output']>;
  /** `run` for a tool, by the name that agents have for it. */
  callTool(name: string, input: Record<string, unknown>, options: RunOptions): Promise<ToolAnswer>;
  /**
   * Starts a subscription; `onNotification` gets everything that belongs to it, with the answer that began it: what the
   * engine had ready is there before this resolves.
   */
  subscribe<T extends { subscription: number }>(
    method: string,
    input: object,
    onNotification: (notification: Notification, answer: T) => void,
  ): Promise<T>;
  /** Ends a subscription of this connection; its listener hears nothing more. One that has ended by itself is fine. */
  unsubscribe(subscription: number): Promise<void>;
  /** Resolves when the connection has ended, whoever ended it. */
  readonly closed: Promise<void>;
  close(): void;
}

/** The input of an operation, which may be left out where all of it may. */
export type ApiInput<K extends keyof Api> =
  Record<never, never> extends Api[K]['input'] ? [input?: Api[K]['input']] : [input: Api[K]['input']];

export interface RunOptions {
  key: string;
  signal?: AbortSignal;
  onProgress?(message: string): void;
}

export interface ConnectOptions {
  cwd: string;
  env: NodeJS.ProcessEnv;
  via?: Hello['via'];
  /** Takes part for as long as it is connected: a Chair gets a session of its own. */
  attends?: boolean;
  /** Program and arguments that host the engine; without it none is started. */
  daemon?: readonly string[];
  /** Start one only where the last has died: not where somebody has stopped it. */
  afterCrash?: boolean;
  /** Ends the connection after that time, whatever it waits for: an engine that hangs must not hold up who asks. */
  patienceMs?: number;
  /** Ends the waiting for an engine that others start; connecting then rejects with `cancelled`. */
  signal?: AbortSignal;
}

/** JSON-RPC 2.0, section 5.1. */
const METHOD_NOT_FOUND = -32601;

/** How often a connection that ends before its welcome is tried again: the engine behind it is stopping or dying. */
const TRIES = 40;
const PAUSE_MS = 50;
/** How long an engine is waited for that is not this client's to start; a restart takes less than a second. */
const PATIENCE_MS = 30_000;

/**
 * Connects to the engine of the workspace around `cwd`. What belongs to a run never starts one and waits for it instead, as
 * does a client of an engine whose supervisor is about to start it again. Throws `no_workspace`, `engine_not_running`,
 * `engine_unreachable`, and as `locateEngine` where what is there is not this machine's own.
 */
export async function connect(options: ConnectOptions): Promise<EngineClient> {
  const { root, file } = findWorkspace(options);
  const { daemon, env, afterCrash = false } = options;
  const end = performance.now() + (options.patienceMs ?? Number.POSITIVE_INFINITY);
  let isStarted = false;
  let waitsUntil: number | null = null;
  let tries = 0;
  /** Ends a wait for an engine that others start. */
  async function waitOr(fail: () => SvcError): Promise<void> {
    waitsUntil ??= Math.min(end, performance.now() + PATIENCE_MS);
    if (afterCrash || performance.now() >= waitsUntil) throw fail();
    await delay(PAUSE_MS, undefined, options).catch(() => {
      throw new SvcError('cancelled', `nobody waits for the engine of ${root} any more`);
    });
  }
  for (;;) {
    const { data, socket, record, isConfined } = await locateEngine({ root, file }, env);
    const open = socket === null ? null : await openSocket(socket).catch(ignoreAbsent);
    try {
      if (open) return await greet(open, options);
    } catch (error) {
      // Only what ended without a word is tried again.
      const isLost = open?.destroyed === true && asSvcError(error).code === 'engine_unreachable';
      open?.destroy();
      if (!isLost || tries >= TRIES || performance.now() >= end) throw error;
    }
    if (open || isStarted) {
      tries += 1;
      if (tries > TRIES)
        throw new SvcError('engine_unreachable', `the engine of ${root} does not answer`, {
          hint: 'run svc doctor',
        });
      await delay(PAUSE_MS);
    } else if (daemon === undefined || (afterCrash && record === null)) {
      throw new SvcError('engine_not_running', `no engine runs for ${root}`, { hint: 'svc up starts it' });
    } else if (isConfined || (await launching()).mustNotStart(env)) {
      await waitOr(() => notFromRun(root));
    } else if ((await launching()).isSupervised(record, { isFirst: waitsUntil === null })) {
      await waitOr(() => notBack(root, record));
    } else {
      const { startDaemon } = await launching();
      isStarted = (await startDaemon({ command: daemon, root, file, data, env })) === 'ready';
    }
  }
}

/** Few clients need it: only those that find no engine. */
const launching = () => import('./launch.ts');

/** Said to whatever belongs to a run. */
export const notFromRun = (root: string): SvcError =>
  new SvcError('engine_not_running', `no engine runs for ${root}, and a worker cannot start one`, {
    hint: 'go on without it, or call again later: the person has to start it (svc up)',
  });

const notBack = (root: string, record: DaemonRecord | null): SvcError =>
  new SvcError(
    'engine_not_running',
    `the engine of ${root} has crashed, and its supervisor (pid ${record?.supervisor?.pid}) has not got it back yet`,
    { hint: 'see .svc/log/daemon.out; svc down ends the supervisor, svc up then says what is wrong' },
  );

function openSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(path);
    socket.once('connect', () => resolve(socket)).once('error', reject);
  });
}

/** Nobody listens, or whoever did is just dying: that is an answer, everything else an error. */
function ignoreAbsent(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '')) return null;
  throw new SvcError('engine_unreachable', `cannot reach the engine: ${error.message}`, { cause: error });
}

async function greet(
  socket: Socket,
  { cwd, env, via = 'cli', attends = false, patienceMs }: ConnectOptions,
): Promise<EngineClient> {
  const listeners = new Map<number, (notification: Notification) => void>();
  /** What arrived for a subscription before its answer was read. */
  let early: Notification[] = [];
  const rpc = new JSONRPCClient((request) => {
    socket.write(`${JSON.stringify(request)}\n`);
  });
  let isLate = false;
  /** Why the engine would not have this connection. */
  let refused: SvcError | null = null;
  const lost = () =>
    refused ??
    new SvcError(
      'engine_unreachable',
      isLate ? 'the engine does not answer' : 'the connection to the engine ended',
      { hint: 'svc status' },
    );
  const giveUp = (): void => {
    isLate = true;
    socket.destroy();
  };
  const late = patienceMs === undefined ? undefined : setTimeout(giveUp, patienceMs);

  const progress = new Map<unknown, (message: string) => void>();

  function receive(line: string): void {
    const message = JSON.parse(line) as { id?: unknown; error?: { message: string } } & Notification;
    if (message.id === null && message.error !== undefined) {
      refused = errorFromWire(message.error);
      return;
    }
    if (message.method === undefined) {
      rpc.receive(message as never);
      return;
    }
    if (message.method === 'progress') {
      progress.get(message.params.key)?.(String(message.params.message));
      return;
    }
    const listener = listeners.get(message.params.subscription);
    if (listener) listener(message);
    else early.push(message);
  }

  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  void closed.then(() => {
    clearTimeout(late);
    rpc.rejectAllPendingRequests(lost().message);
  });
  socket.on(
    'data',
    lineSplitter(receive, () => socket.destroy()),
  );
  socket.on('error', () => socket.destroy());

  async function request<T>(method: string, input: object = {}): Promise<T> {
    if (!socket.writable) throw lost();
    try {
      return (await rpc.request(method, input)) as T;
    } catch (error) {
      if (socket.destroyed && !(error as { data?: unknown }).data) throw lost();
      if ((error as { code?: unknown }).code === METHOD_NOT_FOUND) {
        throw new SvcError(
          'conflict',
          `the engine that runs does not know ${method}: it is another version`,
          {
            hint: 'svc down, then svc up; workers go on meanwhile',
          },
        );
      }
      throw errorFromWire(error as { message: string; data?: unknown });
    }
  }

  async function runUnderKey<T>(
    method: 'call' | 'tool',
    name: string,
    params: object,
    { key, signal, onProgress }: RunOptions,
  ): Promise<T> {
    if (signal?.aborted) throw new SvcError('cancelled', `${name} was given up before it was sent`);
    const cancel = (): void => void request('cancel', { key }).catch(() => undefined);
    signal?.addEventListener('abort', cancel, { once: true });
    if (onProgress) progress.set(key, onProgress);
    try {
      return await request<T>(method, { ...params, key });
    } finally {
      signal?.removeEventListener('abort', cancel);
      progress.delete(key);
    }
  }

  const hello = helloFrom({ cwd, env, via, attends });
  const welcome = await request<Wire<Welcome>>('hello', hello);

  return {
    welcome,
    call: (operation, ...input) => request(operation, ...input),
    callByName: request,
    run: (operation, input, options) => runUnderKey('call', operation, { operation, input }, options),
    callTool: (name, input, options) => runUnderKey('tool', name, { name, arguments: input }, options),
    async subscribe<T extends { subscription: number }>(
      method: string,
      input: object,
      onNotification: (notification: Notification, answer: T) => void,
    ) {
      const answer = await request<T>(method, input);
      const hear = (notification: Notification): void => onNotification(notification, answer);
      listeners.set(answer.subscription, hear);
      const waiting = early;
      early = [];
      for (const each of waiting) {
        if (each.params.subscription === answer.subscription) hear(each);
        else early.push(each);
      }
      return answer;
    },
    async unsubscribe(subscription) {
      const isOurs = listeners.has(subscription);
      // What is on its way is for nobody; without any listener it would be kept as if it had come too early.
      listeners.set(subscription, () => undefined);
      try {
        await request('unsubscribe', { subscription });
      } catch (error) {
        if (!isOurs || (error as SvcError).code !== 'not_found') throw error;
      } finally {
        listeners.delete(subscription);
      }
    },
    closed,
    close: () => socket.end(),
  };
}
