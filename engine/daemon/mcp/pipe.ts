import { type RequestId, SUBSCRIPTION_ID_META_KEY, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Log } from '../../core/base/log.ts';
import { describeFailure } from './failure.ts';
import { readInstructions } from './instructions.ts';
import type { EngineLink } from './link.ts';
import { type Listening, openListening } from './listen.ts';
import { type ClientMessage, readRpcMessage } from './message.ts';
import type { PacedSender } from './paced-sender.ts';
import { createMcpServer } from './server.ts';
import type { WaitingCalls } from './waiting-calls.ts';

// A client of `svc mcp` writes lines to a relay, which numbers them, sends each as a frame to the engine, and sends
// unanswered ones again after the loss of an engine. Frames to the engine:
//   <n> <line>     line n of the client, for the first time
//   r<n> <line>    line n, which an earlier engine may have received
// Frames to the relay:
//   a<n> <json>    the answer to line n
//   k<n> <json>    the same; the next engine needs line n again, but its answer is not wanted
//   s<n> <json>    the same for a line that follows a resource
//   d<n>           line n has no answer
//   f<n>           the next engine does not need line n any more
//   l<n> <json>    line n opens a subscription, which stays unanswered; a message for the client, which wants it once
//   w<n>           line n waits for a person, or for a worker's end
//   n <json>       a message for the client
//   p <point>      up to which event the client is notified; empty if it follows nothing
//   e <text>       a note for the error output

/** One client whose lines a relay sends. */
export interface McpPipe {
  receive(frame: string): void;
  close(): Promise<void>;
}

export interface McpPipeOptions {
  /** Names the relay, so that a repeated line is the same call. */
  client: string;
  version: string;
  calls?: WaitingCalls | undefined;
  log?: Pick<Log, 'info'> | undefined;
  /** True if the client has had another engine. */
  isResumed: boolean;
  send(frame: string): void;
  /** Sends a notification, of which the relay needs only the newest about each thing. */
  sendPaced: PacedSender<string>;
}

/** Requests that set up a connection of earlier revisions: a new connection needs them again. */
const KEPT_METHODS: ReadonlyMap<string, 'k' | 's'> = new Map([
  ['initialize', 'k'],
  ['notifications/initialized', 'k'],
  ['resources/subscribe', 's'],
]);

interface OpenLine {
  n: number;
  message: ClientMessage;
  isRepeated: boolean;
  listening: Promise<Listening> | null;
}

/** Serves one client of either protocol era; its first message decides which. */
export function createMcpPipe(link: EngineLink, options: McpPipeOptions): McpPipe {
  const { client, version, isResumed, calls, log, send, sendPaced } = options;
  /** Unanswered requests by their id; a client should not use an id twice at once. */
  const open = new Map<RequestId, OpenLine[]>();
  /** The lines that follow a resource, for clients of earlier revisions. */
  const subscribed = new Map<unknown, number>();
  const gone = new AbortController();
  const findLine = (id: RequestId): OpenLine | undefined => open.get(id)?.[0];

  function takeLine(id: RequestId): OpenLine | undefined {
    const lines = open.get(id);
    const line = lines?.shift();
    if (lines?.length === 0) open.delete(id);
    return line;
  }

  /** Opens the subscription that the SDK has accepted. */
  async function openSubscription(id: RequestId): Promise<void> {
    const line = findLine(id);
    if (line === undefined) return;
    const request = { id, params: line.message.params, resumes: line.isRepeated };
    const opening = openListening(
      request,
      { link, calls },
      {
        signal: gone.signal,
        notify: (notification, about) => sendPaced(`${id} ${about}`, `n ${JSON.stringify(notification)}`),
      },
    );
    line.listening = opening;
    try {
      const listening = await opening;
      if (findLine(id) !== line || gone.signal.aborted) return listening.close();
      send(`l${line.n} ${JSON.stringify(listening.acknowledgement)}`);
      listening.begin();
    } catch (error) {
      if (takeLine(id) === undefined) return;
      send(`a${line.n} ${JSON.stringify({ jsonrpc: '2.0', id, error: describeFailure(error) })}`);
      transport.onmessage?.({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: { requestId: id },
      });
    }
  }

  function sendAnswer(id: RequestId, message: object): void {
    const line = takeLine(id);
    if (line === undefined) return;
    const { method, params } = line.message;
    const kind = 'result' in message ? (KEPT_METHODS.get(method) ?? 'a') : 'a';
    if (kind === 's') subscribed.set(params?.uri, line.n);
    send(`${kind}${line.n} ${JSON.stringify(message)}`);
    if (method !== 'resources/unsubscribe') return;
    const following = subscribed.get(params?.uri);
    subscribed.delete(params?.uri);
    if (following !== undefined) send(`f${following}`);
  }

  const transport: Transport = {
    start: async () => undefined,
    close: async () => undefined,
    async send(message) {
      // The end of an engine ends no subscription of the client: its relay opens it at the next one.
      if (gone.signal.aborted) return;
      if ('method' in message) {
        const about = message.params?._meta?.[SUBSCRIPTION_ID_META_KEY] as RequestId | undefined;
        if (message.method === 'notifications/subscriptions/acknowledged' && about !== undefined)
          void openSubscription(about);
        else {
          const text = JSON.stringify(message);
          sendPaced(text, `n ${text}`);
        }
      } else if (message.id !== undefined) sendAnswer(message.id, message);
    },
  };
  const served = serveStdio(
    async ({ era }) =>
      createMcpServer(link, {
        version,
        instructions: await readInstructions(link, era),
        nameCall: (id) => `${client}:${findLine(id)?.n ?? id}`,
        isRepeated: (id) => findLine(id)?.isRepeated === true,
        isResumed,
        calls: era === 'modern' ? calls : undefined,
        log,
        onWaiting(id) {
          const line = findLine(id);
          if (line !== undefined) send(`w${line.n}`);
        },
      }),
    { transport, onerror: () => undefined },
  );

  /** Forgets the request that a client has cancelled: the protocol leaves it without an answer. */
  function forgetCancelled(id: unknown): void {
    const line = takeLine(id as RequestId);
    if (line === undefined) return;
    closeListening(line);
    send(`d${line.n}`);
  }

  return {
    receive(frame) {
      const [head, text] = splitFrame(frame);
      const isRepeated = head.startsWith('r');
      const n = Number(isRepeated ? head.slice(1) : head);
      const read = readRpcMessage(text);
      if ('refusal' in read) {
        send(`e ${read.refusal.error.message}`);
        send(`a${n} ${JSON.stringify(read.refusal)}`);
        return;
      }
      if ('ignored' in read) return void send(`d${n}`);
      const { message } = read;
      if ('id' in message) {
        const line = { n, message, isRepeated, listening: null };
        open.set(message.id, [...(open.get(message.id) ?? []), line]);
        transport.onmessage?.(message);
        return;
      }
      transport.onmessage?.(message);
      if (message.method === 'notifications/cancelled') forgetCancelled(message.params?.requestId);
      send(`${KEPT_METHODS.get(message.method) ?? 'd'}${n}`);
    },
    async close() {
      gone.abort();
      const lines = [...open.values()].flat();
      open.clear();
      for (const line of lines) closeListening(line);
      await served.close();
    },
  };
}

function splitFrame(frame: string): [head: string, text: string] {
  const end = frame.indexOf(' ');
  return end < 0 ? [frame, ''] : [frame.slice(0, end), frame.slice(end + 1)];
}

function closeListening({ listening }: OpenLine): void {
  listening?.then(
    (opened) => opened.close(),
    () => undefined,
  );
}
