import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import { SvcError } from '../core/base/errors.ts';
import { PROBLEM_JSON, problemDetails } from '../core/http/problem-details.ts';
import { createLimitedServer } from '../core/http/server.ts';

export interface HttpDeps {
  /** The Chair's bearer token. */
  token: string;
  /** Reports whether a bearer token belongs to a worker's run. */
  isRun(token: string): boolean;
  isLoopback(host: string): boolean;
  health(): object;
  mcp(request: IncomingMessage, response: ServerResponse, token: string): Promise<void>;
}

const hashToken = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Returns the host in a Host or Origin header without its port; null if it is invalid. */
function parseHost(value: string): string | null {
  try {
    const { hostname } = new URL(value.includes('://') ? value : `http://${value}`);
    return hostname.replace(/^\[|\]$/g, '');
  } catch {
    return null;
  }
}

/** Checks Host and Origin against DNS rebinding from other sites, then the token, which it returns. */
function checkRequest(request: IncomingMessage, { token, isRun, isLoopback }: HttpDeps): string {
  for (const header of [request.headers.host ?? '', request.headers.origin]) {
    if (header === undefined) continue;
    const host = parseHost(header);
    const isOurs = host !== null && (host === 'localhost' || (isIP(host) !== 0 && isLoopback(host)));
    if (!isOurs) throw new SvcError('host_refused', 'this address answers only requests to itself');
  }
  const given = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '')?.[1];
  if (given === undefined || (!timingSafeEqual(hashToken(given), hashToken(token)) && !isRun(given))) {
    throw new SvcError('token_invalid', 'the bearer token is missing or wrong', {
      hint: 'it is in .svc/daemon.json',
    });
  }
  return given;
}

/** The daemon's loopback HTTP side: `/healthz` and `/mcp`. */
export function createDaemonHttp(deps: HttpDeps): Server {
  const server = createLimitedServer({
    headersMs: 10_000,
    // Limits the time for sending a request; a stream of /mcp stays open for as long as its client listens.
    requestMs: 30_000,
    // Longer than clients keep an idle connection: if we closed it first, their next request would be lost.
    idleMs: 120_000,
    connections: 512,
  });
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    answerRequest(deps, request, response).catch((error: unknown) => sendProblem(response, error));
  });
  return server;
}

async function answerRequest(
  deps: HttpDeps,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const token = checkRequest(request, deps);
  const path = (request.url ?? '/').split('?', 1)[0];
  if (path === '/mcp') return deps.mcp(request, response, token);
  if (path !== '/healthz') throw new SvcError('not_found', 'there is nothing at this path');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD');
    throw new SvcError('method_not_allowed', 'only GET is answered here');
  }
  sendJson(response, 200, 'application/json', deps.health());
}

function sendJson(response: ServerResponse, status: number, type: string, body: object): void {
  response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
  response.end(`${JSON.stringify(body)}\n`);
}

function sendProblem(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const details = problemDetails(error);
  // The rest of the body is not read.
  if (details.code === 'body_too_large') response.setHeader('connection', 'close');
  if (details.code === 'token_invalid') response.setHeader('www-authenticate', 'Bearer');
  sendJson(response, details.status, PROBLEM_JSON, details);
}
