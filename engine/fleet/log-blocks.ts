import { SvcError } from '../core/base/errors.ts';

/** A part of a session's log, on its way to the board. Offsets are logical, in bytes; see `ProcessLogPart`. */
export interface LogBlock {
  from: number;
  bytes: Buffer;
}

export const MOST_BLOCK_BYTES = 128 * 1024;
const HEADER_BYTES = 12;

/** Writes a block: its offset and its length, eight and four bytes, and its content. */
export function encodeLogBlock({ from, bytes }: LogBlock): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeBigUInt64BE(BigInt(from));
  header.writeUInt32BE(bytes.length, 8);
  return Buffer.concat([header, bytes]);
}

/** Returns a function that reads the blocks of a stream. It throws `answer_invalid` for anything else. */
export function createLogBlockReader(onBlock: (block: LogBlock) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    while (rest.length >= HEADER_BYTES) {
      const length = rest.readUInt32BE(8);
      const from = rest.readBigUInt64BE(0);
      if (length > MOST_BLOCK_BYTES || from > BigInt(Number.MAX_SAFE_INTEGER))
        throw new SvcError('answer_invalid', 'a log of the other machine has an impossible part');
      if (rest.length < HEADER_BYTES + length) return;
      onBlock({ from: Number(from), bytes: rest.subarray(HEADER_BYTES, HEADER_BYTES + length) });
      rest = rest.subarray(HEADER_BYTES + length);
    }
  };
}
