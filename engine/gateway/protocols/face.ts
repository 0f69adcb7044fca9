import type { Protocol, SseEvent } from '../protocol.ts';
import type { TokenUsage } from '../tokens.ts';
import type { Fault } from './fault.ts';

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
  /** Nothing comes after what the stream has had: it is whole although its connection may break. */
  isOver(): boolean;
  /** The stream has told of an error itself, which is its end as well; or the whole answer is one. */
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
  /** The event that ends a stream which has failed. */
  formatStreamError(fault: Fault): SseEvent;
  /** Keeps a stream alive while its upstream thinks; null when the protocol has no event for that. */
  keepAlive: SseEvent | null;
  createMeter(): Meter;
  /** Whether an event of a stream has a part of the answer, or its end; not what only says that the stream began. */
  hasContent(event: Buffer): boolean;
  /** The members of a request that say how much may be answered. */
  outputLimits: readonly string[];
  formatAnswer(answer: PlainAnswer): object;
  formatStream(answer: PlainAnswer): SseEvent[];
}

/** The data of an event as JSON; null when it is none. */
export function parseEventData(bytes: Buffer): Record<string, unknown> | null {
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  const lines = text.split(/\r?\n/).filter((line) => line.startsWith('data:'));
  try {
    const value: unknown = JSON.parse(lines.map((line) => line.slice(5)).join('\n'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
