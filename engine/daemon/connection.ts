import type { Socket } from 'node:net';
import { JSONRPCServer } from 'json-rpc-2.0';
import { z } from 'zod';
import type { Engine } from '../compose.ts';
import { SvcError } from '../errors.ts';
import { type Caller, chairOnly, fieldsInvalid, toWire } from '../operation.ts';
import type { ProcessName } from '../workers/processes/index.ts';
import { admit } from './admit.ts';
import { lineSplitter } from './json-lines.ts';
import type { SeatOfRun } from './run-sockets.ts';
import { createSubscriptions } from './subscriptions.ts';
import { errorToWire, PROTOCOL } from './wire.ts';

const helloInput = z.object({
  protocol: z.number(),
  /** What it calls itself. Inside a pid namespace that is another one, so it decides nothing. */
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
  /** Names the call: for `cancel`, for its `progress`, and for sending it again after a lost connection. */
  key: z.string().min(1).max(100),
});

const cancelInput = z.object({ key: z.string() });

/** Where a connection comes from: the process that made it, as the kernel knows it, or a worker's own socket. */
export interface Origin {
  /** Null when it is not known. */
  process: ProcessName | null;
  run: SeatOfRun | null;
}

/** Serves one client of a socket: newline-delimited JSON-RPC 2.0, operations and subscriptions. */
export function serveConnection(engine: Engine, socket: Socket, { process: holder, run }: Origin): void {
  /** Whoever greets may go on without waiting for the welcome. */
  let admitted: Promise<Caller> | null = null;
  const gone = new AbortController();
  /** It takes part no more. */
  let depart = (): void => undefined;
  const send = (message: object): boolean =>
    socket.writable ? socket.write(`${JSON.stringify(message)}\n`) : true;
  const subscriptions = createSubscriptions(engine, {
    notify: (method, params) => send({ jsonrpc: '2.0', method, params: toWire(params) }),
    drained: (until) =>
      new Promise<void>((resolve) => {
        const done = (): void => {
          socket.off('drain', done);
          until.removeEventListener('abort', done);
          resolve();
        };
        socket.on('drain', done);
        until.addEventListener('abort', done);
      }),
    signal: gone.signal,
  });

  const rpc = new JSONRPCServer<void>({ errorListener: () => undefined });
  rpc.mapErrorToJSONRPCErrorResponse = (id, error) => ({ jsonrpc: '2.0', id, error: errorToWire(error) });

  rpc.addMethod('hello', async (params: unknown) => {
    const hello = parse(helloInput, params);
    if (hello.protocol !== PROTOCOL) {
      throw new SvcError(
        'conflict',
        `the engine speaks protocol ${PROTOCOL}, this client ${hello.protocol}`,
        {
          hint: 'restart the engine with the same version: svc down, then svc up',
        },
      );
    }
    if (admitted !== null) throw new SvcError('usage', 'a connection says hello once');
    const { actor, via, cwd, attends, env, run_id: runId } = hello;
    const standing = engine.standingOf(run === null ? holder : null);
    admitted = admit(engine, { standing, holder, runId, actor, via, cwd, attends, env }, run);
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

  async function greeted(): Promise<Caller> {
    if (admitted === null) throw new SvcError('usage', 'the first call of a connection is hello');
    const caller = await admitted;
    if (caller.sessionId !== null && caller.seat !== 'worker') engine.seatSeen(caller.sessionId);
    return caller;
  }

  for (const { name } of engine.operations.all) {
    rpc.addMethod(name, async (params: unknown) =>
      engine.operations.call(name, params, await greeted(), { signal: gone.signal }),
    );
  }

  /** Calls that can be cancelled, by their key. */
  const running = new Map<string, AbortController>();
  gone.signal.addEventListener('abort', () => {
    for (const call of running.values()) call.abort();
  });
  rpc.addMethod('call', async (params: unknown) => {
    const { operation, input, key } = parse(callInput, params);
    const from = await greeted();
    const cancelled = new AbortController();
    if (gone.signal.aborted) cancelled.abort();
    running.set(key, cancelled);
    try {
      return await engine.operations.call(operation, input, from, {
        key,
        signal: cancelled.signal,
        progress: (message) => void send({ jsonrpc: '2.0', method: 'progress', params: { key, message } }),
      });
    } finally {
      running.delete(key);
    }
  });
  rpc.addMethod('cancel', (params: unknown) => {
    const { key } = parse(cancelInput, params);
    running.get(key)?.abort();
    return { key };
  });
  for (const method of subscriptions.methods) {
    rpc.addMethod(method.name, async (params: unknown) => {
      const from = await greeted();
      if (method.seat === 'chair' && from.seat !== 'chair') {
        throw chairOnly(method.name, from);
      }
      return toWire(await method.run(parse(method.input, params) as never, from));
    });
  }

  socket.on(
    'data',
    lineSplitter(
      (line) => {
        rpc.receiveJSON(line).then(
          (response) => response && send(response),
          () => socket.destroy(),
        );
      },
      () => {
        send({
          jsonrpc: '2.0',
          id: null,
          error: errorToWire(new SvcError('body_too_large', 'the line is too long')),
        });
        socket.end();
      },
    ),
  );
  socket.on('error', () => socket.destroy());
  socket.on('close', () => {
    gone.abort();
    depart();
  });
}

function parse<I extends z.ZodType>(schema: I, params: unknown): z.infer<I> {
  const parsed = schema.safeParse(params ?? {});
  if (!parsed.success) throw fieldsInvalid(parsed.error);
  return parsed.data;
}
