import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Log } from '../../core/base/log.ts';
import { createLimitedServer } from '../../core/http/server.ts';
import { type JsonEdit, replaceBytes } from '../json-members.ts';
import {
  FACES,
  findRoute,
  guessProtocol,
  type ProtocolFace,
  type ProtocolRoute,
} from '../protocols/index.ts';
import { tagWorkspace, WORKSPACE_HEADER } from '../record.ts';
import type { GatewaySettings } from '../settings.ts';
import { sendBody, sendFailure } from './answer.ts';
import type { UsageBooks } from './books.ts';
import { answerBrokenRequests } from './broken-requests.ts';
import { type BudgetGuard, type BudgetRefusal, type BudgetReservation, isRefusal } from './budget.ts';
import { type AnswerCache, keyOfCall, MOST_ANSWER_BYTES } from './cache.ts';
import {
  beginRow,
  ClientPresence,
  estimateCall,
  faceOf,
  type GatewayCall,
  readCallBody,
  settleCall,
} from './call.ts';
import type { ContentLog } from './content-log.ts';
import type { ControlEndpoint } from './control.ts';
import { readCredentials } from './credentials.ts';
import { describeCall } from './describe-call.ts';
import { estimatePrompt } from './estimate-prompt.ts';
import { type ForwardLimits, forwardCall } from './forward.ts';
import { createHeldBytes } from './held-bytes.ts';
import type { KeyHolders } from './holders.ts';
import { answerCount, answerModels, answerStub } from './local.ts';
import { listModelNames } from './model-names.ts';
import { createBodyReader, RefusedRequest } from './request-body.ts';
import { readRequestHabits } from './request-habits.ts';
import type { ProviderRouting, RouteCandidate } from './routing.ts';
import { findStranger } from './strangers.ts';
import type { UpstreamClient } from './upstream.ts';

/** The limits of a gateway. */
export interface ServeLimits extends ForwardLimits {
  /** Milliseconds between two chunks of a request. */
  silentClientMs: number;
  /** Maximum bytes of one request. */
  mostRequestBytes: number;
  /** Maximum bytes of all requests, and of answers that are not streams, together. */
  mostHeldBytes: number;
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
};

