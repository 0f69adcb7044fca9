import type { Readable, Writable } from 'node:stream';
import { createLineSplitter } from '../../engine/core/base/json-lines.ts';
import { version } from '../../engine/core/base/own-package.ts';
import { settleWithin } from '../../engine/core/base/settle-within.ts';
import { toPrintable } from '../../engine/core/base/text.ts';
import { connectToEngine, mcpServer } from '../../engine/index.ts';
import { getDaemonCommand } from '../self.ts';
import { createLineRelay, type LineRelayDeps } from './relay.ts';

/** Larger than any message of ours or a client's, in characters; an endless line must not fill the memory. */
const LONGEST_MESSAGE = 16 * 1024 * 1024;
const TOO_LONG = `Invalid request: a message has at most ${LONGEST_MESSAGE / 1024 / 1024} MiB`;
/** Time to answer what was read before the end of stdin, ms. */
const LAST_ANSWERS_MS = 30_000;
/** A hanging engine must not keep this process alive. */
const LEAVE_MS = 2000;

export interface McpPipes {
  stdin: Readable;
  stdout: Writable;
  stderr: Writable;
  cwd: string;
  env: NodeJS.ProcessEnv;
  signal: AbortSignal;
}

/** Serves one MCP client on a pair of pipes, until it closes them or `signal` is aborted: the engine answers it. */
export async function serveMcp({ stdin, stdout, stderr, cwd, env, signal }: McpPipes): Promise<void> {
  const over = new AbortController();
  const ended = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  const endInput = (): void => ended.resolve();
  const stop = (): void => stopped.resolve();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  stdout.once('error', () => {
    endInput();
    stop();
  });
  let writing: Promise<void> = Promise.resolve();
  const note = (text: string): void => void stderr.write(`svc mcp: ${toPrintable(text.slice(0, 300))}\n`);
  function write(text: string): void {
    if (stdout.write(`${text}\n`)) return;
    // A client that does not read stops being read.
    stdin.pause();
    writing = new Promise((resolve) => {
      stdout.once('drain', () => {
        stdin.resume();
        resolve();
      });
    });
  }
  const relay = createLineRelay({
    connect: (start, about, onFrame) =>
      connectRelay({ cwd, env, start, signal: over.signal }, about, onFrame),
    answerWithout,
    write,
    note,
  });
  const takeChunk = createLineSplitter(
    relay.receive,
    () => {
      note(TOO_LONG);
      // Nothing after it could be read.
      write(JSON.stringify({ jsonrpc: '2.0', id: null, error: { code: -32600, message: TOO_LONG } }));
      endInput();
    },
    () => LONGEST_MESSAGE,
  );
  stdin
    .on('data', takeChunk)
    .once('end', () => {
      // The last line may lack a line break.
      takeChunk(Buffer.from('\n'));
      endInput();
    })
    .once('close', endInput)
    .once('error', endInput);
  relay.start();
  await Promise.race([ended.promise, stopped.promise]);
  stdin.off('data', takeChunk).pause();
  await settleWithin(LAST_ANSWERS_MS, Promise.race([relay.settled().then(() => writing), stopped.promise]));
  over.abort();
  await relay.close();
}

/** Opens the MCP server of the workspace's engine. */
async function connectRelay(
  { cwd, env, start, signal }: Pick<McpPipes, 'cwd' | 'env' | 'signal'> & { start: string },
  ...[about, onFrame]: [Parameters<LineRelayDeps['connect']>[1], Parameters<LineRelayDeps['connect']>[2]]
): ReturnType<LineRelayDeps['connect']> {
  const engine = await connectToEngine({
    cwd,
    env,
    via: 'tool',
    attends: true,
    daemon: getDaemonCommand(),
    afterCrash: start === 'after_crash',
    signal,
  });
  const channel = await engine.openMcp(about, onFrame).catch((error: unknown) => {
    engine.close();
    throw error;
  });
  return {
    ...channel,
    closed: engine.closed,
    async close() {
      await settleWithin(
        LEAVE_MS,
        engine.call('seat.leave', {}).catch(() => undefined),
      );
      engine.close();
    },
  };
}

/** Answers lines without an engine: the reason is a result where the client's user sees it. */
async function answerWithout(
  error: unknown,
  frames: readonly string[],
  onFrame: (frame: string) => void,
): Promise<void> {
  const { createFailingLink, createMcpPipe } = await mcpServer();
  const answered = Promise.withResolvers<void>();
  let left = frames.length;
  const pipe = createMcpPipe(createFailingLink(error), {
    client: 'none',
    version,
    isResumed: false,
    send(frame) {
      onFrame(frame);
      if (/^[akdls]/.test(frame)) left -= 1;
      if (left === 0) answered.resolve();
    },
    sendPaced: (_about, frame) => onFrame(frame),
  });
  for (const frame of frames) pipe.receive(frame);
  await answered.promise;
  await pipe.close();
}
