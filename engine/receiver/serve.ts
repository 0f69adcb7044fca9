import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Clock, rfc3339 } from '../core/base/clock.ts';
import { SvcError } from '../core/base/errors.ts';
import { listenOn } from '../core/http/listen.ts';
import { createLimitedServer } from '../core/http/server.ts';
import { LARGEST_SIGNED_BYTES } from '../core/http/signature.ts';
import type { RouteSecrets } from './config.ts';
import { isAnswer, type RequestReceiver, tooLargeAnswer } from './receive.ts';
import type { ReceiverAnswer } from './request.ts';

/** One answered request, for the access log. */
export interface AccessLogEntry {
  at: string;
  remote: string;
  method: string;
  /** Path without the query. */
  path: string;
  status: number;
  ms: number;
  code: string | null;
  taskId: string | null;
}

export interface ListenLimits {
  /** For the headers, for the whole request, and for an idle connection. */
  timeoutMs: number;
  connections: number;
  /** How long `close` waits for requests that are being answered. */
  closeMs: number;
}

export interface ListenOptions {
  /** '' is every interface. */
  host: string;
  /** 0 picks a free port. */
  port: number;
  /** One list for all routes, or one per route; a route without secrets is closed. */
  secrets: readonly string[] | RouteSecrets;
  allowRemote?: boolean;
  onAccess?: (access: AccessLogEntry) => void;
  limits?: Partial<ListenLimits>;
}

export interface ReceiverListener {
  address: { host: string; port: number };
  /** Finishes requests in progress, then closes every connection. */
  close(): Promise<void>;
}

const LIMITS: ListenLimits = { timeoutMs: 10_000, connections: 256, closeMs: 5000 };
const LINGER_MS = 1000;

/** Serves `receive` over node:http. Slow clients are disconnected, and bodies are read up to the limit only. */
export async function serveReceive(
  receive: RequestReceiver,
  { host, port, allowRemote = false, onAccess, limits }: ListenOptions,
  { clock, isLoopback }: { clock: Clock; isLoopback(host: string): boolean },
): Promise<ReceiverListener> {
  if (!allowRemote && !isLoopback(host)) throw addressRefusedError(host);
  const { timeoutMs, connections, closeMs } = { ...LIMITS, ...limits };
  let closing = false;

  const server = createLimitedServer({
    headersMs: timeoutMs,
    requestMs: timeoutMs,
    idleMs: timeoutMs,
    checkEveryMs: Math.min(1000, timeoutMs),
    connections,
  });
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (req, res) => respondTo(req, res, false));
  // Without this handler Node would send 100 Continue for a body that is then refused.
  server.on('checkContinue', (req, res) => respondTo(req, res, true));

  function respondTo(req: IncomingMessage, res: ServerResponse, continues: boolean): void {
    const started = performance.now();
    const url = req.url ?? '/';
    const query = url.indexOf('?');
    const head = {
      method: req.method ?? '',
      path: query === -1 ? url : url.slice(0, query),
      headers: req.headers,
      remote: req.socket.remoteAddress ?? '',
    };
    const sendAnswer = (given: ReceiverAnswer) => {
      writeAnswer(req, res, given, closing);
      onAccess?.({
        at: rfc3339(clock.now()),
        remote: head.remote,
        method: head.method,
        path: head.path,
        status: given.status,
        ms: performance.now() - started,
        code: given.code,
        taskId: given.taskId,
      });
    };
    const admitted = receive.admit(head);
    if (isAnswer(admitted)) {
      sendAnswer(admitted);
      return;
    }
    if (continues) res.writeContinue();
    readRequestBody(req, (body) => {
      if (body === null) sendAnswer(tooLargeAnswer(head.headers));
      else void receive.proceed(admitted, { ...head, body }).then(sendAnswer);
    });
  }

  await listenOn(server, { host, port });
  const bound = server.address() as AddressInfo;
  // The machine's hosts table decides what a name such as localhost resolves to.
  if (!allowRemote && !isLoopback(bound.address)) {
    server.close();
    throw addressRefusedError(bound.address);
  }
  return {
    address: { host: bound.address, port: bound.port },
    close() {
      closing = true;
      return new Promise((resolve) => {
        const cut = setTimeout(() => server.closeAllConnections(), closeMs);
        server.close(() => {
          clearTimeout(cut);
          resolve();
        });
        server.closeIdleConnections();
        // Node does not count a connection that has sent nothing yet as idle.
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      });
    },
  };
}

/** Reads the whole body; null as soon as it exceeds the limit. A client that disconnects gets no answer. */
function readRequestBody(req: IncomingMessage, done: (body: Buffer | null) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > LARGEST_SIGNED_BYTES) {
      req.removeAllListeners('data').removeAllListeners('end');
      req.pause();
      done(null);
    } else chunks.push(chunk);
  });
  req.on('end', () => done(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)));
  req.on('error', () => {});
}

function writeAnswer(
  req: IncomingMessage,
  res: ServerResponse,
  answer: ReceiverAnswer,
  closing: boolean,
): void {
  if (res.destroyed) return;
  const headers: string[] = ['content-length', String(Buffer.byteLength(answer.body))];
  for (const name in answer.headers) headers.push(name, answer.headers[name]!);
  // Unread bytes cannot be distinguished from the next request.
  const unread = !req.complete;
  if ((unread || closing) && answer.headers.connection === undefined) headers.push('connection', 'close');
  if (unread) lingerAtEnd(req.socket);
  res.writeHead(answer.status, headers);
  res.end(answer.body);
}

/**
 * Ends a connection gently: closing a socket with unread bytes makes the kernel send a reset, and a client that is
 * still writing would lose the answer. So reading stops, our side ends, and the socket is destroyed a moment later.
 */
function lingerAtEnd(socket: Socket): void {
  socket.destroySoon = () => {
    socket.pause();
    socket.end();
    const cut = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(cut));
  };
}

const addressRefusedError = (host: string): SvcError =>
  new SvcError('address_refused', `${host === '' ? 'a bare port' : host} is reachable from other machines`, {
    hint: 'listen on 127.0.0.1 or [::1], or pass --allow-remote',
  });
