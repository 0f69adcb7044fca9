import type { Socket } from 'node:net';
import { JSONRPCServer } from 'json-rpc-2.0';
import { z } from 'zod';
import { type Caller, type CallOptions, chairOnly, toWire } from '../core/api/operation.ts';
import type { ToolAnswer } from '../core/api/tool-operations.ts';
import { SvcError } from '../core/base/errors.ts';
import { fieldsInvalid } from '../core/base/fields-invalid.ts';
import type { SeatOfRun } from '../workers/runner/index.ts';
import type { ProcessName } from '../workers/runner/processes/index.ts';
import { admitCaller } from './admit.ts';
import type { Engine } from './compose/compose.ts';
import { createLineSplitter, MAX_LINE_BYTES } from './json-lines.ts';
import { createSubscriptions, type SubscriptionQuota } from './subscriptions.ts';
import { errorToWire, PROTOCOL } from './wire.ts';

const helloInput = z.object({
  protocol: z.number(),
  /** Its own pid, which differs inside a pid namespace and so decides nothing. */
  pid: z.int().positive(),
  actor: z.string().min(1).max(200),
  via: z.enum(['cli', 'tui', 'tool']),
  run_id: z.string().nullable(),
  cwd: z.string(),
  attends: z.boolean(),
  env: z.record(z.string(), z.string()),
});

const callInput = z.object({
  operation: z.string(),
  input: z.record(z.string(), z.unknown()),
  /** Identifies the call for `cancel`, for `progress`, and for sending it again after a lost connection. */
  key: z.string().min(1).max(100),
});

const toolInput = z.object({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  key: callInput.shape.key,
});

const cancelInput = z.object({ key: z.string() });

/** The origin of a connection: a process, as the kernel knows it, or a worker's own socket. */
export interface ConnectionOrigin {
  /** Null when unknown. */
  process: ProcessName | null;
  run: SeatOfRun | null;
}

/** Limits of a connection's data and time before its hello. */
const GREETING = { lineBytes: 64 * 1024, lines: 16, ms: 10_000 };

/** How long a refused client may take to read the reason. */
const FAREWELL_MS = 1000;

/** The error for one connection too many. */
export const tooManyConnectionsError = (most: number): SvcError =>
  new SvcError('limit_reached', `the engine already serves ${most} connections`, {
    hint: 'close some clients, or wait until they end',
  });

