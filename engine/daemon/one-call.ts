import { connect } from 'node:net';
import { findWorkspace } from '../workspace/find.ts';
import { helloFrom } from './hello.ts';
import { lineSplitter } from './json-lines.ts';
import { locateEngine } from './where.ts';

// Loaded at every tool call of every agent: nothing here or below it may load a package. The usual client takes 8 ms more
// of 56, a second round trip, and waits for an engine that starts again, which an agent is not to wait for.

/** A connection for one call. */
export interface OneCall {
  /** Sends it and resolves with its result, in wire form. Rejects for a refusal and when the connection ends before. */
  send(operation: string, input: object): Promise<unknown>;
  close(): void;
}

interface Answer {
  id: number;
  result?: unknown;
  error?: { message: string };
}

/**
 * Opens a connection to the engine of the workspace around `cwd`, for one call and in one round trip. Null when none
 * runs, and none is started. Throws `no_workspace`, and as `locateEngine`.
 */
export async function openForOneCall(options: {
  cwd: string;
  env: NodeJS.ProcessEnv;
}): Promise<OneCall | null> {
  const { record } = await locateEngine(findWorkspace(options), options.env);
  if (record === null) return null;
  const socket = connect(record.socket);
  const waiting = new Map<number, { resolve(answer: Answer): void; reject(error: Error): void }>();
  const fail = (why: string): void => {
    for (const { reject } of waiting.values()) reject(new Error(why));
    waiting.clear();
  };
  let isOver = false;
  socket.on('error', (error) => fail(error.message));
  socket.on('close', () => {
    isOver = true;
    fail('the connection ended');
  });
  socket.on(
    'data',
    lineSplitter(
      (line) => {
        const answer = JSON.parse(line) as Answer;
        waiting.get(answer.id)?.resolve(answer);
      },
      () => socket.destroy(),
    ),
  );
  const write = (id: number, method: string, params: object): void =>
    void socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);

  write(1, 'hello', helloFrom({ ...options, via: 'cli', attends: false }));
  return {
    async send(operation, input) {
      if (isOver) throw new Error('the connection ended');
      const answer = await new Promise<Answer>((resolve, reject) => {
        waiting.set(2, { resolve, reject });
        // The engine keeps the order: a refused greeting refuses this as well.
        write(2, operation, input);
      });
      if (answer.error !== undefined) throw new Error(answer.error.message);
      return answer.result;
    },
    close: () => void socket.destroy(),
  };
}
