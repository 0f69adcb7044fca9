import { FACES, parseEventData } from '../protocols/index.ts';
import type { TokenUsage } from '../tokens.ts';
import { type ProtocolTranslation, readFault } from '../translate/index.ts';
import type { CallFailure } from './answer.ts';
import type { GatewayCall } from './call.ts';
import { createClientAnswer } from './client-answer.ts';
import type { HeldBytes } from './held-bytes.ts';
import type { RouteCandidate } from './routing.ts';
import { createStreamRelay, type StreamRelay } from './stream-relay.ts';
import type {
  UpstreamClient,
  UpstreamExchange,
  UpstreamFault,
  UpstreamHeaders,
  UpstreamListener,
  UpstreamRequest,
} from './upstream.ts';
import {
  describeUpstreamError,
  type FailureFacts,
  findSecret,
  hideSecret,
  parseAnswer,
  readErrorMessage,
} from './upstream-error.ts';

/** The outcome of calling one upstream. */
export type AttemptResult =
  /** The client received its answer, complete or cut off. */
  | {
      kind: 'answered';
      outcome: 'ok' | 'failed' | 'cut' | 'client_gone';
      status: number;
      fault: string | null;
    }
  /** Nothing was sent to the client. */
  | ({ kind: 'failed'; failure: CallFailure } & FailureFacts);

/** Further input of an attempt besides the call. */
export interface AttemptTools {
  upstreams: UpstreamClient;
  /** Maximum size of answers and of single events, in bytes; larger ones are refused. */
  mostBytes: number;
  /** Milliseconds between two keep-alive events. */
  keepAliveMs: number;
  /** Milliseconds that a client may go without reading pending data. */
  slowClientMs: number;
  /** Called at most a few times a second while an answer arrives. */
  onProgress(usage: TokenUsage | null, events: number, bytes: number): void;
  /** Called with the data that the client was sent; null if not needed. */
  onSent: ((chunk: Buffer | string) => void) | null;
  /** Shared memory limit of whole answers. */
  held: HeldBytes;
}

const MOST_ERROR_BYTES = 1024 * 1024;

/** Some servers do not declare a stream; an answer that turns out not to be one is a stream that was cut off. */
const MAY_BE_EVENTS = /^(?:text\/event-stream|text\/plain|application\/octet-stream|$)/;

/** The outcome of an attempt, and what arrived of the answer. */
type MeasuredAttempt = AttemptResult & {
  usage: TokenUsage | null;
  events: number;
  bytes: number;
  firstByteAt: number | null;
  /** The content type sent to the client; null for no answer. */
  type: string | null;
};

/** A failed attempt, and its consequences where they differ from the usual ones. */
type AttemptFailure = [failure: CallFailure, facts?: Partial<FailureFacts>];

