import type { Readable, Writable } from 'node:stream';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { mcpServer } from '../../engine/index.ts';

/** Larger than any message of ours or a client's; an endless line must not fill the memory. */
const LONGEST_MESSAGE = 16 * 1024 * 1024;

/** One MCP client at the other end of two pipes, a message a line (MCP, Transports, stdio). */
export interface PipeTransport extends Transport {
  /** The request waits for a person, or for a worker's end. */
  setWaiting(id: RequestId): void;
  /** Resolves once every request that was read is answered, except requests that wait for a person or worker. */
  settled(): Promise<void>;
  /** Resolves when nothing more can be read, or no one reads the output. */
  readonly over: Promise<void>;
}

export type PipeCodec = Pick<
  Awaited<ReturnType<typeof mcpServer>>,
  'createLineSplitter' | 'readRpcMessage' | 'messageTooLong'
>;

/** @param codec converts lines to messages, and answers invalid ones */
export function createPipeTransport(
  stdin: Readable,
  stdout: Writable,
  { createLineSplitter, readRpcMessage, messageTooLong }: PipeCodec,
  onError: (message: string) => void,
): PipeTransport {
  const unanswered = new Set<RequestId>();
  let sending = 0;
  let onSettled: (() => void)[] = [];
  let setOver = (): void => undefined;
  const over = new Promise<void>((resolve) => {
    setOver = resolve;
  });

  function checkSettled(): void {
    if (unanswered.size > 0 || sending > 0) return;
    for (const resolve of onSettled.splice(0)) resolve();
  }

  function markAnswered(id: RequestId): void {
    unanswered.delete(id);
    checkSettled();
  }

  function writeMessage(message: object): Promise<void> {
    sending += 1;
    return new Promise((resolve) => {
      stdout.write(`${JSON.stringify(message)}\n`, () => {
        sending -= 1;
        resolve();
        checkSettled();
      });
    });
  }

  function receiveLine(line: string): void {
    const read = readRpcMessage(line);
    if ('refusal' in read) {
      onError(read.refusal.error.message);
      void writeMessage(read.refusal);
      return;
    }
    if (!('message' in read)) return;
    const { message } = read;
    if ('method' in message && 'id' in message) unanswered.add(message.id);
    // The protocol leaves a cancelled request without an answer.
    if ('method' in message && message.method === 'notifications/cancelled') {
      const { requestId } = (message.params ?? {}) as { requestId?: RequestId };
      if (requestId !== undefined) markAnswered(requestId);
    }
    transport.onmessage?.(message);
  }

  const take = createLineSplitter(
    receiveLine,
    () => {
      const refusal = messageTooLong(`${LONGEST_MESSAGE / 1024 / 1024} MiB`);
      onError(refusal.error.message);
      // Nothing after it could be read.
      void writeMessage(refusal).then(setOver);
    },
    () => LONGEST_MESSAGE,
  );
  const atEnd = (): void => {
    // The last line may lack a line break.
    take(Buffer.from('\n'));
    setOver();
  };

  const transport: PipeTransport = {
    over,
    async start() {
      stdin.on('data', take).once('end', atEnd).once('close', setOver).once('error', setOver);
      stdout.once('error', setOver);
    },
    send(message: JSONRPCMessage) {
      const sent = writeMessage(message);
      if (!('method' in message) && message.id !== undefined) markAnswered(message.id);
      return sent;
    },
    setWaiting: markAnswered,
    settled: () =>
      new Promise((resolve) => {
        onSettled.push(resolve);
        checkSettled();
      }),
    async close() {
      stdin.off('data', take).off('end', atEnd);
      stdin.pause();
      const waiting = onSettled;
      onSettled = [];
      for (const resolve of waiting) resolve();
      transport.onclose?.();
    },
  };
  return transport;
}
