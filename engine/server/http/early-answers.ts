import { type Server, STATUS_CODES } from 'node:http';
import { RequestError } from '@hono/node-server';

/** What Node says of a request that it does not read to its end. */
const STATUS_OF: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Gives these headers to what is answered to a request that cannot be read, which no route ever sees. */
export function guardEarlyAnswers(server: Server, headers: Readonly<Record<string, string>>): void {
  const lines = Object.entries({ ...headers, Connection: 'close', 'Content-Length': '0' })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = STATUS_OF[error.code ?? ''] ?? 400;
    if (socket.writable) socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n`);
    else socket.destroy();
  });
  server.on('checkExpectation', (_request, response) => response.writeHead(417, { ...headers }).end());
}

/** Answers a request whose address or Host makes no sense; other errors are answered by the app. */
export const answerUnreadable =
  (headers: Readonly<Record<string, string>>) =>
  (error: unknown): Response =>
    new Response(null, { status: error instanceof RequestError ? 400 : 500, headers });
