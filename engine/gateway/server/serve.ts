import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Log } from '../../core/base/log.ts';
import { createLimitedServer } from '../../core/http/server.ts';
import {
  FACES,
  findRoute,
  guessProtocol,
  type ProtocolFace,
  type ProtocolRoute,
} from '../protocols/index.ts';
import { tagWorkspace, WORKSPACE_HEADER } from '../record.ts';
import { sendFailure } from './answer.ts';
import { type AnswerCallDeps, createCallAnswerer, IS_OFF, type RefuseCall } from './answer-call.ts';
import type { UsageBooks } from './books.ts';
import { answerBrokenRequests } from './broken-requests.ts';
import { beginRow, ClientPresence, faceOf, type GatewayCall, readCallBody } from './call.ts';
import type { ContentLog } from './content-log.ts';
import type { ControlEndpoint } from './control.ts';
import { readCredentials } from './credentials.ts';
import { estimatePrompt } from './estimate-prompt.ts';
import type { ForwardLimits } from './forward.ts';
import { createHeldBytes } from './held-bytes.ts';
import type { KeyHolders } from './holders.ts';
import { answerModels } from './local.ts';
import { listModelNames } from './model-names.ts';
import { createBodyReader, RefusedRequest } from './request-body.ts';
import { findStranger } from './strangers.ts';

/** The limits of a gateway. */
export interface ServeLimits extends ForwardLimits {
  /** Milliseconds between two chunks of a request. */
  silentClientMs: number;
  /** Maximum bytes of one request. */
  mostRequestBytes: number;
  /** Maximum bytes of all requests, and of answers that are not streams, together. */
  mostHeldBytes: number;
  /** Milliseconds that a request waits until its new tool outputs are shortened. */
  shorteningMs: number;
}

export const SERVE_LIMITS: ServeLimits = {
  connectMs: 10_000,
  firstByteMs: 600_000,
  shortFirstByteMs: 120_000,
  idleMs: 300_000,
  deadlineMs: 30_000,
  attempts: 4,
  pauseMs: 250,
  keepAliveMs: 15_000,
  slowClientMs: 120_000,
  silentClientMs: 120_000,
  mostBytes: 64 * 1024 ** 2,
  mostRequestBytes: 64 * 1024 ** 2,
  mostHeldBytes: 512 * 1024 ** 2,
  shorteningMs: 5,
};

export interface ServeDeps extends AnswerCallDeps {
  holders: KeyHolders;
  content: ContentLog;
  /** Requests that only the engine may send. */
  control: ControlEndpoint;
  limits: ServeLimits;
  dataId: string;
  /** The listening address. */
  host: string;
  /** Called when a call is over. */
  onCall?: (call: GatewayCall) => void;
}

/** A gateway that can be listened with. */
export interface GatewayServer {
  http: Server;
  /** Calls in progress. */
  active(): number;
}

const CONNECTIONS = 2048;
/** Agents keep a connection from one answer to the next question. */
const HTTP_LIMITS = { headersMs: 15_000, requestMs: 300_000, idleMs: 75_000, connections: CONNECTIONS };

const ASKS_FOR_EVENTS = /[?&](?:\$|%24)?alt=sse(?:&|$)/;

/** Creates the function that refuses a request, whose unread data is dropped. */
function createRefusal(request: IncomingMessage, response: ServerResponse, face: ProtocolFace): RefuseCall {
  return (status, code, message, headers = {}) => {
    request.resume();
    const isUnread = STOPPED.has(status) || request.headers.expect !== undefined;
    sendFailure(
      response,
      face,
      { status, code, message },
      { ...headers, ...(isUnread ? { connection: 'close' } : {}) },
    );
  };
}

type NewCall = Pick<
  GatewayCall,
  'request' | 'response' | 'route' | 'credentials' | 'holder' | 'body' | 'startedAt' | 'client'
>;

/** Reads the body of a call and begins its row; the arguments of a refusal for a body that is not one. */
function beginCall(
  given: NewCall,
  { books, now }: { books: UsageBooks; now: number },
): GatewayCall | Parameters<RefuseCall> {
  const { body, route, credentials } = given;
  const read = readCallBody(body, route);
  if (read === null) return [400, 'body_invalid', 'the body is not a JSON object'];
  if (read.asked.length > LONGEST_MODEL)
    return [400, 'body_invalid', `the name of a model may have at most ${LONGEST_MODEL} characters`];
  const call = {
    ...given,
    ...read,
    face: faceOf(route),
    promptTokens: estimatePrompt(body),
    requestId: null,
    isListed: read.isStream && route.protocol === 'gemini' && !ASKS_FOR_EVENTS.test(credentials.query),
  };
  if (namesEarlierAnswer(call))
    return [
      400,
      'unsupported',
      'previous_response_id is not supported: answers are not stored here; send the whole conversation',
    ];
  return { ...call, row: beginRow(books, now, call) };
}

