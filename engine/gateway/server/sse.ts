import type { SseEvent } from '../protocol.ts';

const LINE_END = 0x0a;
const RETURN = 0x0d;

/** Cuts a stream of server-sent events into whole events, byte by byte as they came. */
export interface EventSplitter {
  /** The events that this chunk completes, each with the blank line that ends it. */
  push(chunk: Buffer): Buffer[];
  /** How many bytes wait for the end of their event. */
  pending(): number;
}

/** Lines end with LF or CRLF. A chunk may end anywhere, also in the middle of a character. */
export function createEventSplitter(): EventSplitter {
  let waiting: Buffer[] = [];
  let size = 0;
  /** Whether the line that is being read has anything in it, and so does not end its event. */
  let hasText = false;

  return {
    push(chunk) {
      const events: Buffer[] = [];
      let from = 0;
      for (let at = 0; at < chunk.length; at += 1) {
        const byte = chunk[at];
        if (byte !== LINE_END) {
          if (byte !== RETURN) hasText = true;
          continue;
        }
        if (hasText) {
          hasText = false;
          continue;
        }
        const end = chunk.subarray(from, at + 1);
        events.push(waiting.length === 0 ? end : Buffer.concat([...waiting, end]));
        waiting = [];
        size = 0;
        from = at + 1;
      }
      if (from < chunk.length) {
        waiting.push(from === 0 ? chunk : chunk.subarray(from));
        size += chunk.length - from;
      }
      return events;
    },
    pending: () => size,
  };
}

/** Reads an event; null for one without data, such as a comment. */
export function parseEvent(bytes: Buffer): SseEvent | null {
  let event: string | null = null;
  const data: string[] = [];
  for (const line of bytes
    .toString('utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)) {
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else if (line.startsWith('event:')) event = line.slice(6).trim();
  }
  return data.length === 0 ? null : { event, data: data.join('\n') };
}

/** Writes an event as it goes over the wire. */
export const formatEvent = ({ event, data }: SseEvent): string =>
  `${event === null ? '' : `event: ${event}\n`}${data
    .split('\n')
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;
