import type { Duplex } from 'node:stream';
import { JSONRPCServer } from 'json-rpc-2.0';
import { z } from 'zod';
import { chairOnly, toWire } from '../core/api/operation.ts';
import type { ToolAnswer } from '../core/api/tool-operations.ts';
import { SvcError } from '../core/base/errors.ts';
import { createLineSplitter, MAX_LINE_BYTES } from '../core/base/json-lines.ts';
import type { Engine } from './compose/compose.ts';
import { type ConnectionOrigin, createGreeting } from './greeting.ts';
import { createKeyedCalls } from './keyed-calls.ts';
import type { McpHost } from './mcp/index.ts';
import type { McpPipe } from './mcp/pipe.ts';
import type { SubscriptionQuota } from './open-subscriptions.ts';
import { parseParameters } from './parse-parameters.ts';
import { createSubscriptions } from './subscriptions.ts';
import { errorToWire } from './wire.ts';

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

const mcpInput = z.object({
  /** Names the relay, so that a repeated line is the same call. */
  client: z.uuid(),
  /** The last `p` frame of its last engine; null for none. */
  point: z.string().max(200).nullable(),
  is_resumed: z.boolean(),
});

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
export function refuseConnection(connection: Duplex, error: SvcError): void {
  connection.on('error', () => connection.destroy());
  if (connection.writable)
    connection.end(`${JSON.stringify({ jsonrpc: '2.0', id: null, error: errorToWire(error) })}\n`);
  connection.resume();
  setTimeout(() => connection.destroy(), FAREWELL_MS).unref();
}

/** Streams of one engine that all its connections share. */
export interface SharedStreams {
  quota: SubscriptionQuota;
  mcp: Pick<McpHost, 'openPipe'>;
}

/** Serves operations and subscriptions to one client of a connection, as newline-delimited JSON-RPC 2.0. */
export function serveConnection(
  engine: Engine,
  connection: Duplex,
  { quota, mcp }: SharedStreams,
  origin: ConnectionOrigin,
): void {
  let earlyLines = 0;
  const late = setTimeout(() => {
    refuseClient(new SvcError('limit_reached', `no hello arrived within ${GREETING.ms / 1000} s`));
  }, GREETING.ms);
  late.unref();
  const gone = new AbortController();
  function refuseClient(error: SvcError): void {
    gone.abort();
    refuseConnection(connection, error);
  }
  const sendMessage = (message: object): boolean =>
    connection.writable ? connection.write(`${JSON.stringify(message)}\n`) : true;
  const subscriptions = createSubscriptions(engine, quota, {
    notify: (method, params) => sendMessage({ jsonrpc: '2.0', method, params: toWire(params) }),
    drained: (until) => waitForDrain(connection, until),
    signal: gone.signal,
  });

  const greeting = createGreeting(engine, origin, {
    gone: gone.signal,
    onAdmitted: () => clearTimeout(late),
  });
  const calls = createKeyedCalls(
    gone.signal,
    greeting.waitForCaller,
    (params) => void sendMessage({ jsonrpc: '2.0', method: 'progress', params }),
  );

  let pipe: McpPipe | null = null;
  const rpc = createMethods(engine, { greeting, calls, subscriptions, gone: gone.signal });
  rpc.addMethod('mcp.open', async (params: unknown) => {
    if (pipe !== null) throw new SvcError('usage', 'a connection serves one MCP client');
    const caller = await greeting.waitForCaller();
    const opened = await mcp.openPipe(caller, parseParameters(mcpInput, params), {
      send: (frame) => (connection.writable ? connection.write(`${frame}\n`) : true),
      onDrained: (work) => void waitForDrain(connection, gone.signal).then(work),
    });
    if (gone.signal.aborted) await opened.close();
    else pipe = opened;
    return {};
  });

  connection.on(
    'data',
    createLineSplitter(
      (line) => {
        if (gone.signal.aborted) return;
        // A frame of an MCP client's relay; everything else is an object.
        if (pipe !== null && !line.startsWith('{')) return pipe.receive(line);
        if (!greeting.isGreeted()) earlyLines += 1;
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
          () => connection.destroy(),
        );
      },
      () => {
        const longest = greeting.isGreeted()
          ? 'the line is too long'
          : `a line before hello has at most ${GREETING.lineBytes} bytes`;
        refuseClient(new SvcError('body_too_large', longest));
      },
      () => (greeting.isGreeted() ? MAX_LINE_BYTES : GREETING.lineBytes),
    ),
  );
  // A socket does this by itself; another stream stays open in one direction.
  connection.on('end', () => connection.end());
  connection.on('error', () => connection.destroy());
  connection.on('close', () => {
    clearTimeout(late);
    gone.abort();
    void pipe?.close();
    greeting.depart();
  });
}

/** Creates the methods of a connection: its hello, calls, and subscriptions. */
function createMethods(
  engine: Engine,
  {
    greeting,
    calls,
    subscriptions,
    gone,
  }: {
    greeting: ReturnType<typeof createGreeting>;
    calls: ReturnType<typeof createKeyedCalls>;
    subscriptions: ReturnType<typeof createSubscriptions>;
    gone: AbortSignal;
  },
): JSONRPCServer<void> {
  const rpc = new JSONRPCServer<void>({ errorListener: () => undefined });
  rpc.mapErrorToJSONRPCErrorResponse = (id, error) => ({ jsonrpc: '2.0', id, error: errorToWire(error) });

  rpc.addMethod('hello', greeting.greet);
  for (const { name } of engine.operations.all) {
    rpc.addMethod(name, async (params: unknown) =>
      engine.operations.call(name, params, await greeting.waitForCaller(), { signal: gone }),
    );
  }

  rpc.addMethod('call', (params: unknown) => {
    const { operation, input, key } = parseParameters(callInput, params);
    return calls.answerUnderKey(key, (from, options) =>
      engine.operations.call(operation, input, from, options),
    );
  });
  rpc.addMethod('tool', callTool);
  function callTool(params: unknown): Promise<ToolAnswer> {
    const { name, arguments: input, key } = parseParameters(toolInput, params);
    // Also from a command line: a call by a tool name counts as an agent's call.
    return calls.answerUnderKey(key, (from, options) =>
      engine.callTool(name, input, { ...from, via: 'tool' }, options),
    );
  }
  rpc.addMethod('cancel', (params: unknown) => {
    const { key } = parseParameters(cancelInput, params);
    calls.cancel(key);
    return { key };
  });
  for (const method of subscriptions.methods) {
    rpc.addMethod(method.name, async (params: unknown) => {
      const from = await greeting.waitForCaller();
      if (method.seat === 'chair' && from.seat !== 'chair') {
        throw chairOnly(method.name, from);
      }
      return toWire(await method.run(parseParameters(method.input, params) as never, from));
    });
  }
  return rpc;
}

function waitForDrain(connection: Duplex, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const stopWaiting = (): void => {
      connection.off('drain', stopWaiting);
      until.removeEventListener('abort', stopWaiting);
      resolve();
    };
    connection.on('drain', stopWaiting);
    until.addEventListener('abort', stopWaiting);
  });
}
