import { connect as connectSocket, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { JSONRPCClient } from 'json-rpc-2.0';
import type { WireValue } from '../core/api/operation.ts';
import type { ToolAnswer } from '../core/api/tool-operations.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import { createLineSplitter } from '../core/base/json-lines.ts';
import { version } from '../core/base/own-package.ts';
import { isAtLeast } from '../core/base/versions.ts';
import { fromWireError } from '../core/base/wire-error.ts';
import type { DaemonRecord } from '../core/workspace/daemon-record.ts';
import { findWorkspace } from '../core/workspace/find.ts';
import { isEngineElsewhere } from '../core/workspace/seat-folder.ts';
import { createClientNotifications, type EngineNotification } from './client-notifications.ts';
import type { Api } from './compose/compose.ts';
import { buildHello } from './hello.ts';
import { locateEngine } from './locate.ts';
import type { McpRelay } from './mcp/service.ts';
import { PING_ID, watchConnection } from './watch-connection.ts';
import type { HelloMessage, WelcomeMessage } from './wire.ts';

// Every command starts by loading this module, so it loads neither zod nor yaml nor the database.

/** A connection to a workspace's engine. */
export interface EngineClient {
  readonly welcome: WireValue<WelcomeMessage>;
  /** Runs an operation. Rejects with the engine's SvcError, or `engine_unreachable` if the connection ends. */
  call<K extends keyof Api>(operation: K, ...input: ApiInput<K>): Promise<Api[K]['output']>;
  /** `call` for an operation known only by name, such as by a bridge that forwards requests. */
  callByName(operation: string, input?: object): Promise<unknown>;
  /**
   * Runs an operation that may take long. After a lost connection the same `key` means the same call, whose effects are
   * not repeated. `signal` ends only the wait, not the operation; it then rejects with `cancelled`.
   */
  run<K extends keyof Api>(
    operation: K,
    input: Api[K]['input'],
    options: RunOptions,
  ): Promise<Api[K]['output']>;
  /** `run` for a tool, by its name for agents. */
  callTool(name: string, input: Record<string, unknown>, options: RunOptions): Promise<ToolAnswer>;
  /**
   * Starts a subscription. `onNotification` gets each of its notifications along with the answer that started it;
   * notifications that the engine had ready arrive before this resolves.
   */
  subscribe<T extends { subscription: number }>(
    method: string,
    input: object,
    onNotification: (notification: EngineNotification, answer: T) => void,
  ): Promise<T>;
  /** Ends a subscription of this connection; its listener is not called again. It may have ended already. */
  unsubscribe(subscription: number): Promise<void>;
  /**
   * Opens the engine's MCP server for a client whose lines the caller relays, as frames; see mcp/pipe.ts. `onFrame`
   * gets the engine's frames.
   */
  openMcp(input: McpRelay, onFrame: (frame: string) => void): Promise<McpChannel>;
  /** Resolves when the connection has ended, by either side. */
  readonly closed: Promise<void>;
  close(): void;
}

/** The engine's side of a relay. */
export interface McpChannel {
  send(frame: string): void;
  /** Tells whether an answer is due: a silent engine then counts as hung. */
  setAwaiting(isAwaiting: boolean): void;
}

/** The input of an operation; optional if all its fields are. */
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
  via?: HelloMessage['via'];
  /** True to join while connected: a Chair gets its own session. */
  attends?: boolean;
  /** Program and arguments that host the engine; without it none is started. */
  daemon?: readonly string[];
  /** Starts one only after a crash, not if it was stopped on purpose. */
  afterCrash?: boolean;
  /** Ends the connection after that time, ms, even during a wait: a hanging engine must not block the caller. */
  patienceMs?: number;
  /** Ends the wait for an engine that others start; connecting then rejects with `cancelled`. */
  signal?: AbortSignal;
}

/** JSON-RPC 2.0, section 5.1. */
const METHOD_NOT_FOUND = -32601;

/** How often a connection that ends before its welcome is retried: its engine is stopping or crashing. */
const TRIES = 40;
const PAUSE_MS = 50;
/** How long to wait for an engine that others start; a restart takes less than a second. */
const PATIENCE_MS = 30_000;
/** How long a worker waits for an engine on another machine, and the pause between two attempts, ms. */
const FAR_PATIENCE_MS = 600_000;
const FAR_PAUSE_MS = 500;

/**
 * Connects to the engine of the workspace around `cwd`, and starts one if `daemon` is set. A process of a run never starts
 * one but waits, as does a client of an engine whose supervisor is about to restart it. Throws `no_workspace`,
 * `engine_not_running`, `engine_unreachable`, and as `locateEngine`.
 */
