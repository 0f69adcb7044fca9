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
  const text = bytes.toString('utf8');
  // As most are: one line of data, with nothing before it.
  const end = text.indexOf('\n');
  if (text.startsWith('data: ') && end === text.length - 2 && text.endsWith('\n'))
    return { event: null, data: text.slice(6, end) };
  let event: string | null = null;
  const data: string[] = [];
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    if (line.startsWith('data:')) data.push(line.slice(line[5] === ' ' ? 6 : 5));
    else if (line.startsWith('event:')) event = line.slice(6).trim();
  }
  return data.length === 0 ? null : { event, data: data.join('\n') };
}

/** Writes an event as it goes over the wire. */
export const formatEvent = ({ event, data }: SseEvent): string =>
  `${event === null ? '' : `event: ${event}\n`}data: ${data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data}\n\n`;

/** How the events of an answer go over the wire to its client. */
export interface EventWriter {
  type: string;
  /** An event as it came, or one of our own; null for what has no place there. */
  write(event: Buffer | SseEvent): Buffer | string | null;
  /** What follows the last event. */
  end(): string;
}

const SSE_WRITER: EventWriter = {
  type: 'text/event-stream; charset=utf-8',
  write: (event) => (Buffer.isBuffer(event) ? event : formatEvent(event)),
  end: () => '',
};

/** Creates what writes events, or the data of each as an item of one list. */
export function createEventWriter(isListed: boolean): EventWriter {
  if (!isListed) return SSE_WRITER;
  let count = 0;
  return {
    type: 'application/json; charset=utf-8',
    write(event) {
      const data = (Buffer.isBuffer(event) ? parseEvent(event) : event)?.data ?? '';
      if (data === '') return null;
      count += 1;
      return `${count === 1 ? '[' : ',\r\n'}${data}`;
    },
    end: () => (count === 0 ? '[]' : ']'),
  };
}