/** Sends the error and ends the connection, whether or not the error is read. */
export function refuseConnection(socket: Socket, error: SvcError): void {
  socket.on('error', () => socket.destroy());
  if (socket.writable)
    socket.end(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: errorToWire(error) })}\n`);
  socket.resume();
  setTimeout(() => socket.destroy(), FAREWELL_MS).unref();
}

/**
 * Serves operations and subscriptions to one client of a socket, as newline-delimited JSON-RPC 2.0.
 * @param quota shared by all connections
 */
export function serveConnection(
  engine: Engine,
  socket: Socket,
  quota: SubscriptionQuota,
  { process: holder, run }: ConnectionOrigin,
): void {
  /** Set by hello; a client may send calls without waiting for its welcome. */
  let admitted: Promise<Caller> | null = null;
  let isGreeted = false;
  let earlyLines = 0;
  const late = setTimeout(() => {
    refuseClient(new SvcError('limit_reached', `no hello arrived within ${GREETING.ms / 1000} s`));
  }, GREETING.ms);
  late.unref();
  const gone = new AbortController();
  function refuseClient(error: SvcError): void {
    gone.abort();
    refuseConnection(socket, error);
  }
  /** Releases the seat that the client holds. */
  let depart = (): void => undefined;
  const sendMessage = (message: object): boolean =>
    socket.writable ? socket.write(`${JSON.stringify(message)}\n`) : true;
  const subscriptions = createSubscriptions(engine, quota, {
    notify: (method, params) => sendMessage({ jsonrpc: '2.0', method, params: toWire(params) }),
    drained: (until) =>
      new Promise<void>((resolve) => {
        const stopWaiting = (): void => {
          socket.off('drain', stopWaiting);
          until.removeEventListener('abort', stopWaiting);
          resolve();
        };
        socket.on('drain', stopWaiting);
        until.addEventListener('abort', stopWaiting);
      }),
    signal: gone.signal,
  });

  const rpc = new JSONRPCServer<void>({ errorListener: () => undefined });
  rpc.mapErrorToJSONRPCErrorResponse = (id, error) => ({ jsonrpc: '2.0', id, error: errorToWire(error) });

  rpc.addMethod('hello', async (params: unknown) => {
    const hello = parseParameters(helloInput, params);
    if (hello.protocol !== PROTOCOL) {
      throw new SvcError(
        'conflict',
        `the engine speaks protocol ${PROTOCOL}, this client ${hello.protocol}`,
        {
          hint: 'restart the engine with the same version: svc down, then svc up',
        },
      );
    }
    if (admitted !== null) throw new SvcError('usage', 'a connection may send hello only once');
    isGreeted = true;
    const { actor, via, cwd, attends, env, run_id: runId } = hello;
    const standing = engine.standingOf(run === null ? holder : null);
    admitted = admitCaller(engine, { standing, holder, runId, actor, via, cwd, attends, env }, run);
    admitted.then(
      () => clearTimeout(late),
      () => {
        isGreeted = false;
      },
    );
    const caller = await admitted;
    if (hello.attends && caller.sessionId !== null && caller.seat !== 'worker') {
      depart();
      if (!gone.signal.aborted) depart = engine.holdSeat(caller.sessionId);
    }
    const { root, version } = engine;
    const workspace = engine.config().workspace.name;
    const { logId } = engine.events;
    return toWire({
      pid: process.pid,
      version,
      root,
      data: engine.paths.data,
      workspace,
      seat: caller.seat,
      sessionId: caller.sessionId,
      logId,
      lastSeq: engine.events.lastSeq(),
    });
  });

  async function waitForCaller(): Promise<Caller> {
    if (admitted === null) throw new SvcError('usage', 'the first call of a connection must be hello');
    const caller = await admitted;
    if (caller.sessionId !== null && caller.seat !== 'worker') engine.seatSeen(caller.sessionId);
    return caller;
  }

  for (const { name } of engine.operations.all) {
    rpc.addMethod(name, async (params: unknown) =>
      engine.operations.call(name, params, await waitForCaller(), { signal: gone.signal }),
    );
  }

  /** Calls that can be cancelled, by their key. */
  const running = new Map<string, AbortController>();
  gone.signal.addEventListener('abort', () => {
    for (const call of running.values()) call.abort();
  });
  async function answerUnderKey<T>(
    key: string,
    answer: (from: Caller, options: CallOptions) => Promise<T>,
  ): Promise<T> {
    const from = await waitForCaller();
    const cancelled = new AbortController();
    if (gone.signal.aborted) cancelled.abort();
    running.set(key, cancelled);
    try {
      return await answer(from, {
        key,
        signal: cancelled.signal,
        progress: (message) =>
          void sendMessage({ jsonrpc: '2.0', method: 'progress', params: { key, message } }),
      });
    } finally {
      running.delete(key);
    }
  }
  rpc.addMethod('call', (params: unknown) => {
    const { operation, input, key } = parseParameters(callInput, params);
    // So a bridge can call tools of an agent from an earlier version, which continues with this engine.
    if (operation === 'tool.call') return callTool({ ...input, key });
    return answerUnderKey(key, (from, options) => engine.operations.call(operation, input, from, options));
  });
  rpc.addMethod('tool', callTool);
  function callTool(params: unknown): Promise<ToolAnswer> {
    const { name, arguments: input, key } = parseParameters(toolInput, params);
    // Also from a command line: a call by a tool name counts as an agent's call.
    return answerUnderKey(key, (from, options) =>
      engine.callTool(name, input, { ...from, via: 'tool' }, options),
    );
  }
  rpc.addMethod('cancel', (params: unknown) => {
    const { key } = parseParameters(cancelInput, params);
    running.get(key)?.abort();
    return { key };
  });
  for (const method of subscriptions.methods) {
    rpc.addMethod(method.name, async (params: unknown) => {
      const from = await waitForCaller();
      if (method.seat === 'chair' && from.seat !== 'chair') {
        throw chairOnly(method.name, from);
      }
      return toWire(await method.run(parseParameters(method.input, params) as never, from));
    });
  }

  socket.on(
    'data',
    createLineSplitter(
      (line) => {
        if (gone.signal.aborted) return;
        if (!isGreeted) earlyLines += 1;
        if (earlyLines > GREETING.lines) {
          refuseClient(
            new SvcError(
              'limit_reached',
              `the first call of a connection must be hello, not the ${earlyLines}th`,
            ),
          );
          return;
        }
        rpc.receiveJSON(line).then(
          (response) => response && sendMessage(response),
          () => socket.destroy(),
        );
      },
      () => {
        const longest = isGreeted
          ? 'the line is too long'
          : `a line before hello has at most ${GREETING.lineBytes} bytes`;
        refuseClient(new SvcError('body_too_large', longest));
      },
      () => (isGreeted ? MAX_LINE_BYTES : GREETING.lineBytes),
    ),
  );
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    clearTimeout(late);
    gone.abort();
    depart();
  });
}

function parseParameters<I extends z.ZodType>(schema: I, params: unknown): z.infer<I> {
  const parsed = schema.safeParse(params ?? {});
  if (!parsed.success) throw fieldsInvalid(parsed.error);
  return parsed.data;
}
