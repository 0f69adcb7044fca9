import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Protocol } from '../protocol.ts';
import { guessProtocol, writeFault } from '../protocols/index.ts';

/** Why a request cannot be read, by Node's code; everything else is no HTTP. */
const REASONS: Readonly<Record<string, readonly [status: number, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'the headers of the request are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'the request took too long to arrive'],
};
const NO_HTTP = [400, 'request_invalid', 'the request is not HTTP/1.1'] as const;

/** Answers what Node cannot read as a request in the shape of an error, where by itself it has no words for it. */
export function answerBrokenRequests(http: Server): void {
  /** What is being answered on each connection. */
  const answering = new WeakMap<Duplex, { protocol: Protocol; response: ServerResponse }>();
  const note = (request: IncomingMessage, response: ServerResponse): void => {
    const { socket, url = '/', headers } = request;
    answering.set(socket, { protocol: guessProtocol(url, headers), response });
    response.once('close', () => answering.delete(socket));
  };
  http.on('request', note);
  http.on('checkContinue', note);
  http.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const under = answering.get(socket);
    // In the middle of an answer these words would be taken for a part of it.
    if (!socket.writable || error.code === 'ECONNRESET' || under?.response.headersSent === true)
      return void socket.destroy();
    const [status, code, message] = REASONS[error.code ?? ''] ?? NO_HTTP;
    const fault = { status, code, message, field: null };
    const body = JSON.stringify(writeFault(under?.protocol ?? 'chat', fault));
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      'x-should-retry: false',
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  });
}
