import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { isIP } from 'node:net';
import { httpStatus, SvcError } from '../errors.ts';

export interface HttpDeps {
  token: string;
  isLoopback(host: string): boolean;
  health(): object;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The host in a Host or Origin header without its port; null when it is not one. */
function hostOf(value: string): string | null {
  try {
    const { hostname } = new URL(value.includes('://') ? value : `http://${value}`);
    return hostname.replace(/^\[|\]$/g, '');
  } catch {
    return null;
  }
}

/** Host and Origin first (DNS rebinding: a page of another site must not reach us), then the token. */
function admit(request: IncomingMessage, { token, isLoopback }: HttpDeps): void {
  for (const header of [request.headers.host ?? '', request.headers.origin]) {
    if (header === undefined) continue;
    const host = hostOf(header);
    const isOurs = host !== null && (host === 'localhost' || (isIP(host) !== 0 && isLoopback(host)));
    if (!isOurs) throw new SvcError('host_refused', 'this address answers only requests to itself');
  }
  const given = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (given === undefined || !timingSafeEqual(digest(given), digest(token))) {
    throw new SvcError('token_invalid', 'the bearer token is missing or wrong', {
      hint: 'it is in .svc/daemon.json',
    });
  }
}

/** The daemon's loopback HTTP side. */
export function createHttp(deps: HttpDeps): Server {
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, body: object): void => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(`${JSON.stringify(body)}\n`);
    };
    try {
      admit(request, deps);
      const path = (request.url ?? '/').split('?', 1)[0];
      if (path !== '/healthz') throw new SvcError('not_found', 'there is nothing at this path');
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('allow', 'GET, HEAD');
        throw new SvcError('method_not_allowed', 'only GET is answered here');
      }
      answer(200, 'application/json', deps.health());
    } catch (error) {
      const { code, message } =
        error instanceof SvcError ? error : new SvcError('internal', 'internal error');
      if (code === 'token_invalid') response.setHeader('www-authenticate', 'Bearer');
      const status = httpStatus(code);
      answer(status, 'application/problem+json', {
        type: 'about:blank',
        title: code.replaceAll('_', ' '),
        status,
        detail: message,
        code,
      });
    }
  });
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  server.maxConnections = 256;
  return server;
}
