import type { OutgoingHttpHeaders } from 'node:http';
import type { SseEvent } from '../protocol.ts';
import type { GatewayCall } from './call.ts';
import { buildClientHeaders } from './credentials.ts';
import type { RouteCandidate } from './routing.ts';
import { createEventWriter } from './sse.ts';
import type { UpstreamHeaders } from './upstream.ts';
import { findSecret, hideSecret } from './upstream-error.ts';

/** Writes the answer of an upstream to the client, whole or event by event. */
export interface ClientAnswer {
  /** Headers of every answer of this upstream. */
  marks: OutgoingHttpHeaders;
  /** The content type of a stream. */
  streamType: string;
  /** Sends events; the first ones start the answer with these headers of the upstream. */
  sendEvents(events: readonly (Buffer | SseEvent)[], headers: UpstreamHeaders): void;
  /** Ends a stream after its last event. */
  endStream(headers: UpstreamHeaders): void;
  /** Ends a started stream so that it cannot be mistaken for a complete one: an error in its protocol, then a reset. */
  cutStream(message: string): void;
  sendWhole(status: number, body: Buffer, type: string, headers: UpstreamHeaders): void;
  /** Bytes of the body that were sent. */
  bytes(): number;
  /** Reading of `performance.now()`; null before the first byte. */
  firstByteAt(): number | null;
  /** Stops watching the client. */
  release(): void;
}

export interface ClientAnswerOptions {
  /** Milliseconds that a client may go without reading pending data. */
  slowClientMs: number;
  /** Called with the data that the client was sent; null if not needed. */
  onSent: ((chunk: Buffer | string) => void) | null;
  /** Stops the upstream while the client does not read. */
  pause(): void;
  resume(): void;
}

export function createClientAnswer(
  { response, face, isListed }: GatewayCall,
  { provider, model }: RouteCandidate,
  { slowClientMs, onSent, pause, resume }: ClientAnswerOptions,
): ClientAnswer {
  const writer = createEventWriter(isListed);
  const secret = findSecret(provider);
  const marks: OutgoingHttpHeaders = {
    'x-svc-provider': toHeaderText(provider.name),
    'x-svc-model': toHeaderText(model),
  };
  let bytes = 0;
  let firstByteAt: number | null = null;
  let slow: NodeJS.Timeout | null = null;
  let isReleased = false;

  function onDrain(): void {
    if (slow !== null) clearTimeout(slow);
    slow = null;
    resume();
  }

  function writeChunk(chunk: Buffer | string): void {
    bytes += chunk.length;
    onSent?.(chunk);
    if (response.write(chunk) || isReleased) return;
    pause();
    slow ??= setTimeout(() => response.destroy(), slowClientMs);
  }

  function startStream(headers: UpstreamHeaders): void {
    if (response.headersSent) return;
    firstByteAt = performance.now();
    response.writeHead(200, {
      ...buildClientHeaders(headers, secret),
      'content-type': writer.type,
      'cache-control': 'no-cache',
      ...marks,
    });
  }

  response.on('drain', onDrain);
  return {
    marks,
    streamType: writer.type,
    sendEvents(events, headers) {
      const pieces = events
        .map((event) => writer.write(event))
        .filter((piece) => piece !== null)
        .map((piece) => hideSecret(piece, secret));
      const [first] = pieces;
      if (first === undefined) return;
      startStream(headers);
      if (pieces.length === 1) writeChunk(first);
      else if (Buffer.isBuffer(first)) writeChunk(Buffer.concat(pieces as Buffer[]));
      else writeChunk(pieces.join(''));
    },
    endStream(headers) {
      startStream(headers);
      response.end(writer.end());
    },
    cutStream(message) {
      const error = face.formatStreamError({ status: 502, code: 'upstream_cut', message, field: null });
      response.write(`${writer.write(error)}${writer.end()}`, () => response.destroy());
    },
    sendWhole(status, body, type, headers) {
      const safe = hideSecret(body, secret);
      firstByteAt = performance.now();
      bytes += safe.length;
      onSent?.(safe);
      response.writeHead(status, {
        ...buildClientHeaders(headers, secret),
        'content-type': type,
        ...marks,
        'content-length': safe.length,
      });
      response.end(safe);
    },
    bytes: () => bytes,
    firstByteAt: () => firstByteAt,
    release() {
      isReleased = true;
      if (slow !== null) clearTimeout(slow);
      response.off('drain', onDrain);
    },
  };
}

/** Makes a text safe for a header, because a client chooses the name of a model and headers are limited to ASCII. */
const toHeaderText = (text: string): string =>
  text.toWellFormed().replace(/[^\x20-\x7e]+/g, (part) => encodeURIComponent(part));
