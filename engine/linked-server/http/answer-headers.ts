import { type Server, STATUS_CODES } from 'node:http';
import { RequestError } from '@hono/node-server';

const PAGE_POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** Only answers over https may request https from then on. */
const listTransportHeaders = (origin: string): [string, string][] =>
  origin.startsWith('https:') ? [['Strict-Transport-Security', 'max-age=31536000']] : [];

/** Headers of every answer. `Referrer-Policy: no-referrer` would make Chromium send our own forms with `Origin: null`. */
const listSecurityHeaders = (origin: string): [string, string][] => [
  ['Content-Security-Policy', PAGE_POLICY],
  ['X-Content-Type-Options', 'nosniff'],
  ['Referrer-Policy', 'same-origin'],
  ['Cache-Control', 'no-store'],
  ...listTransportHeaders(origin),
];

/** Node's answers to requests that it does not read to their end. */
const STATUS_OF: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Adds the headers that guard browsers to every answer of a server, even for requests that reach no route. A route's
 * own cache header takes precedence. Call it before the routes listen.
 */
export function addSecurityHeaders(server: Server, origin: string): void {
  const headers = listSecurityHeaders(origin);
  server.on('request', (_request, response) => {
    for (const [name, value] of headers) response.setHeader(name, value);
  });
  server.on('checkExpectation', (_request, response) => response.writeHead(417, headers.flat()).end());
  const lines = [...headers, ['Connection', 'close'], ['Content-Length', '0']]
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const status = STATUS_OF[error.code ?? ''] ?? 400;
    if (socket.writable) socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n`);
    else socket.destroy();
  });
}

/** Answers a request with an invalid address or Host; other errors are answered by the app. */
export const answerUnreadable = (error: unknown): Response =>
  new Response(null, { status: error instanceof RequestError ? 400 : 500 });
