import type { Duplex } from 'node:stream';
import type { z } from 'zod';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { type Frame, KIND, malformedError, startFrame } from './frames.ts';
import type { LinkHandlers, LinkLane, StreamAcceptor } from './link.ts';
import { messageTooLargeError, openMessage, parseFailure, parseMessage } from './messages.ts';
import type { Outgoing } from './outgoing.ts';
import { LinkStream } from './stream.ts';

const MOST_STREAMS = 512;
/** Marks, in a frame, a stream that the end which gets the frame has opened: both ends count their streams from 1. */
const OF_READER = 0x8000_0000;

interface OwnStream {
  stream: LinkStream;
  /** Settles the opening; null once it is open. */
  opening: { resolve(stream: Duplex): void; reject(error: SvcError): void } | null;
}

const tooManyError = (): SvcError =>
  new SvcError('limit_reached', `a link has at most ${MOST_STREAMS} open streams`, {
    hint: 'close streams that are not needed, and try again',
  });

/** Opens streams, accepts those of the other end, and delivers their frames. */
export function createStreams(outgoing: Outgoing, onStream: LinkHandlers['onStream']) {
  const own = new Map<number, OwnStream>();
  /** Of the other end; null while one is being accepted. */
  const theirs = new Map<number, LinkStream | null>();
  /** Streams that were cancelled while they are being accepted. */
  let abandoned = 0;
  let lastOwn = 0;
  let lost: SvcError | null = null;

  function openStream(
    name: string,
    data: unknown,
    lane: LinkLane,
    signal: AbortSignal | undefined,
  ): Promise<Duplex> {
    const cancelled = (): SvcError => new SvcError('cancelled', `opening the stream ${name} was cancelled`);
    if (lost !== null) return Promise.reject(lost);
    if (signal?.aborted) return Promise.reject(cancelled());
    if (own.size >= MOST_STREAMS) return Promise.reject(tooManyError());
    lastOwn += 1;
    const number = lastOwn;
    const stream = new LinkStream(number, lane, outgoing, () => own.delete(number));
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
    const stopWaiting = (): void => {
      signal?.removeEventListener('abort', cancel);
    };
    const entry: OwnStream = { stream, opening: { resolve, reject } };
    const cancel = (): void => {
      entry.opening = null;
      // A message, since a frame could overtake the opening.
      outgoing.sendFailure(KIND.reset, number, cancelled());
      stream.receiveReset(null);
      reject(cancelled());
    };
    own.set(number, entry);
    signal?.addEventListener('abort', cancel, { once: true });
    try {
      outgoing.send(KIND.open, number, { name, data, lane });
    } catch (thrown) {
      stream.receiveReset(null);
      reject(thrown);
    }
    return promise.finally(stopWaiting);
  }

  /** Ends an opening that has failed. */
  function endOwn(number: number, error: SvcError | null): void {
    const entry = own.get(number);
    if (entry === undefined) return;
    const { stream, opening } = entry;
    entry.opening = null;
    stream.receiveReset(opening === null ? error : null);
    opening?.reject(error ?? new SvcError('cancelled', 'the other end closed the stream as it was opened'));
  }

  function receiveOpened(number: number): void {
    const entry = own.get(number);
    entry?.opening?.resolve(entry.stream);
    if (entry !== undefined) entry.opening = null;
  }

  function refuse(number: number, error: unknown): void {
    theirs.delete(number);
    outgoing.sendFailure(KIND.refused, number, error);
  }

  function receiveOpen({ number, payload }: Frame, isTooLarge: boolean): void {
    if (theirs.has(number) || number === 0 || number >= OF_READER)
      throw malformedError('an invalid number of a stream');
    if (isTooLarge) refuse(number, messageTooLargeError());
    else if (theirs.size + abandoned >= MOST_STREAMS) refuse(number, tooManyError());
    else {
      const message = parseMessage(openMessage, payload);
      theirs.set(number, null);
      void accept(number, message);
    }
  }

  async function accept(number: number, { name, data, lane }: z.infer<typeof openMessage>): Promise<void> {
    let begin: StreamAcceptor;
    try {
      if (onStream === undefined) throw new SvcError('not_found', `this end has no stream ${name}`);
      begin = await onStream(name, data);
    } catch (thrown) {
      if (theirs.has(number)) refuse(number, thrown);
      else abandoned -= 1;
      return;
    }
    const stream = new LinkStream((number | OF_READER) >>> 0, lane, outgoing, () => theirs.delete(number));
    const isWanted = theirs.has(number);
    if (isWanted) {
      theirs.set(number, stream);
      outgoing.sendFrame(startFrame(KIND.opened, number, 0));
    } else abandoned -= 1;
    beginStream(stream, begin);
    // The acceptor sees the end of a stream that was cancelled while it was accepted, and so can clean up.
    if (!isWanted) stream.receiveReset(lost);
  }

  /** Forgets a stream that is being accepted. */
  function abandon(number: number): void {
    if (theirs.delete(number)) abandoned += 1;
  }

  function receiveOfStream({ kind, number: sent, payload }: Frame): void {
    const isOwn = sent >= OF_READER;
    const number = isOwn ? sent - OF_READER : sent;
    if (isOwn && number > lastOwn) throw malformedError('a frame of a stream that was not opened');
    const stream = isOwn ? own.get(number)?.stream : theirs.get(number);
    if (kind === KIND.reset) {
      const error = payload.length === 0 ? null : parseFailure(payload);
      if (isOwn) endOwn(number, error);
      else if (stream) stream.receiveReset(error);
      else abandon(number);
      return;
    }
    // Frames of a stream that was destroyed here may still be on their way.
    if (!stream) return;
    if (kind === KIND.credit) {
      if (payload.length !== 4) throw malformedError('a credit that is not a number');
      stream.receiveCredit(payload.readUInt32BE(0));
    } else stream.receive(payload, kind === KIND.end);
  }

  return {
    openStream,
    /** Takes a frame of the kinds of streams. Throws `answer_invalid`. */
    receive(frame: Frame, isTooLarge: boolean): void {
      const { kind, number, payload } = frame;
      if (kind === KIND.open) receiveOpen(frame, isTooLarge);
      else if (isTooLarge) throw malformedError('a message that is too large');
      else if (kind === KIND.opened || kind === KIND.refused) {
        if (number > lastOwn) throw malformedError('an answer about a stream that was not opened');
        if (kind === KIND.opened) receiveOpened(number);
        else endOwn(number, parseFailure(payload));
      } else receiveOfStream(frame);
    },
    /** Destroys every stream: the link has ended. */
    end(error: SvcError): void {
      lost = error;
      for (const number of [...own.keys()]) endOwn(number, error);
      for (const [number, stream] of [...theirs])
        if (stream === null) abandon(number);
        else stream.receiveReset(error);
    },
  };
}

/** Passes a stream to what accepted it. */
function beginStream(stream: LinkStream, begin: StreamAcceptor): void {
  try {
    begin(stream);
  } catch (thrown) {
    stream.destroy(asSvcError(thrown));
  }
}
