import { once } from 'node:events';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { readLog } from '../../workers/runner/processes/index.ts';
import { encodeLogBlock, MOST_BLOCK_BYTES } from '../log-blocks.ts';

/** How often a log that has been sent is looked at again. */
const LOOK_MS = 200;

/** Sends the log of a session from an offset on, and what is added to it, until the board closes the stream. */
export async function sendLog(agentsDir: string, sessionId: string, from: number, to: Duplex): Promise<void> {
  const file = join(agentsDir, sessionId, 'log');
  const closed = new AbortController();
  to.once('close', () => closed.abort());
  to.on('error', () => to.destroy());
  to.resume();
  let next = from;
  while (!closed.signal.aborted) {
    const part = readLog(file, { from: next, maxBytes: MOST_BLOCK_BYTES, ended: true });
    if (part.bytes.length === 0) {
      await delay(LOOK_MS, undefined, { signal: closed.signal, ref: false }).catch(() => undefined);
      continue;
    }
    const start = part.next - part.bytes.length;
    next = part.next;
    if (!to.write(encodeLogBlock({ from: start, bytes: part.bytes })))
      await once(to, 'drain', { signal: closed.signal }).catch(() => undefined);
  }
}
