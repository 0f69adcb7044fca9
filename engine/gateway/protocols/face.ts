import type { Protocol, SseEvent } from '../protocol.ts';
import type { TokenUsage } from '../tokens.ts';
import type { ProviderFault } from './fault.ts';

/** Reads the usage of a call from the wire, and whether its stream is complete. */
export interface UsageMeter {
  /** Takes one event of a stream. */
  readEvent(bytes: Buffer): void;
  /** Takes a whole answer. */
  readAnswer(body: unknown): void;
  /** Returns the usage reported so far; null if none was. */
  usage(): TokenUsage | null;
  /** Reports whether the end event of the stream has arrived; a stream that ends earlier was cut off. */
  isComplete(): boolean;
  /** Reports whether nothing can follow: the stream is complete even if its connection breaks. */
  isOver(): boolean;
  /** Reports whether the stream sent an error, which also ends it, or the whole answer is one. */
  hasFailed(): boolean;
}

/** An answer without a model, or based on one. */
export interface PlainAnswer {
  model: string;
  text: string;
  usage: TokenUsage;
}

/** The gateway's view of a protocol. Requests and answers pass through unchanged. */
export interface ProtocolFace {
  name: Protocol;
  /** Returns the event that ends a failed stream. */
  formatStreamError(fault: ProviderFault): SseEvent;
  /** Keeps a stream alive while its upstream thinks; null if the protocol has no such event. */
  keepAlive: SseEvent | null;
  createMeter(): UsageMeter;
  /** Reports whether a stream event contains a part of the answer or its end, not only the start of the stream. */
  hasContent(event: Buffer): boolean;
  /** The members of a request that limit the answer. */
  outputLimits: readonly string[];
  formatAnswer(answer: PlainAnswer): object;
  formatStream(answer: PlainAnswer): SseEvent[];
}

/** Returns the data of an event as JSON; null if it is not JSON. */
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
