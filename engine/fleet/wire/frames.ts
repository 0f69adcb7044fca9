import { SvcError } from '../../core/base/errors.ts';

/**
 * A frame is the length of the rest (4 bytes), a kind (1), a number (4), and JSON or bytes. Messages above one frame are
 * sent as parts, without a number; the last frame has the kind and number of the message, and the flag `IN_PARTS`.
 */
export const KIND = {
  hello: 1,
  /** Says nothing, when there is nothing to say. */
  alive: 2,
  part: 3,
  call: 16,
  cancel: 17,
  report: 18,
  answer: 19,
  failure: 20,
  notice: 21,
  /** Of streams: asks for one, and accepts or refuses it. */
  open: 32,
  opened: 33,
  refused: 34,
  /** The count of the frame in its stream (4 bytes), and bytes. */
  bytes: 35,
  /** The count of the frame in its stream. */
  end: 36,
  /** How many more bytes may be sent (4 bytes). */
  credit: 37,
  /** Destroys a stream. */
  reset: 38,
} as const;

export type Kind = (typeof KIND)[keyof typeof KIND];

export const IN_PARTS = 0x80;

const LARGEST_FRAME = 64 * 1024;
const LENGTH_BYTES = 4;
const HEADER_BYTES = LENGTH_BYTES + 5;
/** The most that a frame carries. */
export const LARGEST_PAYLOAD = LARGEST_FRAME - HEADER_BYTES;

const KINDS: ReadonlySet<number> = new Set(Object.values(KIND));
const isKind = (value: number): value is Kind => KINDS.has(value);

export interface Frame {
  kind: Kind;
  /** True for the last part of a message in parts. */
  isInParts: boolean;
  number: number;
  payload: Buffer;
}

/** Creates the error of an end that breaks the protocol. */
export const malformedError = (what: string): SvcError =>
  new SvcError('answer_invalid', `the other end of the link sent ${what}`);

/** Creates a frame with room for the payload, which the caller writes after `payloadOf`. */
export function startFrame(kind: Kind, number: number, payloadBytes: number, flag = 0): Buffer {
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payloadBytes);
  frame.writeUInt32BE(HEADER_BYTES - LENGTH_BYTES + payloadBytes, 0);
  frame[LENGTH_BYTES] = kind | flag;
  frame.writeUInt32BE(number, LENGTH_BYTES + 1);
  return frame;
}

/** Returns the place of the payload in a frame of `startFrame`. */
export const payloadOf = (frame: Buffer): Buffer => frame.subarray(HEADER_BYTES);

/** Creates a frame whose payload is one number. */
export function numberFrame(kind: Kind, number: number, value: number): Buffer {
  const frame = startFrame(kind, number, 4);
  frame.writeUInt32BE(value, HEADER_BYTES);
  return frame;
}

/** Splits what arrives into frames. `receive` throws `answer_invalid` for anything else. */
export function createFrameReader(onFrame: (frame: Frame) => void) {
  /** The start of a frame as it arrived, joined only once the frame is whole. */
  let parts: Buffer[] = [];
  let size = 0;
  let needed = LENGTH_BYTES;
  let isStopped = false;

  /** Delivers the frame at a place; returns the place after it, or null if it is not whole. */
  function readFrame(from: Buffer, at: number): number | null {
    const left = from.length - at;
    needed = LENGTH_BYTES;
    if (left < needed) return null;
    const length = from.readUInt32BE(at);
    if (length < HEADER_BYTES - LENGTH_BYTES || length > LARGEST_FRAME - LENGTH_BYTES)
      throw malformedError(`a frame of ${length} bytes`);
    needed = LENGTH_BYTES + length;
    if (left < needed) return null;
    const tag = from[at + LENGTH_BYTES] ?? 0;
    const kind = tag & ~IN_PARTS;
    if (!isKind(kind)) throw malformedError(`a frame of the unknown kind ${tag}`);
    const end = at + needed;
    onFrame({
      kind,
      isInParts: (tag & IN_PARTS) !== 0,
      number: from.readUInt32BE(at + LENGTH_BYTES + 1),
      payload: from.subarray(at + HEADER_BYTES, end),
    });
    return end;
  }

  function readFrames(): void {
    if (isStopped || size < needed) return;
    const [first = Buffer.alloc(0)] = parts;
    const whole = parts.length === 1 ? first : Buffer.concat(parts, size);
    let at = 0;
    while (!isStopped) {
      const next = readFrame(whole, at);
      if (next === null) break;
      at = next;
    }
    // Looked at again from the length after a stop.
    if (isStopped) needed = LENGTH_BYTES;
    size = whole.length - at;
    parts = size === 0 ? [] : [whole.subarray(at)];
  }

  return {
    receive(chunk: Buffer): void {
      parts.push(chunk);
      size += chunk.length;
      readFrames();
    },
    /** Keeps what follows the frame that is being delivered. */
    stop(): void {
      isStopped = true;
    },
    /** Continues after `stop`. */
    resume(): void {
      isStopped = false;
      readFrames();
    },
  };
}
