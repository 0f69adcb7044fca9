import { StringDecoder } from 'node:string_decoder';

/** Longest line either side may send; a prompt fits many times over. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/**
 * Cuts a byte stream into its lines. Returns what to call with each chunk; `onTooLong` is called once when a line
 * passes the limit, and nothing after it.
 * @param longest the limit as it is now, in characters
 */
export function lineSplitter(
  onLine: (line: string) => void,
  onTooLong: () => void,
  longest: () => number = () => MAX_LINE_BYTES,
): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  /** The beginning of a line, in the parts that it came in: a long one must not be looked through again with each. */
  let parts: string[] = [];
  let length = 0;
  let isOver = false;
  return (chunk) => {
    if (isOver) return;
    const lines = decoder.write(chunk).split('\n');
    const rest = lines.pop() ?? '';
    const stop = (): void => {
      isOver = true;
      parts = [];
      onTooLong();
    };
    for (const line of lines) {
      if (length + line.length > longest()) return stop();
      const whole = parts.length === 0 ? line : parts.join('') + line;
      parts = [];
      length = 0;
      if (whole.trim() !== '') onLine(whole);
    }
    if (rest !== '') parts.push(rest);
    length += rest.length;
    if (length > longest()) stop();
  };
}
