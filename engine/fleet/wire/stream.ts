import { Duplex } from 'node:stream';
import { SvcError } from '../../core/base/errors.ts';
import { KIND, LARGEST_PAYLOAD, malformedError, numberFrame, payloadOf, startFrame } from './frames.ts';
import type { LinkLane } from './link.ts';
import type { FrameSource, Outgoing } from './outgoing.ts';

/** How much may be sent before the reader has taken it; more for files, which cross long distances. */
const WINDOW: Readonly<Record<LinkLane, number>> = {
  calls: 256 * 1024,
  logs: 256 * 1024,
  files: 1024 * 1024,
};
const COUNT_BYTES = 4;
/** Arrived pieces that wait; more are joined, because thousands of bytes one by one would need megabytes. */
const MOST_PIECES = 256;
const BUFFER_BYTES = 64 * 1024;

/** One end of a stream of a link. */
export class LinkStream extends Duplex implements FrameSource {
  readonly lane: LinkLane;
  readonly #number: number;
  readonly #outgoing: Outgoing;
  readonly #forget: () => void;

  /** Written, and not sent. */
  #unsent: Buffer[] = [];
  /** How many bytes of the first of these were sent. */
  #sentOfFirst = 0;
  #onSent: ((error?: Error) => void) | null = null;
  #onFinal: (() => void) | null = null;
  #credit: number;
  #sentFrames = 0;
  #hasSentEnd = false;

  /** Received, and not wanted yet. */
  #pieces: Buffer[] = [];
  #pieceBytes = 0;
  #isWanted = false;
  #received = 0;
  #allowed: number;
  #receivedFrames = 0;
  #hasReceivedEnd = false;
  #isReset = false;

  /** @param number of the frames that are sent */
  constructor(number: number, lane: LinkLane, outgoing: Outgoing, forget: () => void) {
    super({ highWaterMark: BUFFER_BYTES });
    this.lane = lane;
    this.#number = number;
    this.#outgoing = outgoing;
    this.#forget = forget;
    this.#credit = WINDOW[lane];
    this.#allowed = WINDOW[lane];
    // A stream that the other end breaks must not end this process.
    this.on('error', () => undefined);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, onSent: (error?: Error | null) => void): void {
    this.#queue([chunk], onSent);
  }

