import type { Socket } from 'node:net';
import { JSONRPCServer } from 'json-rpc-2.0';
import { z } from 'zod';
import { seatOf } from '../access/seats.ts';
import type { Engine } from '../compose.ts';
import { SvcError } from '../errors.ts';
import { type Caller, fieldsInvalid, toWire } from '../operation.ts';
import { lineSplitter } from './json-lines.ts';
import { createSubscriptions } from './subscriptions.ts';
import { errorToWire, PROTOCOL } from './wire.ts';

const helloInput = z.object({
  protocol: z.number(),
  pid: z.int().positive(),
  actor: z.string().min(1).max(200),
  via: z.enum(['cli', 'tui', 'tool']),
  run_id: z.string().nullable(),
  env: z.record(z.string(), z.string()),
});

/** Serves one client of the socket: newline-delimited JSON-RPC 2.0, operations and subscriptions. */
export function serveConnection(engine: Engine, socket: Socket): void {
  let caller: Caller | null = null;
  const gone = new AbortController();
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

  rpc.addMethod('hello', (params: unknown) => {
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
    const seat = seatOf({ pid: hello.pid, runId: hello.run_id }, engine.seats);
    caller = { ...seat, actor: hello.actor, via: hello.via, env: hello.env };
    const { root, version } = engine;
    const workspace = engine.config().workspace.name;
    const { logId } = engine.events;
    return toWire({
      pid: process.pid,
      version,
      root,
      data: engine.paths.data,
      workspace,
      seat: seat.seat,
      logId,
      lastSeq: engine.events.lastSeq(),
    });
  });

  function greeted(): Caller {
    if (caller === null) throw new SvcError('usage', 'the first call of a connection is hello');
    return caller;
  }

  for (const { name } of engine.operations.all) {
    rpc.addMethod(name, (params: unknown) => engine.operations.call(name, params, greeted()));
  }
  for (const method of subscriptions.methods) {
    rpc.addMethod(method.name, async (params: unknown) => {
      const from = greeted();
      if (method.seat === 'chair' && from.seat !== 'chair') {
        throw new SvcError('chair_only', `${method.name} is for the Chair seat`);
      }
      return toWire(await method.run(parse(method.input, params) as never));
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
  socket.on('close', () => gone.abort());
}

function parse<I extends z.ZodType>(schema: I, params: unknown): z.infer<I> {
  const parsed = schema.safeParse(params ?? {});
  if (!parsed.success) throw fieldsInvalid(parsed.error);
  return parsed.data;
}