export function createGatewayServer(deps: ServeDeps): GatewayServer {
  const { settings, holders, books, routing, limits, log, now } = deps;
  const active = new Set<GatewayCall>();
  const held = createHeldBytes(limits.mostHeldBytes);
  const readBody = createBodyReader({
    mostBytes: limits.mostRequestBytes,
    idleMs: limits.silentClientMs,
    held,
  });
  const answerCall = createCallAnswerer(deps, held);
  const tag = tagWorkspace(deps.dataId);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', headers, url = '/' } = request;
    const credentials = readCredentials(url, headers);
    const { path } = credentials;
    const face = FACES[guessProtocol(path, headers)];
    const refuseRequest = createRefusal(request, response, face);
    const stranger = findStranger(request, deps.host);
    if (stranger !== null) return refuseRequest(403, 'host_refused', stranger);
    if (deps.control.handles(path)) return deps.control.handle(request, response, path, credentials.key);
    const route = findRoute(method, path, headers);
    if (route?.kind === 'root') {
      response.writeHead(200, { 'content-type': 'application/json', [WORKSPACE_HEADER]: tag });
      response.end(method === 'HEAD' ? undefined : '{"service":"svc gateway"}');
      return;
    }
    const holder = credentials.key === null ? null : holders.find(credentials.key);
    if (holder === null) return refuseRequest(401, 'key_invalid', keyMessage(credentials.key));
    if (route === null)
      return refuseRequest(404, 'not_found', `nothing is served at ${method} ${path.slice(0, 100)}`);
    if (route.kind === 'models') {
      if (settings().mode === 'off') return refuseRequest(...IS_OFF);
      return serveModels(response, route);
    }
    await serveCall({ request, response, route, credentials, holder }, refuseRequest);
  }

  function serveModels(response: ServerResponse, route: ProtocolRoute): void {
    const { listed } = listModelNames(settings().mode === 'live' ? routing : null);
    answerModels({ face: FACES[route.protocol], response, route }, listed);
  }

  async function serveCall(
    given: Pick<GatewayCall, 'request' | 'response' | 'route' | 'credentials' | 'holder'>,
    refuse: RefuseCall,
  ): Promise<void> {
    const { request, response } = given;
    const startedAt = performance.now();
    const client = new ClientPresence();
    response.once('close', () => {
      if (!response.writableFinished) client.leave();
    });
    let body: Buffer;
    try {
      body = await readBody(request, response);
    } catch (error) {
      if (error instanceof RefusedRequest) return refuse(error.status, error.code, error.message);
      // The client disconnected before it had sent everything.
      return;
    }
    try {
      const call = beginCall({ ...given, body, startedAt, client }, { books, now: now() });
      if (Array.isArray(call)) return refuse(...call);
      const saveContent = deps.content.watch(call);
      active.add(call);
      try {
        await answerCall(call, refuse);
      } finally {
        active.delete(call);
        saveContent?.();
        deps.onCall?.(call);
      }
    } finally {
      held.give(body.length);
    }
  }

  const http = createLimitedServer(HTTP_LIMITS);
  answerBrokenRequests(http);
  const answerRequest = (request: IncomingMessage, response: ServerResponse): void => {
    response.on('error', () => undefined);
    serve(request, response).catch((error: unknown) => answerInternalError(request, response, log, error));
  };
  http.on('request', answerRequest);
  http.on('checkContinue', answerRequest);
  return { http, active: () => active.size };
}

function answerInternalError(
  request: IncomingMessage,
  response: ServerResponse,
  log: Log,
  error: unknown,
): void {
  log.error({ error: error instanceof Error ? error.name : 'unknown' }, 'a request could not be answered');
  const face: ProtocolFace = FACES[guessProtocol(request.url ?? '/', request.headers)];
  if (response.headersSent) response.destroy();
  else
    sendFailure(response, face, {
      status: 500,
      code: 'internal',
      message: 'the gateway failed; its log shows the reason',
    });
}

/** Requests that were not read to their end. */
const STOPPED = new Set([408, 413]);

/** The value appears in headers, books and counters. */
const LONGEST_MODEL = 512;

/** `n`, of null. */
const NULL_BYTE = 0x6e;

const namesEarlierAnswer = ({
  route,
  members,
  body,
}: Pick<GatewayCall, 'route' | 'members' | 'body'>): boolean =>
  route.protocol === 'responses' &&
  members.some(({ key, start }) => key === 'previous_response_id' && body[start] !== NULL_BYTE);

const keyMessage = (key: string | null): string =>
  key === null
    ? 'no key: a run receives one automatically, and svc gateway keys add NAME creates one for a person'
    : 'this key is invalid or has expired: the key of a run is valid while it runs; svc gateway keys lists the keys of persons';
