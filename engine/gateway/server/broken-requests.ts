import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { guessProtocol, writeFault } from '../protocols/index.ts';

/** Reasons why a request cannot be read, by Node's code; anything else is not HTTP. */
const REASONS: Readonly<Record<string, readonly [status: number, code: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'the headers of the request are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'request_timeout', 'the request took too long to arrive'],
};
const NO_HTTP = [400, 'request_invalid', 'the request is not HTTP/1.1'] as const;

/** Answers requests that Node cannot parse with an error body, because Node sends none. */
export function answerBrokenRequests(http: Server): void {
  /** The last request of each connection, by its answer. */
  const last = new WeakMap<Duplex, ServerResponse<IncomingMessage>>();
  const note = ({ socket }: IncomingMessage, response: ServerResponse<IncomingMessage>): void => {
    last.set(socket, response);
  };
  http.on('request', note);
  http.on('checkContinue', note);
  http.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const found = last.get(socket);
    const open = found?.writableFinished === false ? found : null;
    // In the middle of an answer this text would become part of it.
    if (!socket.writable || error.code === 'ECONNRESET' || open?.headersSent === true)
      return void socket.destroy();
    const [status, code, message] = REASONS[error.code ?? ''] ?? NO_HTTP;
    const fault = { status, code, message, field: null };
    const protocol = open === null ? 'chat' : guessProtocol(open.req.url ?? '/', open.req.headers);
    const body = JSON.stringify(writeFault(protocol, fault));
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
