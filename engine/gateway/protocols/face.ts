import type { Protocol, SseEvent } from '../protocol.ts';
import type { TokenUsage } from '../tokens.ts';

/** Why a call has failed, in words for whoever made it. */
export interface CallFailure {
  status: number;
  /** A stable word of svc's, such as `budget_exceeded`. */
  code: string;
  message: string;
}

/** Reads from the wire what a call has used, and whether its stream has come to its end. */
export interface Meter {
  /** One event of a stream, as it came. */
  readEvent(bytes: Buffer): void;
  /** A whole answer. */
  readAnswer(body: unknown): void;
  /** What the upstream has said so far; null when it has said nothing. */
  usage(): TokenUsage | null;
  /** The stream has had the event that ends it; a stream that ends before was cut. */
  isComplete(): boolean;
  /** The stream has told of an error itself, which is its end as well. */
  hasFailed(): boolean;
}

/** What is answered without a model, or made from one. */
export interface PlainAnswer {
  model: string;
  text: string;
  usage: TokenUsage;
}

/** What the gateway has to know of a protocol. Requests and answers pass through as they are. */
export interface ProtocolFace {
  name: Protocol;
  /** The body of an error. */
  formatError(failure: CallFailure): object;
  /** The event that ends a stream which has failed. */
  formatStreamError(failure: CallFailure): SseEvent;
  /** Keeps a stream alive while its upstream thinks; null when the protocol has no event for that. */
  keepAlive: SseEvent | null;
  createMeter(): Meter;
  /** The members of a request that say how much may be answered. */
  outputLimits: readonly string[];
  formatAnswer(answer: PlainAnswer): object;
  formatStream(answer: PlainAnswer): SseEvent[];
}

/** The word that the services themselves have for a status; agents decide by it whether to try again. */
export function typeOfStatus(status: number, words: Readonly<Record<number, string>>): string {
  return (
    words[status] ?? (status >= 500 ? (words[500] ?? 'api_error') : (words[400] ?? 'invalid_request_error'))
  );
}

/** The data of an event as JSON; null when it is none. */
export function parseEventData(bytes: Buffer): Record<string, unknown> | null {
  const text = bytes.toString('utf8');
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  try {
    const value: unknown = JSON.parse(lines.map((line) => line.slice(5)).join('\n'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
