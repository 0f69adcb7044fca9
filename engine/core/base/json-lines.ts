import { StringDecoder } from 'node:string_decoder';

/** Longest line that either side may send; many times the size of a prompt. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

/**
 * Splits a byte stream into lines. Returns the function to call with each chunk. `onTooLong` is called once when a line
 * passes the limit, and nothing is called after it.
 * @param longest the current limit, in characters
 */
export function createLineSplitter(
  onLine: (line: string) => void,
  onTooLong: () => void,
  longest: () => number = () => MAX_LINE_BYTES,
): (chunk: Buffer) => void {
  const decoder = new StringDecoder('utf8');
  /** The start of a line as the parts it arrived in, so that a long line is not searched again with each part. */
  let parts: string[] = [];
  let length = 0;
  let isOver = false;
  return (chunk) => {
    if (isOver) return;
    const lines = decoder.write(chunk).split('\n');
    const rest = lines.pop() ?? '';
    const rejectLine = (): void => {
      isOver = true;
      parts = [];
      onTooLong();
    };
    for (const line of lines) {
      if (length + line.length > longest()) return rejectLine();
      const whole = parts.length === 0 ? line : parts.join('') + line;
      parts = [];
      length = 0;
      if (whole.trim() !== '') onLine(whole);
    }
    if (rest !== '') parts.push(rest);
    length += rest.length;
    if (length > longest()) rejectLine();
  };
}