export async function connectToEngine(options: ConnectOptions): Promise<EngineClient> {
  const { root, file } = findWorkspace(options);
  const { daemon, env, afterCrash = false } = options;
  const end = performance.now() + (options.patienceMs ?? Number.POSITIVE_INFINITY);
  const isFar = isEngineElsewhere(env);
  let isStarted = false;
  let waitsUntil: number | null = null;
  let tries = 0;
  /** Waits a moment for an engine that others start; throws the result of `fail` once that has taken too long. */
  async function waitOrFail(fail: () => SvcError): Promise<void> {
    waitsUntil ??= Math.min(end, performance.now() + (isFar ? FAR_PATIENCE_MS : PATIENCE_MS));
    if ((afterCrash && !isFar) || performance.now() >= waitsUntil) throw fail();
    await delay(isFar ? FAR_PAUSE_MS : PAUSE_MS, undefined, options).catch(() => {
      throw new SvcError('cancelled', `no one waits for the engine of ${root} any more`);
    });
  }
  for (;;) {
    const { data, socket, record, isConfined } = await locateEngine({ root, file }, env);
    const open = socket === null ? null : await openSocket(socket).catch(ignoreAbsent);
    try {
      if (open) return await openClient(open, options, { root, pid: record?.pid ?? null });
    } catch (error) {
      const { code, data: details } = asSvcError(error);
      // Only a connection that ended without an answer is retried, and an engine that hangs does not end it.
      const isLost = open?.destroyed === true && code === 'engine_unreachable' && details.hung !== true;
      open?.destroy();
      const isLate = tries >= TRIES && !isFar;
      if (!isLost || isLate || performance.now() >= end) throw error;
    }
    if (isFar) {
      await waitOrFail(() => outOfReachError(root));
    } else if (open || isStarted) {
      tries += 1;
      if (tries > TRIES)
        throw new SvcError('engine_unreachable', `the engine of ${root} does not answer`, {
          hint: 'run svc doctor',
        });
      await delay(PAUSE_MS);
    } else if (daemon === undefined || (afterCrash && record === null)) {
      throw new SvcError('engine_not_running', `no engine is running for ${root}`, {
        hint: 'svc up starts it',
      });
    } else if (isConfined || (await loadLaunch()).mustNotStart(data, env)) {
      await waitOrFail(() => mayNotStartError(root));
    } else if ((await loadLaunch()).isSupervised(record, { isFirst: waitsUntil === null })) {
      await waitOrFail(() => notRestartedError(root, record));
    } else {
      const { startDaemon } = await loadLaunch();
      isStarted = (await startDaemon({ command: daemon, root, file, data, env })) === 'ready';
    }
  }
}

/** The error for a worker whose engine is on another machine. */
const outOfReachError = (root: string): SvcError =>
  new SvcError('engine_unreachable', `the engine of ${root} is on another machine, and cannot be reached`, {
    hint: 'continue without it, or call again later',
  });

/** Loaded late: only clients that find no engine need it. */
const loadLaunch = () => import('./launch.ts');

/** The error for a process of a run, which may not start an engine. */
export const mayNotStartError = (root: string): SvcError =>
  new SvcError('engine_not_running', `no engine is running for ${root}, and a worker cannot start one`, {
    hint: 'continue without it, or call again later: the person must start it (svc up)',
  });

const notRestartedError = (root: string, record: DaemonRecord | null): SvcError =>
  new SvcError(
    'engine_not_running',
    `the engine of ${root} has crashed, and its supervisor (pid ${record?.supervisor?.pid}) has not restarted it yet`,
    { hint: 'see .svc/log/daemon.out; svc down ends the supervisor, then svc up shows the error' },
  );

function openSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket(path);
    socket.once('connect', () => resolve(socket)).once('error', reject);
  });
}