export interface ServeDeps {
  settings(): GatewaySettings;
  holders: KeyHolders;
  books: UsageBooks;
  budget: BudgetGuard;
  routing: ProviderRouting;
  upstreams: UpstreamClient;
  cache: AnswerCache;
  content: ContentLog;
  /** The live zone: replacements in a passing request; null leaves it unchanged. */
  transform: ((call: GatewayCall) => JsonEdit[]) | null;
  /** Requests that only the engine may send. */
  control: ControlEndpoint;
  limits: ServeLimits;
  dataId: string;
  /** The listening address. */
  host: string;
  /** Resolves when the model lists are as recent as possible within a moment. */
  readLists(): Promise<void>;
  now(): number;
  log: Log;
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

export function createGatewayServer(deps: ServeDeps): GatewayServer {
  const { settings, holders, books, budget, routing, limits, log, now } = deps;
  const active = new Set<GatewayCall>();
  const held = createHeldBytes(limits.mostHeldBytes);
  const readBody = createBodyReader({
    mostBytes: limits.mostRequestBytes,
    idleMs: limits.silentClientMs,
    held,
  });
  const tag = tagWorkspace(deps.dataId);

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', headers, url = '/' } = request;
    const credentials = readCredentials(url, headers);
    const { path } = credentials;
    const face = FACES[guessProtocol(path, headers)];
    const refuseRequest = (
      status: number,
      code: string,
      message: string,
      more: Record<string, string> = {},
    ): void => {
      request.resume();
      sendFailure(
        response,
        face,
        { status, code, message },
        // The request may have unread data left.
        { ...more, ...(STOPPED.has(status) || headers.expect !== undefined ? { connection: 'close' } : {}) },
      );
    };
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
    refuse: (status: number, code: string, message: string, more?: Record<string, string>) => void,
  ): Promise<void> {
    const { request, response, route } = given;
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
      const face = faceOf(route);
      const read = readCallBody(body, route);
      if (read === null) return refuse(400, 'body_invalid', 'the body is not a JSON object');
      if (read.asked.length > LONGEST_MODEL)
        return refuse(
          400,
          'body_invalid',
          `the name of a model may have at most ${LONGEST_MODEL} characters`,
        );
      const call: GatewayCall = {
        ...given,
        ...read,
        face,
        body,
        promptTokens: estimatePrompt(body),
        requestId: null,
        startedAt,
        client,
        isListed:
          read.isStream && route.protocol === 'gemini' && !ASKS_FOR_EVENTS.test(given.credentials.query),
        row: undefined as never,
      };
      call.row = beginRow(books, now(), call);
      if (namesEarlierAnswer(call))
        return refuse(
          400,
          'unsupported',
          'previous_response_id is not supported: answers are not stored here; send the whole conversation',
        );
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

  async function answerCall(
    call: GatewayCall,
    refuse: (status: number, code: string, message: string) => void,
  ): Promise<void> {
    const { row, route, response } = call;
    const { mode } = settings();
    if (mode === 'off') return refuse(...IS_OFF);
    const isFree = route.kind === 'count';
    if (mode === 'stub') {
      if (isFree) return answerCount(call);
      answerStub(call);
      settleCall(call, { books, reservation: null, now: now() }, { status: 200, outcome: 'stub' });
      return;
    }
    const found = findCandidates(call);
    if (isFree && found.length === 0) return answerCount(call);
    const candidates = found.length > 0 ? found : await findListed(call);
    if (candidates.length === 0) return refuse(...explainNobody(call));
    const cacheKey = deps.cache.isOn() && !isFree ? keyOfCall(call) : null;
    const known = cacheKey === null ? null : deps.cache.find(cacheKey);
    if (known !== null) {
      sendBody(response, 200, known.bytes, { 'content-type': known.type, 'x-svc-cache': 'hit' });
      settleCall(call, { books, reservation: null, now: now() }, { status: 200, outcome: 'cached' });
      return;
    }
    let reservation: BudgetReservation | null = null;
    if (!isFree) {
      const wish = estimateCall(call);
      const reserved = budget.reserve(call.holder, wish);
      if (isRefusal(reserved)) return refuseForBudget(call, reserved);
      reservation = reserved;
      row.reserved = wish;
      row.input = call.promptTokens;
      row.is_estimated = 1;
      books.note(row);
    }
    transformMessages(call);
    const sent: Buffer[] = [];
    let size = 0;
    const keepSent = (chunk: Buffer | string): void => {
      size += chunk.length;
      if (size <= MOST_ANSWER_BYTES) sent.push(Buffer.from(chunk));
    };
    const ended = await forwardCall(call, candidates, {
      ...deps,
      held,
      onProgress: ({ row: changed }) => books.note(changed),
      onSent: cacheKey === null ? null : keepSent,
    });
    if (cacheKey !== null && ended.outcome === 'ok' && size <= MOST_ANSWER_BYTES)
      deps.cache.keep(cacheKey, {
        type: ended.type ?? 'application/json',
        bytes: Buffer.concat(sent),
      });
    if (isFree) return;
    if (route.kind === 'generate') Object.assign(row, readRequestHabits(call, settings().longToolBytes));
    settleCall(call, { books, reservation, now: now() }, ended);
    log.info(describeCall(call), 'call');
    if (!response.writableEnded && !response.destroyed && ended.outcome === 'client_gone') response.destroy();
  }

  const findCandidates = ({ route, asked }: GatewayCall): RouteCandidate[] =>
    routing
      .findCandidates(route.protocol, asked)
      .filter(({ provider, protocol }) =>
        route.kind === 'generate'
          ? true
          : route.kind === 'embed'
            ? protocol === 'chat'
            : provider.protocols.includes(route.protocol),
      );

  /** Providers that have reported their only model by now. */
  async function findListed(call: GatewayCall): Promise<RouteCandidate[]> {
    if (routing.providers().length === 0) return [];
    await deps.readLists();
    return findCandidates(call);
  }

  function explainNobody({ route, asked }: GatewayCall): [status: number, code: string, message: string] {
    if (routing.providers().length === 0)
      return [
        503,
        'no_provider',
        'no provider is configured: svc.yaml sets them in ai.providers, ai.ollama and ai.passthrough',
      ];
    if (routing.findCandidates(route.protocol, asked).length > 0)
      return [503, 'no_provider', 'no provider accepts embeddings: one that speaks chat is required'];
    return [404, 'model_not_found', routing.explainNobody(asked)];
  }

  function refuseForBudget(
    call: GatewayCall,
    { scope, subject, limit, spent, reserved, until }: BudgetRefusal,
  ): void {
    const { holder, response, face } = call;
    const used =
      reserved === 0
        ? `${spent} of the ${limit} tokens`
        : `${spent} tokens spent and ${reserved} reserved for calls that are still being answered, of the ${limit} tokens`;
    const message =
      scope === 'day'
        ? `token budget exceeded: ${used} of ai.budget_tokens_day${reserved === 0 ? ' are spent' : ''}; ${spent < limit ? 'try again at' : 'it resets at'} ${new Date(until ?? 0).toISOString()}`
        : `token budget exceeded: ${used} of the task${reserved === 0 ? ' are spent' : ''}; a larger SVC_TASK_TOKEN_BUDGET lets it continue`;
    const sessionId = holder.kind === 'run' ? holder.sessionId : null;
    const taskId = holder.kind === 'run' ? holder.taskId : null;
    books.noteExhausted({
      ...{ at: now(), scope, subject, limitTokens: limit },
      ...{ isSpent: spent >= limit, until, sessionId, taskId },
    });
    settleCall(call, { books, reservation: null, now: now() }, { status: 402, outcome: 'denied' });
    sendFailure(
      response,
      face,
      { status: 402, code: 'budget_exceeded', message },
      until === null ? {} : { 'x-svc-reset': new Date(until).toISOString() },
    );
  }

  /** Changes messages in transit; the only place where they may change. */
  function transformMessages(call: GatewayCall): void {
    if (deps.transform === null || call.route.kind !== 'generate') return;
    const edits = deps.transform(call);
    if (edits.length === 0) return;
    call.body = replaceBytes(call.body, edits);
    call.members = readCallBody(call.body, call.route)?.members ?? [];
    call.promptTokens = estimatePrompt(call.body);
  }

  const http = createLimitedServer(HTTP_LIMITS);
  function answerRequest(request: IncomingMessage, response: ServerResponse): void {
    response.on('error', () => undefined);
    serve(request, response).catch((error: unknown) => {
      log.error(
        { error: error instanceof Error ? error.name : 'unknown' },
        'a request could not be answered',
      );
      const face: ProtocolFace = FACES[guessProtocol(request.url ?? '/', request.headers)];
      if (response.headersSent) response.destroy();
      else
        sendFailure(response, face, {
          status: 500,
          code: 'internal',
          message: 'the gateway failed; its log shows the reason',
        });
    });
  }
  answerBrokenRequests(http);
  http.on('request', answerRequest);
  http.on('checkContinue', answerRequest);
  return { http, active: () => active.size };
}

/** Requests that were not read to their end. */
const STOPPED = new Set([408, 413]);

const IS_OFF = [
  503,
  'gateway_off',
  'ai.mode is off: no model calls are made; set it to stub or live',
] as const;

/** The value appears in headers, books and counters. */
const LONGEST_MODEL = 512;

/** `n`, of null. */
const NULL_BYTE = 0x6e;

const namesEarlierAnswer = ({ route, members, body }: GatewayCall): boolean =>
  route.protocol === 'responses' &&
  members.some(({ key, start }) => key === 'previous_response_id' && body[start] !== NULL_BYTE);

const keyMessage = (key: string | null): string =>
  key === null
    ? 'no key: a run receives one automatically, and svc gateway keys add NAME creates one for a person'
    : 'this key is invalid or has expired: the key of a run is valid while it runs; svc gateway keys lists the keys of persons';
