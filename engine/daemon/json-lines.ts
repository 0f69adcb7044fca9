import { StringDecoder } from 'node:string_decoder';

/** Longest line either side may send; a prompt fits many times over. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/**
 * Cuts a byte stream into its lines. Returns what to call with each chunk; `onTooLong` is called once when a line
 * passes the limit, and nothing after it.
 */
export function lineSplitter(onLine: (line: string) => void, onTooLong: () => void): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  let isOver = false;
  return (chunk) => {
    if (isOver) return;
    const lines = (rest + decoder.write(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') onLine(line);
    if (rest.length > MAX_LINE_BYTES) {
      isOver = true;
      rest = '';
      onTooLong();
    }
  };
}
