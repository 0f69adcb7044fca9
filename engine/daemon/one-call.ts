import { connect } from 'node:net';
import { createLineSplitter } from '../core/base/json-lines.ts';
import { findWorkspace } from '../core/workspace/find.ts';
import { buildHello } from './hello.ts';
import { locateEngine } from './locate.ts';

// Loaded at every tool call of every agent, so nothing here or below it may load a package. The usual client takes 4 ms
// more CPU (of 37) and a second round trip, and waits for a restarting engine, which an agent should not.

/** A connection for one call, and for follow-up requests of its answer. */
export interface OneCall {
  /** Sends a call and resolves with its result, in wire form. Rejects if it is refused or the connection ends. */
  send(operation: string, input: object): Promise<unknown>;
  close(): void;
}

interface Answer {
  id: number;
  result?: unknown;
  error?: { message: string };
}

/**
 * Opens a connection to the engine of the workspace around `cwd`, for one call in one round trip. Null if no engine
 * is running; none is started. Throws `no_workspace`, and as `locateEngine`.
 */
export async function openForOneCall(options: {
  cwd: string;
  env: NodeJS.ProcessEnv;
}): Promise<OneCall | null> {
  const { record } = await locateEngine(findWorkspace(options), options.env);
  if (record === null) return null;
  const socket = connect(record.socket);
  const waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  const rejectAll = (why: string): void => {
    for (const { reject } of waiting.values()) reject(new Error(why));
    waiting.clear();
  };
  let isOver = false;
  let lastId = 1;
  socket.on('error', (error) => rejectAll(error.message));
  socket.on('close', () => {
    isOver = true;
    rejectAll('the connection ended');
  });
  socket.on(
    'data',
    createLineSplitter(
      (line) => {
        const answer = JSON.parse(line) as Answer;
        waiting.get(answer.id)?.resolve(answer);
      },
      () => socket.destroy(),
    ),
  );
  const writeRequest = (id: number, method: string, params: object): void =>
    void socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);

  writeRequest(1, 'hello', buildHello({ ...options, via: 'cli', attends: false }));
  return {
    async send(operation, input) {
      if (isOver) throw new Error('the connection ended');
      lastId += 1;
      const answer = await new Promise<Answer>((resolve, reject) => {
        waiting.set(lastId, { resolve, reject });
        // The engine keeps the order: if hello is refused, so is this.
        writeRequest(lastId, operation, input);
      });
      if (answer.error !== undefined) throw new Error(answer.error.message);
      return answer.result;
    },
    close: () => void socket.destroy(),
  };
}
