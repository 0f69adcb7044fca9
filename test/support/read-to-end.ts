import { once } from 'node:events';
import type { Duplex } from 'node:stream';

/** Reads a stream to its end and leaves its other direction open: since Node 26 an iterator closes that too. */
export async function readToEnd(stream: Duplex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'end');
  return Buffer.concat(chunks);
}
