import type { OutgoingHttpHeaders } from 'node:http';
import type { SseEvent } from '../protocol.ts';
import { FACES, isUsageOnly, parseEventData, type UsageMeter } from '../protocols/index.ts';
import type { TokenUsage } from '../tokens.ts';
import { type ProtocolTranslation, readFault } from '../translate/index.ts';
import type { CallFailure } from './answer.ts';
import type { GatewayCall } from './call.ts';
import { buildClientHeaders } from './credentials.ts';
import type { HeldBytes } from './held-bytes.ts';
import type { RouteCandidate } from './routing.ts';
import { createEventSplitter, createEventWriter, parseEvent } from './sse.ts';
import type {
  UpstreamClient,
  UpstreamExchange,
  UpstreamFault,
  UpstreamHeaders,
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

const PROGRESS_MS = 250;
const MOST_ERROR_BYTES = 1024 * 1024;
/** How much of a stream's start is buffered; some repeat the request's instructions in the first event. */
const MOST_HELD_BYTES = 256 * 1024;

/** Some servers do not declare a stream; an answer that turns out not to be one is a stream that was cut off. */
const MAY_BE_EVENTS = /^(?:text\/event-stream|text\/plain|application\/octet-stream|$)/;

/** Calls one upstream and passes its answer on. Never rejects. */
export function tryUpstream(
  call: GatewayCall,
  { provider, protocol, model }: RouteCandidate,
  request: UpstreamRequest,
  tools: AttemptTools,
  { stripsUsage, translator }: { stripsUsage: boolean; translator: ProtocolTranslation | null },
): Promise<
  AttemptResult & {
    usage: TokenUsage | null;
    events: number;
    bytes: number;
    firstByteAt: number | null;
    /** The content type sent to the client; null for no answer. */
    type: string | null;
  }
> {
  const { response, face, row } = call;
  const meter: UsageMeter = FACES[protocol].createMeter();
  const splitter = createEventSplitter();
  const translated = translator?.stream() ?? null;
  const writer = createEventWriter(call.isListed);
  const secret = findSecret(provider);
  const marks: OutgoingHttpHeaders = {
    'x-svc-provider': toHeaderText(provider.name),
    'x-svc-model': toHeaderText(model),
  };
  let events = 0;
  let bytes = 0;
  let firstByteAt: number | null = null;
  let progressAt = 0;

  return new Promise((resolve) => {
    let isOver = false;
    let status = 0;
    let headers: UpstreamHeaders = {};
    let isEventStream = false;
    let whole: Buffer[] = [];
    let size = 0;
    let pinging: NodeJS.Timeout | null = null;
    let slow: NodeJS.Timeout | null = null;
    /** The start of the stream, buffered until it has content; null once the client has it. */
    let held: (Buffer | SseEvent)[] | null = [];
    let heldBytes = 0;
    let holding: NodeJS.Timeout | null = null;
    let exchange: UpstreamExchange | null = null;

    function finishAttempt(attempted: AttemptResult): void {
      if (isOver) return;
      isOver = true;
      if (pinging !== null) clearInterval(pinging);
      if (slow !== null) clearTimeout(slow);
      if (holding !== null) clearTimeout(holding);
      call.client.onGone = null;
      tools.held.give(size);
      response.off('drain', onDrain);
      resolve({
        ...attempted,
        usage: meter.usage(),
        events,
        bytes,
        firstByteAt,
        type: isEventStream ? writer.type : null,
      });
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

    const failed = (failure: CallFailure, more: Partial<FailureFacts> = {}): void => {
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
        ...more,
      });
    };

    function onDrain(): void {
      if (slow !== null) clearTimeout(slow);
      slow = null;
      exchange?.resume();
    }

    function writeChunk(chunk: Buffer | string): void {
      bytes += chunk.length;
      tools.onSent?.(chunk);
      if (response.write(chunk) || isOver) return;
      exchange?.pause();
      slow ??= setTimeout(() => response.destroy(), tools.slowClientMs);
    }

    function begin(): void {
      if (response.headersSent) return;
      firstByteAt = performance.now();
      response.writeHead(200, {
        ...buildClientHeaders(headers, secret),
        'content-type': writer.type,
        'cache-control': 'no-cache',
        ...marks,
      });
    }

    /** Ends a started answer so that it cannot be mistaken for a complete one: an error in its protocol, then a reset. */
    function cutAnswer(message: string): void {
      exchange?.abort();
      const error = face.formatStreamError({ status: 502, code: 'upstream_cut', message, field: null });
      response.write(`${writer.write(error)}${writer.end()}`, () => response.destroy());
      finishAttempt({ kind: 'answered', outcome: 'cut', status: 200, fault: message });
    }

    function sendParts(out: readonly (Buffer | SseEvent)[]): void {
      const pieces = out
        .map((event) => writer.write(event))
        .filter((piece) => piece !== null)
        .map((piece) => hideSecret(piece, secret));
      const [first] = pieces;
      if (first === undefined) return;
      begin();
      if (pieces.length === 1) writeChunk(first);
      else if (Buffer.isBuffer(first)) writeChunk(Buffer.concat(pieces as Buffer[]));
      else writeChunk(pieces.join(''));
    }

    /** Sends the buffered start to the client. */
    function release(): void {
      const out = held ?? [];
      held = null;
      sendParts(out);
    }

    function passEvents(found: readonly Buffer[]): void {
      const out: (Buffer | SseEvent)[] = [];
      for (const event of found) {
        events += 1;
        meter.readEvent(event);
        if (held !== null) {
          // The client has seen none of it, so this is like an error before the stream.
          if (meter.hasFailed()) {
            endFailedStart(event);
            return;
          }
          heldBytes += event.length;
          if (FACES[protocol].hasContent(event) || heldBytes > MOST_HELD_BYTES) release();
        }
        if (translated !== null) {
          const parsed = parseEvent(event);
          if (parsed !== null) out.push(...translated.push(parsed));
        } else if (!stripsUsage || !isUsageOnly(event)) out.push(event);
      }
      if (held === null) sendParts(out);
      else {
        held.push(...out);
        holding ??= setTimeout(release, tools.keepAliveMs);
      }
    }

    function endFailedStart(event: Buffer): void {
      const parsed = parseEventData(event) ?? {};
      status = readFault(null, parsed).status;
      endError(Buffer.from(JSON.stringify(parsed)));
    }

    function tellProgress(): void {
      const now = performance.now();
      if (now - progressAt < PROGRESS_MS) return;
      progressAt = now;
      tools.onProgress(meter.usage(), events, bytes);
    }

    function onHead(given: number, givenHeaders: UpstreamHeaders): void {
      status = given;
      headers = givenHeaders;
      call.requestId = readRequestId(headers);
      const type = String(headers['content-type'] ?? '').toLowerCase();
      isEventStream = status < 300 && call.isStream && MAY_BE_EVENTS.test(type);
      const { keepAlive } = face;
      if (!isEventStream || keepAlive === null) return;
      pinging = setInterval(() => {
        release();
        sendParts([keepAlive]);
      }, tools.keepAliveMs);
    }

    function onData(chunk: Buffer) {
      if (!isEventStream) {
        if (!tools.held.take(chunk.length)) {
          failed(
            { status: 503, code: 'busy', message: 'too many large answers are being read; try again' },
            { asksOthers: false, isFault: false },
          );
          return;
        }
        size += chunk.length;
        if (size > (status < 300 ? tools.mostBytes : MOST_ERROR_BYTES)) {
          failed({
            status: 502,
            code: 'upstream_invalid',
            message: `the answer of ${provider.name} is too large`,
          });
          return;
        }
        whole.push(chunk);
        return;
      }
      pinging?.refresh();
      try {
        passEvents(splitter.push(chunk));
      } catch (error) {
        return endBadly(
          `the answer of ${provider.name} could not be translated: ${(error as Error).message}`,
        );
      }
      if (isOver) return;
      if (splitter.pending() > tools.mostBytes) return endBadly(`an event of ${provider.name} is too large`);
      tellProgress();
    }

    function endBadly(message: string): void {
      if (response.headersSent) cutAnswer(message);
      else failed({ status: 502, code: 'upstream_cut', message }, { mayRepeat: true });
    }

    function onEnd(): void {
      if (isEventStream) flushStream();
      else if (status >= 300) endError(Buffer.concat(whole));
      else endAnswer(Buffer.concat(whole));
      whole = [];
    }

    /** Passes on the last event, which may lack its blank line. */
    function flushStream() {
      if (splitter.pending() > 0) {
        try {
          passEvents(splitter.push(Buffer.from('\n\n')));
        } catch {
          return endBadly(`the answer of ${provider.name} could not be translated`);
        }
      }
      endStream();
    }

    function endStream() {
      if (!meter.isComplete() && !meter.hasFailed()) return endBadly(`${provider.name} cut off its answer`);
      release();
      try {
        sendParts(translated?.end() ?? []);
      } catch {
        return endBadly(`the answer of ${provider.name} could not be translated`);
      }
      begin();
      response.end(writer.end());
      const broken = translated?.failure() ?? null;
      const fault = meter.hasFailed()
        ? `${provider.name} reported an error within its answer`
        : broken && `${provider.name}: ${broken}`;
      finishAttempt({ kind: 'answered', outcome: fault === null ? 'ok' : 'failed', status, fault });
    }

    function endAnswer(body: Buffer) {
      const parsed = parseAnswer(body);
      if (typeof parsed !== 'object' || parsed === null)
        return failed(
          {
            status: 502,
            code: 'upstream_invalid',
            message:
              body.length === 0
                ? `${provider.name} sent an empty answer (status ${status})`
                : `the answer of ${provider.name} is cut off, or not a JSON object`,
          },
          { mayRepeat: true },
        );
      meter.readAnswer(parsed);
      if (meter.hasFailed()) {
        status = readFault(null, parsed).status;
        return endError(body);
      }
      // A client that requested a stream cannot read another answer, and would take this for an empty one.
      if (call.isStream && !call.isListed) {
        const message =
          readErrorMessage(parsed) ?? `${provider.name} did not stream although a stream was requested`;
        return failed({ status: 502, code: 'upstream_invalid', message: hideSecret(message, secret) });
      }
      let out: Buffer = body;
      try {
        if (translator !== null) out = Buffer.from(JSON.stringify(translator.response(parsed as object)));
      } catch (error) {
        const message = `the answer of ${provider.name} could not be translated: ${(error as Error).message}`;
        return failed({ status: 502, code: 'upstream_invalid', message });
      }
      out = hideSecret(out, secret);
      firstByteAt = performance.now();
      bytes += out.length;
      tools.onSent?.(out);
      const type = translator === null ? headers['content-type'] : undefined;
      response.writeHead(status, {
        ...buildClientHeaders(headers, secret),
        'content-type': String(type ?? 'application/json'),
        ...marks,
        'content-length': out.length,
      });
      response.end(out);
      finishAttempt({ kind: 'answered', outcome: 'ok', status, fault: null });
    }

    function endError(body: Buffer): void {
      failed(
        ...describeUpstreamError({
          status,
          headers,
          body,
          provider,
          protocol: call.route.protocol,
          translator,
          marks,
        }),
      );
    }

    function onFault(fault: UpstreamFault) {
      const message = `${provider.name}: ${fault.message}`;
      // The connection does not matter after the stream has sent everything.
      if (isEventStream && meter.isOver()) return endStream();
      if (response.headersSent) return cutAnswer(message);
      const failure = fault.isTimeout
        ? { status: 504, code: 'upstream_timeout', message }
        : { status: 502, code: fault.isUnreached ? 'upstream_unreachable' : 'upstream_cut', message };
      failed(failure, { mayRepeat: !fault.isTimeout });
    }

    if (call.client.isGone) {
      onGone();
      return;
    }
    call.client.onGone = onGone;
    response.on('drain', onDrain);
    row.attempts += 1;
    exchange = tools.upstreams.send(provider.baseUrl, request, { onHead, onData, onEnd, onFault });
  });
}

/** Makes a text safe for a header, because a client chooses the name of a model and headers are limited to ASCII. */
const toHeaderText = (text: string): string =>
  text.toWellFormed().replace(/[^\x20-\x7e]+/g, (part) => encodeURIComponent(part));

const LONGEST_ID = 200;

function readRequestId(headers: UpstreamHeaders): string | null {
  const found = headers['x-request-id'] ?? headers['request-id'];
  return typeof found === 'string' ? found.slice(0, LONGEST_ID) : null;
}