/** Returns null if nothing listens or the listener is just ending; throws for any other error. */
function ignoreAbsent(error: NodeJS.ErrnoException): null {
  if (['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(error.code ?? '')) return null;
  throw new SvcError('engine_unreachable', `cannot reach the engine: ${error.message}`, { cause: error });
}

const connectionEndedError = (): SvcError =>
  new SvcError('engine_unreachable', 'the connection to the engine ended', { hint: 'svc status' });

/** The error for a connected engine that is silent: it is stopped, or waits for a disk. */
const hungError = ({ root, pid }: { root: string; pid: number | null }): SvcError =>
  new SvcError('engine_unreachable', `the engine of ${root} (pid ${pid ?? 'unknown'}) does not answer`, {
    hint: 'wait and try again; svc down --force ends it, svc up starts another, and workers continue',
    data: { hung: true, pid },
  });

async function openClient(
  socket: Socket,
  { cwd, env, via = 'cli', attends = false, patienceMs, signal: stopped }: ConnectOptions,
  place: { root: string; pid: number | null },
): Promise<EngineClient> {
  const rpc = new JSONRPCClient((request) => {
    socket.write(`${JSON.stringify(request)}\n`);
  });
  const watch = watchConnection(socket, {
    ...{ patienceMs, stopped },
    isFar: isEngineElsewhere(env),
    hungError: () => hungError(place),
  });
  const connectionLostError = () => watch.problem() ?? connectionEndedError();
  const notifications = createClientNotifications(sendRequest);
  const progress = new Map<unknown, (message: string) => void>();

  let onFrame: ((frame: string) => void) | null = null;

  function receiveLine(line: string): void {
    if (onFrame !== null && !line.startsWith('{')) {
      onFrame(line);
      return;
    }
    const message = JSON.parse(line) as { id?: unknown; error?: { message: string } } & EngineNotification;
    if (message.id === null && message.error !== undefined) {
      watch.setProblem(fromWireError(message.error));
      return;
    }
    if (message.id === PING_ID) return;
    if (message.method === undefined) {
      rpc.receive(message as never);
      return;
    }
    if (message.method === 'progress') {
      progress.get(message.params.key)?.(String(message.params.message));
      return;
    }
    notifications.deliver(message);
  }

  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  void closed.then(() => {
    watch.close();
    rpc.rejectAllPendingRequests(connectionLostError().message);
  });
  /** That of the engine, once it has answered. */
  let engineVersion = version;
  const splitLines = createLineSplitter(receiveLine, () => socket.destroy());
  socket.on('data', (chunk: Buffer) => {
    watch.noteSign();
    splitLines(chunk);
  });
  socket.on('error', () => socket.destroy());

  async function sendRequest<T>(method: string, input: object = {}): Promise<T> {
    if (!socket.writable) throw connectionLostError();
    watch.beginRequest();
    try {
      return (await rpc.request(method, input)) as T;
    } catch (error) {
      if (socket.destroyed && !(error as { data?: unknown }).data) throw connectionLostError();
      if ((error as { code?: unknown }).code === METHOD_NOT_FOUND) {
        const isOlder = isAtLeast(version, engineVersion);
        throw new SvcError(
          'conflict',
          `the running engine is ${engineVersion}, this is svc ${version}, and it does not know ${method}`,
          {
            hint: isOlder
              ? 'svc down, then svc up; workers continue'
              : 'start this client again, with the version of the engine',
          },
        );
      }
      throw fromWireError(error as { message: string; data?: unknown });
    } finally {
      watch.endRequest();
    }
  }

  async function runUnderKey<T>(
    method: 'call' | 'tool',
    name: string,
    params: object,
    { key, signal, onProgress }: RunOptions,
  ): Promise<T> {
    if (signal?.aborted) throw new SvcError('cancelled', `${name} was cancelled before it was sent`);
    const cancelRequest = (): void => void sendRequest('cancel', { key }).catch(() => undefined);
    signal?.addEventListener('abort', cancelRequest, { once: true });
    if (onProgress) progress.set(key, onProgress);
    try {
      return await sendRequest<T>(method, { ...params, key });
    } finally {
      signal?.removeEventListener('abort', cancelRequest);
      progress.delete(key);
    }
  }

  const hello = buildHello({ cwd, env, via, attends });
  const welcome = await sendRequest<WireValue<WelcomeMessage>>('hello', hello);
  engineVersion = welcome.version;
  watch.welcome();

  return {
    welcome,
    call: (operation, ...input) => sendRequest(operation, ...input),
    callByName: sendRequest,
    run: (operation, input, options) => runUnderKey('call', operation, { operation, input }, options),
    callTool: (name, input, options) => runUnderKey('tool', name, { name, arguments: input }, options),
    subscribe: notifications.subscribe,
    unsubscribe: notifications.unsubscribe,
    async openMcp(input, receiveFrame) {
      onFrame = receiveFrame;
      await sendRequest('mcp.open', input);
      let isAwaited = false;
      return {
        send: (frame) => void socket.write(`${frame}\n`),
        setAwaiting(isAwaiting) {
          if (isAwaiting === isAwaited) return;
          isAwaited = isAwaiting;
          if (isAwaiting) watch.beginRequest();
          else watch.endRequest();
        },
      };
    },
    closed,
    close: () => socket.end(),
  };
}
