import type { SseEvent } from '../protocol.ts';

const LINE_END = 0x0a;
const RETURN = 0x0d;

/** Splits a stream of server-sent events into whole events, byte by byte. */
export interface EventSplitter {
  /** Returns the events that this chunk completes, each with its terminating blank line. */
  push(chunk: Buffer): Buffer[];
  /** Returns number of buffered bytes of an incomplete event. */
  pending(): number;
}

/** Reports whether a part of a line is empty; a return belongs to the end of its line. */
function isBlank(chunk: Buffer, from: number, to: number): boolean {
  let at = from;
  while (at < to && chunk[at] === RETURN) at += 1;
  return at === to;
}

/** Creates a splitter. Lines end with LF or CRLF. A chunk may end anywhere, even inside a character. */
export function createEventSplitter(): EventSplitter {
  let waiting: Buffer[] = [];
  let size = 0;
  /** True if the current line is not empty, and so does not end its event. */
  let hasText = false;

  return {
    push(chunk) {
      const events: Buffer[] = [];
      let from = 0;
      let line = 0;
      for (let at = chunk.indexOf(LINE_END); at >= 0; at = chunk.indexOf(LINE_END, line)) {
        const isEnd = !hasText && isBlank(chunk, line, at);
        hasText = false;
        line = at + 1;
        if (!isEnd) continue;
        const end = chunk.subarray(from, line);
        events.push(waiting.length === 0 ? end : Buffer.concat([...waiting, end]));
        waiting = [];
        size = 0;
        from = line;
      }
      hasText ||= !isBlank(chunk, line, chunk.length);
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
  // The usual case: one line of data without a prefix.
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

/** Writes an event in wire format. */
export const formatEvent = ({ event, data }: SseEvent): string =>
  `${event === null ? '' : `event: ${event}\n`}data: ${data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data}\n\n`;

/** The wire format of an answer's events for its client. */
export interface EventWriter {
  type: string;
  /** Writes an event as received, or one of ours; null if it has no place in the format. */
  write(event: Buffer | SseEvent): Buffer | string | null;
  /** Returns the text after the last event. */
  end(): string;
}

const SSE_WRITER: EventWriter = {
  type: 'text/event-stream; charset=utf-8',
  write: (event) => (Buffer.isBuffer(event) ? event : formatEvent(event)),
  end: () => '',
};

/** Creates a writer for events, or for the data of each as an item of one list. */
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
