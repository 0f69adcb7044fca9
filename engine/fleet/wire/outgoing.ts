import type { Duplex } from 'node:stream';
import { SvcError } from '../../core/base/errors.ts';
import { toWireError } from '../../core/base/wire-error.ts';
import type { Kind } from './frames.ts';
import type { LinkLane } from './link.ts';
import { createMessageQueue } from './message-queue.ts';
import { LARGEST_MESSAGE, messageTooLargeError } from './messages.ts';

/** Bytes of messages that may wait for an end that reads slowly; then nothing more is accepted. */
const MOST_WAITING = 8 * LARGEST_MESSAGE;
/** The same with refusals and other small frames; an end that lets even these pile up loses the link. */
const MOST_WITH_REFUSALS = 9 * LARGEST_MESSAGE;

/** A stream with bytes to send. */
export interface FrameSource {
  readonly lane: LinkLane;
  /** Returns the next frame, or null if there is none. */
  takeFrame(): Buffer | null;
}

export interface Outgoing {
  /**
   * Sends a message as JSON. Throws `body_too_large`, `internal` for a value that is not JSON, and `limit_reached` if too
   * much is waiting.
   */
  send(kind: Kind, number: number, value: object): void;
  /** Sends an error; without its facts if these cannot be sent. */
  sendFailure(kind: Kind, number: number, thrown: unknown): void;
  /** Sends a frame of a few bytes. */
  sendFrame(frame: Buffer): void;
  /** Called by a stream that has something to send. */
  addSource(source: FrameSource): void;
  removeSource(source: FrameSource): void;
  /** Returns the time of the last write. */
  sentAt(): number;
  /** True while the connection takes nothing more. */
  isBlocked(): boolean;
  /** Drops what is waiting; with `isFlushed` it writes the messages first. */
  close(isFlushed: boolean): void;
}

/**
 * Chooses the next frame each time the connection takes one, so that little is committed to an order: messages and the
 * bytes of streams of the lane `calls` in turns, then logs, then files.
 * @param onOverflow called if the other end does not read, and even refusals pile up
 */
export function createOutgoing(
  connection: Duplex,
  now: () => number,
  onOverflow: (error: SvcError) => void,
): Outgoing {
  const queue = createMessageQueue();
  const streams: Record<LinkLane, Set<FrameSource>> = {
    calls: new Set(),
    logs: new Set(),
    files: new Set(),
  };
  const turns = [queue.takeSmall, queue.takeLarge, () => takeFromStreams(streams.calls)];
  let turn = 0;
  let sentAt = now();
  let isBlocked = false;
  let isScheduled = false;
  let isClosed = false;

  function takeNext(): Buffer | null {
    for (const _ of turns) {
      turn = (turn + 1) % turns.length;
      const frame = turns[turn]?.() ?? null;
      if (frame !== null) return frame;
    }
    return takeFromStreams(streams.logs) ?? takeFromStreams(streams.files);
  }

  function pump(): void {
    isScheduled = false;
    if (isBlocked || isClosed) return;
    // Small frames of one moment leave together.
    connection.cork();
    try {
      while (!isBlocked && !isClosed) {
        const frame = takeNext();
        if (frame === null) break;
        isBlocked = !connection.write(frame);
        sentAt = now();
      }
    } finally {
      connection.uncork();
    }
  }

  function schedule(): void {
    if (isScheduled || isBlocked || isClosed) return;
    isScheduled = true;
    process.nextTick(pump);
  }

  function onDrain(): void {
    isBlocked = false;
    pump();
  }
  connection.on('drain', onDrain);

  /** @param most bytes that may wait already */
  function push(kind: Kind, number: number, text: string, most: number): void {
    if (isClosed) return;
    if (Buffer.byteLength(text) > LARGEST_MESSAGE) throw messageTooLargeError();
    if (queue.waitingBytes() > most) throw unreadError();
    queue.push(kind, number, text);
    schedule();
  }

  return {
    send: (kind, number, value) => push(kind, number, toJson(value), MOST_WAITING),
    sendFailure(kind, number, thrown) {
      const { message, data } = toWireError(thrown);
      try {
        push(kind, number, toJson({ message, data }), MOST_WAITING);
      } catch {
        const text = JSON.stringify({ message, data: { code: data.code } });
        try {
          push(kind, number, text, MOST_WITH_REFUSALS);
        } catch {
          onOverflow(unreadError());
        }
      }
    },
    sendFrame(frame) {
      if (isClosed) return;
      queue.pushFrame(frame);
      if (queue.waitingBytes() > MOST_WITH_REFUSALS) onOverflow(unreadError());
      schedule();
    },
    addSource(source) {
      streams[source.lane].add(source);
      schedule();
    },
    removeSource: (source) => void streams[source.lane].delete(source),
    sentAt: () => sentAt,
    isBlocked: () => isBlocked,
    close(isFlushed) {
      if (isClosed) return;
      isClosed = true;
      connection.off('drain', onDrain);
      for (const sources of Object.values(streams)) sources.clear();
      if (!isFlushed || connection.destroyed) return;
      const takeMessage = (): Buffer | null => queue.takeSmall() ?? queue.takeLarge();
      for (let frame = takeMessage(); frame !== null; frame = takeMessage()) connection.write(frame);
    },
  };
}

/** Takes a frame of the first stream that has one, and puts that stream last. */
function takeFromStreams(sources: Set<FrameSource>): Buffer | null {
  for (const source of sources) {
    sources.delete(source);
    const frame = source.takeFrame();
    if (frame === null) continue;
    sources.add(source);
    return frame;
  }
  return null;
}

const unreadError = (): SvcError =>
  new SvcError('limit_reached', 'the other machine does not read what is sent to it', {
    hint: 'try again once it has caught up',
  });

function toJson(value: object): string {
  try {
    return JSON.stringify(value);
  } catch (thrown) {
    throw new SvcError('internal', 'a value for the other machine is not JSON', { cause: thrown });
  }
}
