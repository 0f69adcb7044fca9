import type { Duplex } from 'node:stream';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { createOwnCalls, createTheirCalls } from './calls.ts';
import {
  createFrameReader,
  type Frame,
  KIND,
  LARGEST_PAYLOAD,
  malformedError,
  startFrame,
} from './frames.ts';
import type { Link, LinkHandlers, LinkHello } from './link.ts';
import { linkLostError } from './link-lost.ts';
import {
  helloMessage,
  LARGEST_MESSAGE,
  messageTooLargeError,
  noticeMessage,
  parseMessage,
} from './messages.ts';
import { createOutgoing } from './outgoing.ts';
import { createStreams } from './streams.ts';
import { watchSilence } from './watch-silence.ts';

export interface LinkOptions {
  /** A sign of life is sent after that time without one, ms. */
  aliveMs?: number;
  /** An end that hears nothing for that time ends the link, ms. */
  silentMs?: number;
  /** How long the hello of the other end may take, ms. */
  helloMs?: number;
  /** Cancels the opening. */
  signal?: AbortSignal;
}

const ALIVE_MS = 5000;
const SILENT_MS = 20_000;
const HELLO_MS = 20_000;
/** How long a closed connection may take to send the rest, ms. */
const CLOSING_MS = 1000;

const now = (): number => performance.now();

/**
 * Opens a link over a connection, which belongs to it from now on. Resolves after both hellos. Rejects with
 * `protocol_mismatch`, `answer_invalid`, `runner_unreachable` or `cancelled`, and destroys the connection.
 */
export function openLink(
  connection: Duplex,
  hello: LinkHello,
  handlers: LinkHandlers,
  options: LinkOptions = {},
): Promise<Link> {
  const { aliveMs = ALIVE_MS, silentMs = SILENT_MS, helloMs = HELLO_MS, signal } = options;
  const opened = Promise.withResolvers<Link>();
  const ended = Promise.withResolvers<SvcError | null>();
  let peer: LinkHello | null = null;
  let isEnded = false;

  const outgoing = createOutgoing(connection, now, endLink);
  const ownCalls = createOwnCalls(outgoing);
  const theirCalls = createTheirCalls(outgoing, handlers.onCall);
  const streams = createStreams(outgoing, handlers.onStream);
  const joinParts = createPartJoiner(deliver);
  const reader = createFrameReader(joinParts);
  const watch = watchSilence({
    aliveMs,
    silentMs,
    now,
    sentAt: outgoing.sentAt,
    sendAlive() {
      if (!outgoing.isBlocked()) outgoing.sendFrame(startFrame(KIND.alive, 0, 0));
    },
    onSilent: () => endLink(unreachableError('it has been silent for too long')),
  });
  const late = setTimeout(() => endLink(unreachableError('it has not said hello in time')), helloMs).unref();

  function endLink(reason: SvcError | null): void {
    if (isEnded) return;
    isEnded = true;
    watch.stop();
    stopOpening();
    connection.off('data', receive).off('end', onEnd).off('close', onEnd);
    reader.stop();
    const lost = linkLostError(reason);
    ownCalls.end(lost);
    theirCalls.end(lost);
    streams.end(lost);
    const isFlushed = reason === null || reason.code === 'protocol_mismatch';
    outgoing.close(isFlushed);
    if (isFlushed) finishConnection(connection);
    else connection.destroy();
    opened.reject(reason ?? new SvcError('cancelled', 'the link was closed'));
    ended.resolve(reason);
  }

  function stopOpening(): void {
    clearTimeout(late);
    signal?.removeEventListener('abort', onAbort);
  }

  function receive(chunk: Buffer): void {
    watch.noteSign();
    guard(() => reader.receive(chunk));
  }

  /** Ends the link if the other end breaks the protocol. */
  function guard(work: () => void): void {
    try {
      work();
    } catch (thrown) {
      endLink(asSvcError(thrown));
    }
  }

  function deliver(frame: Frame, isTooLarge: boolean): void {
    const { kind } = frame;
    if (peer === null) receiveHello(frame);
    else if (kind >= KIND.open) streams.receive(frame, isTooLarge);
    else if (kind === KIND.notice) receiveNotice(frame, isTooLarge);
    else if (kind >= KIND.report) ownCalls.receive(frame, isTooLarge);
    else if (kind >= KIND.call) theirCalls.receive(frame, isTooLarge);
    else if (kind !== KIND.alive) throw malformedError('a second hello');
  }

  function receiveNotice({ payload }: Frame, isTooLarge: boolean): void {
    if (isTooLarge) throw malformedError('a notice that is too large');
    const { name, data } = parseMessage(noticeMessage, payload);
    handlers.onNotice?.(name, data);
  }

  function receiveHello({ kind, payload, isInParts }: Frame): void {
    if (kind !== KIND.hello || isInParts) throw malformedError('something else than a hello');
    const { protocol, version, about } = parseMessage(helloMessage, payload);
    const said: LinkHello = { protocol, version, about };
    if (said.protocol !== hello.protocol) throw protocolError(hello, said);
    peer = said;
    stopOpening();
    // The next messages are delivered once the caller has the link.
    connection.pause();
    reader.stop();
    opened.resolve(makeLink(said));
    setImmediate(() => {
      if (isEnded) return;
      guard(reader.resume);
      connection.resume();
    });
  }

  const makeLink = (said: LinkHello): Link => ({
    peer: said,
    call: ownCalls.call,
    notify(name, data) {
      outgoing.send(KIND.notice, 0, { name, data });
    },
    openStream: streams.openStream,
    ended: ended.promise,
    close: () => endLink(null),
  });

  function onEnd(): void {
    endLink(unreachableError('the connection has ended'));
  }
  function onAbort(): void {
    endLink(new SvcError('cancelled', 'opening the link was cancelled'));
  }

  // It stays, since a connection may also fail after its end.
  connection.on('error', (error) =>
    endLink(unreachableError(`the connection has failed: ${error.message}`, error)),
  );
  connection.on('data', receive).on('end', onEnd).on('close', onEnd);
  signal?.addEventListener('abort', onAbort, { once: true });
  if (signal?.aborted) onAbort();
  else if (connection.destroyed || connection.readableEnded) onEnd();
  else guard(() => sayHello(hello));
  return opened.promise;

  function sayHello({ protocol, version, about }: LinkHello): void {
    const text = JSON.stringify({ protocol, version, about });
    if (Buffer.byteLength(text) > LARGEST_PAYLOAD) throw messageTooLargeError();
    outgoing.send(KIND.hello, 0, { protocol, version, about });
  }
}

