import type { Duplex } from 'node:stream';
import type { SvcError } from '../../core/base/errors.ts';

/** Version of the frames and messages; an end of another one is refused. */
export const FLEET_PROTOCOL = 1;

/** The first message of each end. */
export interface LinkHello {
  protocol: number;
  /** The version of the program. */
  version: string;
  /** Facts about the end, as JSON; the caller validates those of the other end. */
  about: unknown;
}

/** The priority of a stream: calls, notices and heartbeats go before logs, and logs before files. */
export type LinkLane = 'calls' | 'logs' | 'files';

export interface CallOptions {
  /** Cancels the call at the other end, and rejects with `cancelled`. */
  signal?: AbortSignal;
  /** Gets the reports of the call, in order. */
  onReport?(report: unknown): void;
}

/** A connection to a program on another machine. Both ends can do the same. */
export interface Link {
  readonly peer: LinkHello;
  /**
   * Calls a method of the other end. Rejects with the SvcError that it threw there, with `runner_unreachable` if the link
   * ends first (see `isLinkLost`), with `body_too_large` for more than 8 MiB, and with `limit_reached` above 1,024 open
   * calls.
   */
  call(method: string, input: unknown, options?: CallOptions): Promise<unknown>;
  /** Sends a message without an answer. Throws `body_too_large`, or `limit_reached` if too much waits to be sent. */
  notify(name: string, data: unknown): void;
  /**
   * Opens a stream of bytes. Resolves when the other end has accepted it, rejects with its SvcError. A reader that does
   * not read stops only its own stream; an end and a destroy reach the other end; the end of the link destroys it.
   * `signal` ends only the wait for the other end.
   */
  openStream(name: string, data: unknown, lane: LinkLane, signal?: AbortSignal): Promise<Duplex>;
  /** Resolves with the reason when the link has ended; null for a `close()` of ours. */
  readonly ended: Promise<SvcError | null>;
  /** Sends the answers that are ready, and ends the link. */
  close(): void;
}

export interface CallContext {
  /** Aborts if the caller cancels, or the link ends. */
  signal: AbortSignal;
  /** Sends a report to the caller; does nothing once the call has ended. Throws as `notify`. */
  report(data: unknown): void;
}

/** Receives the requests of the other end. Their names and values are untrusted. */
export interface LinkHandlers {
  onCall(method: string, input: unknown, context: CallContext): Promise<unknown>;
  /** Gets messages without an answer; if it throws, the link ends with that error. */
  onNotice?(name: string, data: unknown): void;
  /** Accepts a stream by returning the function that gets it; throws an SvcError to refuse. */
  onStream?(name: string, data: unknown): Promise<StreamAcceptor> | StreamAcceptor;
}

export type StreamAcceptor = (stream: Duplex) => void;