/** Calls one upstream and passes its answer on. Never rejects. */
export function tryUpstream(
  call: GatewayCall,
  candidate: RouteCandidate,
  request: UpstreamRequest,
  tools: AttemptTools,
  { stripsUsage, translator }: { stripsUsage: boolean; translator: ProtocolTranslation | null },
): Promise<MeasuredAttempt> {
  const { response } = call;
  const { provider, protocol } = candidate;
  const meter = FACES[protocol].createMeter();
  let exchange: UpstreamExchange | null = null;
  const answer = createClientAnswer(call, candidate, {
    ...tools,
    pause: () => exchange?.pause(),
    resume: () => exchange?.resume(),
  });
  let status = 0;
  let headers: UpstreamHeaders = {};
  let relay: StreamRelay | null = null;
  let whole: Buffer[] = [];
  let size = 0;
  const { promise, resolve } = Promise.withResolvers<MeasuredAttempt>();
  let isOver = false;

  function finishAttempt(attempted: AttemptResult): void {
    if (isOver) return;
    isOver = true;
    call.client.onGone = null;
    tools.held.give(size);
    answer.release();
    relay?.release();
    resolve({
      ...attempted,
      usage: meter.usage(),
      events: relay?.events() ?? 0,
      bytes: answer.bytes(),
      firstByteAt: answer.firstByteAt(),
      type: relay === null ? null : answer.streamType,
    });
  }

  function failAttempt(failure: CallFailure, facts: Partial<FailureFacts> = {}): void {
    exchange?.abort();
    finishAttempt({
      kind: 'failed',
      failure,
      relayed: null,
      headers: {},
      asksOthers: true,
      isFault: true,
      mayRepeat: false,
      retryAfterMs: null,
      said: '',
      ...facts,
    });
  }

  function failWithError(body: Buffer): void {
    const { marks } = answer;
    const error = { status, headers, body, provider, protocol: call.route.protocol, translator, marks };
    failAttempt(...describeUpstreamError(error));
  }

  function cutAnswer(message: string): void {
    exchange?.abort();
    answer.cutStream(message);
    finishAttempt({ kind: 'answered', outcome: 'cut', status: 200, fault: message });
  }

  function onGone(): void {
    exchange?.abort();
    // Some clients close right after reading the last event.
    const isDone = meter.isComplete();
    finishAttempt({
      kind: 'answered',
      outcome: isDone ? 'ok' : 'client_gone',
      status: isDone ? status : 499,
      fault: null,
    });
  }

  const startRelay = (): StreamRelay =>
    createStreamRelay(call, candidate, {
      ...tools,
      answer,
      headers,
      meter,
      translator,
      stripsUsage,
      onFailedStart(event) {
        const error = parseEventData(event) ?? {};
        status = readFault(null, error).status;
        failWithError(Buffer.from(JSON.stringify(error)));
      },
      onBroken(message) {
        if (response.headersSent) cutAnswer(message);
        else failAttempt({ status: 502, code: 'upstream_cut', message }, { mayRepeat: true });
      },
      onEnd: (fault) =>
        finishAttempt({ kind: 'answered', outcome: fault === null ? 'ok' : 'failed', status, fault }),
    });

  function collectAnswer(chunk: Buffer): void {
    const isTaken = tools.held.take(chunk.length);
    if (isTaken) size += chunk.length;
    const failed = isTaken ? checkSize(size, { status, name: provider.name, tools }) : TOO_BUSY;
    if (failed !== null) failAttempt(...failed);
    else whole.push(chunk);
  }

  function endAnswer(body: Buffer): void {
    const parsed = parseAnswer(body);
    if (typeof parsed === 'object' && parsed !== null) meter.readAnswer(parsed);
    if (meter.hasFailed()) {
      status = readFault(null, parsed).status;
      failWithError(body);
      return;
    }
    const sent = translateAnswer(parsed, { call, candidate, translator, body, status });
    if (!Buffer.isBuffer(sent)) {
      failAttempt(...sent);
      return;
    }
    const type = translator === null ? headers['content-type'] : undefined;
    answer.sendWhole(status, sent, String(type ?? 'application/json'), headers);
    finishAttempt({ kind: 'answered', outcome: 'ok', status, fault: null });
  }

  const listener: UpstreamListener = {
    onHead(given, givenHeaders) {
      status = given;
      headers = givenHeaders;
      call.requestId = readRequestId(headers);
      const type = String(headers['content-type'] ?? '').toLowerCase();
      if (status < 300 && call.isStream && MAY_BE_EVENTS.test(type)) relay = startRelay();
    },
    onData(chunk) {
      if (relay === null) collectAnswer(chunk);
      else relay.push(chunk);
    },
    onEnd() {
      if (relay !== null) return relay.end();
      const body = Buffer.concat(whole);
      whole = [];
      if (status >= 300) failWithError(body);
      else endAnswer(body);
    },
    onFault(fault) {
      // The connection does not matter after the stream has sent everything.
      if (relay !== null && meter.isOver()) return relay.finish();
      const message = `${provider.name}: ${fault.message}`;
      if (response.headersSent) cutAnswer(message);
      else failAttempt(describeFault(fault, message), { mayRepeat: !fault.isTimeout });
    },
  };

  if (call.client.isGone) {
    onGone();
    return promise;
  }
  call.client.onGone = onGone;
  call.row.attempts += 1;
  exchange = tools.upstreams.send(provider.baseUrl, request, listener);
  return promise;
}

const TOO_BUSY: AttemptFailure = [
  { status: 503, code: 'busy', message: 'too many large answers are being read; try again' },
  { asksOthers: false, isFault: false },
];

const describeFault = ({ isTimeout, isUnreached }: UpstreamFault, message: string): CallFailure =>
  isTimeout
    ? { status: 504, code: 'upstream_timeout', message }
    : { status: 502, code: isUnreached ? 'upstream_unreachable' : 'upstream_cut', message };

/** Refuses a whole answer that is larger than a client can get; null if it is not. */
function checkSize(
  bytes: number,
  { status, name, tools }: { status: number; name: string; tools: AttemptTools },
): AttemptFailure | null {
  return bytes <= (status < 300 ? tools.mostBytes : MOST_ERROR_BYTES)
    ? null
    : [{ status: 502, code: 'upstream_invalid', message: `the answer of ${name} is too large` }];
}

/** Returns the bytes that the client receives for a whole answer, or why it gets none. */
function translateAnswer(
  parsed: unknown,
  {
    call,
    candidate: { provider },
    translator,
    body,
    status,
  }: {
    call: GatewayCall;
    candidate: RouteCandidate;
    translator: ProtocolTranslation | null;
    body: Buffer;
    status: number;
  },
): Buffer | AttemptFailure {
  const { name } = provider;
  const refuse = (message: string, facts: Partial<FailureFacts> = {}): AttemptFailure => [
    { status: 502, code: 'upstream_invalid', message },
    facts,
  ];
  if (typeof parsed !== 'object' || parsed === null) {
    const message =
      body.length === 0
        ? `${name} sent an empty answer (status ${status})`
        : `the answer of ${name} is cut off, or not a JSON object`;
    return refuse(message, { mayRepeat: true });
  }
  // A client that requested a stream cannot read another answer, and would take this for an empty one.
  if (call.isStream && !call.isListed) {
    const message = readErrorMessage(parsed) ?? `${name} did not stream although a stream was requested`;
    return refuse(hideSecret(message, findSecret(provider)));
  }
  if (translator === null) return body;
  try {
    return Buffer.from(JSON.stringify(translator.response(parsed)));
  } catch (error) {
    return refuse(`the answer of ${name} could not be translated: ${(error as Error).message}`);
  }
}

const LONGEST_ID = 200;

function readRequestId(headers: UpstreamHeaders): string | null {
  const found = headers['x-request-id'] ?? headers['request-id'];
  return typeof found === 'string' ? found.slice(0, LONGEST_ID) : null;
}
