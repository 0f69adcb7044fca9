import type { ServerResponse } from 'node:http';
import { ProtocolErrorCode, SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import { describeFailure, type ProtocolFailure } from './failure.ts';
import type { EngineLink } from './link.ts';
import { openListening } from './listen.ts';
import type { ClientMessage } from './message.ts';
import { createPacedSender } from './paced-sender.ts';
import type { WaitingCalls } from './waiting-calls.ts';

/** Subscriptions that are open at once, of one caller and of all. */
const MOST_OF_A_CALLER = 64;
const MOST_SUBSCRIPTIONS = 1024;
/** Keeps a quiet stream open through intermediaries. */
const KEEP_ALIVE_MS = 15_000;

/** Creates the subscriptions of clients over HTTP: each is the response stream of its request. */
export function createHttpListening() {
  /** The open subscriptions of each caller, as functions that end them. */
  const subscriptions = new Map<string, Set<() => void>>();

  /** Serves a subscription that the SDK has accepted, with events only of what this caller may read. */
  async function serve(
    { identity, ...served }: { identity: string; link: EngineLink; calls: WaitingCalls },
    message: ClientMessage & { id: string | number },
    response: ServerResponse,
  ): Promise<void> {
    const own = subscriptions.get(identity) ?? new Set();
    const all = [...subscriptions.values()].reduce((sum, { size }) => sum + size, 0);
    if (own.size >= MOST_OF_A_CALLER || all >= MOST_SUBSCRIPTIONS)
      return sendError(response, message.id, {
        code: ProtocolErrorCode.InternalError,
        message: 'Subscription limit reached: end some, or wait until others have ended',
      });
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const write = (text: string): boolean => response.write(text);
    const writeMessage = (each: object): boolean =>
      write(`event: message\ndata: ${JSON.stringify(each)}\n\n`);
    const notify = createPacedSender(writeMessage, (work) => response.once('drain', work));
    subscriptions.set(identity, own);
    const end = (): void => {
      if (response.headersSent) writeMessage(buildListenEnd(message.id));
      response.end();
    };
    own.add(end);
    const forget = (): void => {
      own.delete(end);
      if (own.size === 0) subscriptions.delete(identity);
    };
    try {
      const listening = await openListening(
        { id: message.id, params: message.params, resumes: false },
        served,
        {
          signal: gone.signal,
          notify: (notification, about) => notify(about, notification),
        },
      );
      if (gone.signal.aborted) {
        listening.close();
        return forget();
      }
      response.writeHead(200, {
        'content-type': 'text/event-stream',
        'cache-control': 'no-cache, no-transform',
        'x-accel-buffering': 'no',
      });
      writeMessage(listening.acknowledgement);
      listening.begin();
      const timer = setInterval(() => response.writableNeedDrain || write(':\n\n'), KEEP_ALIVE_MS);
      timer.unref();
      gone.signal.addEventListener('abort', () => {
        clearInterval(timer);
        listening.close();
        forget();
      });
    } catch (error) {
      forget();
      sendError(response, message.id, describeFailure(error));
    }
  }

  return {
    serve,
    close(): void {
      for (const ends of subscriptions.values()) for (const end of ends) end();
    },
  };
}

/** Builds the answer to a listen request, which ends the subscription (MCP 2026-07-28, Graceful Closure). */
const buildListenEnd = (id: string | number): object => ({
  jsonrpc: '2.0',
  id,
  result: { resultType: 'complete', _meta: { [SUBSCRIPTION_ID_META_KEY]: id } },
});

function sendError(response: ServerResponse, id: string | number, error: ProtocolFailure): void {
  const isMissing = error.code === ProtocolErrorCode.MissingRequiredClientCapability;
  response.writeHead(isMissing ? 400 : 200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
}
