import { Duplex } from 'node:stream';
import { SvcError } from '../../core/base/errors.ts';
import { linkLostError } from './link-lost.ts';

/** Bytes of one message, besides its kind. */
const MOST_BYTES = 64 * 1024;
/** Bytes on their way that the reader has not taken, so that no queue between the two ends grows. */
const WINDOW_BYTES = 1024 * 1024;
/** The reader reports what it has taken after so many bytes. */
const REPORT_BYTES = WINDOW_BYTES / 4;

const KIND = { data: 0, taken: 1, end: 2, gone: 3 } as const;

/** A stream over messages, and the function that takes those of the other end. */
export interface MessageStream {
  stream: Duplex;
  receive(message: Uint8Array): void;
}

const lostError = (why: string): SvcError => new SvcError('runner_unreachable', why);

function encodeTaken(bytes: number): Buffer {
  const message = Buffer.alloc(5);
  message[0] = KIND.taken;
  message.writeUInt32BE(bytes, 1);
  return message;
}

/**
 * Creates a stream of bytes over messages that arrive in order. A message that is lost or changed is not noticed here:
 * the stream is made for TLS, which ends at either. The writer waits for the reader.
 */
export function createMessageStream(send: (message: Uint8Array) => void): MessageStream {
  /** How much may be sent, bytes. */
  let credit = WINDOW_BYTES;
  let waiting: { bytes: Buffer; done: (error?: Error | null) => void } | null = null;
  const arrived: Buffer[] = [];
  let hasEnded = false;
  let isWanted = false;
  let taken = 0;

  function sendWaiting(): void {
    while (waiting !== null && credit > 0) {
      const part = waiting.bytes.subarray(0, Math.min(MOST_BYTES, credit));
      credit -= part.length;
      send(Buffer.concat([Buffer.of(KIND.data), part]));
      waiting.bytes = waiting.bytes.subarray(part.length);
      if (waiting.bytes.length > 0) continue;
      const { done } = waiting;
      waiting = null;
      done();
    }
  }

  function passOn(): void {
    while (isWanted) {
      const next = arrived.shift();
      if (next === undefined) {
        if (hasEnded) stream.push(null);
        return;
      }
      taken += next.length;
      isWanted = stream.push(next);
      if (taken < REPORT_BYTES) continue;
      send(encodeTaken(taken));
      taken = 0;
    }
  }

  const stream = new Duplex({
    allowHalfOpen: true,
    read() {
      isWanted = true;
      passOn();
    },
    write(bytes: Buffer, _encoding, done) {
      waiting = { bytes, done };
      sendWaiting();
    },
    final(done) {
      send(Buffer.of(KIND.end));
      done();
    },
    destroy(error, done) {
      if (!hasEnded || error !== null) send(Buffer.of(KIND.gone));
      arrived.length = 0;
      waiting?.done(error);
      waiting = null;
      done(error);
    },
  });

  return {
    stream,
    receive(message) {
      if (stream.destroyed) return;
      const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
      const kind = bytes[0];
      if (kind === KIND.data) arrived.push(Buffer.from(bytes.subarray(1)));
      else if (kind === KIND.end) hasEnded = true;
      else if (kind === KIND.taken && bytes.length === 5)
        credit = Math.min(WINDOW_BYTES, credit + bytes.readUInt32BE(1));
      else {
        stream.destroy(linkLostError(lostError('the other end has closed the connection')));
        return;
      }
      sendWaiting();
      passOn();
      // More than was allowed: the other end does not wait for the reader.
      if (arrived.reduce((sum, { length }) => sum + length, 0) > 2 * WINDOW_BYTES)
        stream.destroy(linkLostError(lostError('the other end sends more than it may')));
    },
  };
}