  override _writev(
    chunks: { chunk: Buffer; encoding: BufferEncoding }[],
    onSent: (error?: Error | null) => void,
  ): void {
    this.#queue(
      chunks.map(({ chunk }) => chunk),
      onSent,
    );
  }

  #queue(chunks: readonly Buffer[], onSent: (error?: Error | null) => void): void {
    this.#unsent = chunks.filter(({ length }) => length > 0);
    if (this.#unsent.length === 0) {
      onSent();
      return;
    }
    this.#onSent = onSent;
    this.#outgoing.addSource(this);
  }

  override _final(onFinal: () => void): void {
    this.#onFinal = onFinal;
    this.#outgoing.addSource(this);
  }

  takeFrame(): Buffer | null {
    if (this.destroyed) return null;
    if (this.#unsent.length > 0) return this.#credit > 0 ? this.#takeBytes() : null;
    const onFinal = this.#onFinal;
    if (onFinal === null) return null;
    this.#onFinal = null;
    this.#hasSentEnd = true;
    onFinal();
    return numberFrame(KIND.end, this.#number, this.#sentFrames);
  }

  #takeBytes(): Buffer {
    let size = -this.#sentOfFirst;
    for (const { length } of this.#unsent) size += length;
    size = Math.min(size, this.#credit, LARGEST_PAYLOAD - COUNT_BYTES);
    const frame = startFrame(KIND.bytes, this.#number, COUNT_BYTES + size);
    const payload = payloadOf(frame);
    payload.writeUInt32BE(this.#sentFrames, 0);
    this.#sentFrames = (this.#sentFrames + 1) >>> 0;
    this.#credit -= size;
    let filled = COUNT_BYTES;
    let whole = 0;
    for (const chunk of this.#unsent) {
      const copied = chunk.copy(payload, filled, this.#sentOfFirst);
      filled += copied;
      this.#sentOfFirst += copied;
      if (this.#sentOfFirst < chunk.length) break;
      this.#sentOfFirst = 0;
      whole += 1;
    }
    this.#unsent.splice(0, whole);
    if (this.#unsent.length === 0) {
      const onSent = this.#onSent;
      this.#onSent = null;
      onSent?.();
    }
    return frame;
  }

  override _read(): void {
    this.#isWanted = true;
    this.#deliver();
  }

  /** `_read` is called before the bytes are taken, so only this knows what was. */
  override read(size?: number): Buffer | null {
    const taken: Buffer | null = super.read(size);
    this.#allowMore();
    return taken;
  }

  /** Passes on what has arrived, if the reader wants it. */
  #deliver(): void {
    if (!this.#isWanted) return;
    if (this.#pieceBytes > 0) {
      const [first] = this.#pieces;
      const all = this.#pieces.length === 1 ? first : Buffer.concat(this.#pieces, this.#pieceBytes);
      this.#pieces = [];
      this.#pieceBytes = 0;
      this.#isWanted = false;
      this.push(all);
    } else if (this.#hasReceivedEnd) {
      this.#isWanted = false;
      this.push(null);
    }
  }

  /** Lets the other end send more, once the reader has taken a part of the window. */
  #allowMore(): void {
    const window = WINDOW[this.lane];
    const isHeld = this.#pieceBytes + this.readableLength;
    const more = this.#received - isHeld + window - this.#allowed;
    if (more < window / 4 || this.#hasReceivedEnd || this.destroyed) return;
    this.#allowed += more;
    this.#outgoing.sendFrame(numberFrame(KIND.credit, this.#number, more));
  }

  /** Takes a frame of the other end. A gap, or more than was allowed, destroys the stream. */
  receive(payload: Buffer, isEnd: boolean): void {
    const size = payload.length - COUNT_BYTES;
    if (size < 0 || this.#hasReceivedEnd) throw malformedError('a frame that does not fit its stream');
    if (payload.readUInt32BE(0) !== this.#receivedFrames) {
      this.destroy(malformedError('a stream with a gap'));
      return;
    }
    this.#receivedFrames = (this.#receivedFrames + 1) >>> 0;
    this.#hasReceivedEnd = isEnd;
    if (size > 0) {
      this.#received += size;
      if (this.#received > this.#allowed) {
        this.destroy(malformedError('more bytes than this end has room for'));
        return;
      }
      this.#pieces.push(payload.subarray(COUNT_BYTES));
      this.#pieceBytes += size;
      if (this.#pieces.length >= MOST_PIECES) this.#pieces = [Buffer.concat(this.#pieces)];
    }
    this.#deliver();
    this.#allowMore();
  }

  receiveCredit(bytes: number): void {
    // As much as one window ahead; more would only be a lie.
    this.#credit = Math.min(this.#credit + bytes, WINDOW[this.lane]);
    if (this.#unsent.length > 0) this.#outgoing.addSource(this);
  }

  /** Destroys the stream because the other end did, or the link has ended. */
  receiveReset(error: SvcError | null): void {
    this.#isReset = true;
    this.destroy(error ?? undefined);
  }

  override _destroy(error: Error | null, onDestroyed: (error: Error | null) => void): void {
    this.#outgoing.removeSource(this);
    this.#unsent = [];
    this.#pieces = [];
    const isComplete = this.#hasSentEnd && this.#hasReceivedEnd;
    if (!this.#isReset && !isComplete) {
      if (error === null) this.#outgoing.sendFrame(startFrame(KIND.reset, this.#number, 0));
      else this.#outgoing.sendFailure(KIND.reset, this.#number, error);
    }
    this.#forget();
    this.#onSent?.(error ?? new SvcError('cancelled', 'the stream was closed before everything was sent'));
    this.#onSent = null;
    onDestroyed(error);
  }
}