const unreachableError = (why: string, cause?: unknown): SvcError =>
  new SvcError('runner_unreachable', `the other machine cannot be reached: ${why}`, { cause });

const protocolError = (ours: LinkHello, theirs: LinkHello): SvcError =>
  new SvcError(
    'protocol_mismatch',
    `the other machine speaks protocol ${theirs.protocol} (svc ${theirs.version}), and this one ${ours.protocol} (svc ${ours.version})`,
    {
      hint: 'install the same version on both machines',
      data: {
        protocol: ours.protocol,
        version: ours.version,
        peer: theirs.protocol,
        peer_version: theirs.version,
      },
    },
  );

/** Ends a connection after what was written, and destroys it if that takes long. */
function finishConnection(connection: Duplex): void {
  const timer = setTimeout(() => connection.destroy(), CLOSING_MS).unref();
  connection.once('close', () => clearTimeout(timer));
  connection.once('end', () => connection.destroy());
  connection.end();
  // Unread bytes would keep it from closing.
  connection.resume();
}

/**
 * Joins the parts of messages. The part above the limit is dropped, and its last frame is delivered as too large. Only one
 * message in parts arrives at a time.
 */
function createPartJoiner(deliver: (frame: Frame, isTooLarge: boolean) => void): (frame: Frame) => void {
  let parts: Buffer[] = [];
  let size = 0;
  return (frame) => {
    const { kind, isInParts, payload } = frame;
    if (kind === KIND.part) {
      // Many small parts would need far more memory than they have bytes.
      if (payload.length !== LARGEST_PAYLOAD) throw malformedError('a part that is not full');
      size += payload.length;
      if (size <= LARGEST_MESSAGE) parts.push(payload);
      else parts = [];
      return;
    }
    if (!isInParts) return deliver(frame, false);
    const isTooLarge = size + payload.length > LARGEST_MESSAGE;
    const whole = isTooLarge ? payload : Buffer.concat([...parts, payload]);
    parts = [];
    size = 0;
    deliver({ ...frame, payload: whole }, isTooLarge);
  };
}
