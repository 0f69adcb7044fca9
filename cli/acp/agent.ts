import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { Stream } from '@agentclientprotocol/sdk';
import { settleWithin } from '../../engine/core/base/settle-within.ts';
import { signalGroup } from '../../engine/core/base/signal-group.ts';

type AnyMessage = Stream['readable'] extends ReadableStream<infer M> ? M : never;

export interface AgentProcess {
  stream: Stream;
  /** Resolves when the agent has ended, with the reason: `it ended with exit code 1`, `it could not be started: …`. */
  ended: Promise<string>;
  /** Resolves with a reason when the agent sends something that is not a message of the protocol. */
  broken: Promise<string>;
  /** The last text on its standard error, or outside the protocol on its standard output. */
  lastWords(): string;
  /** Ends the agent: closes its input, then sends SIGTERM, then SIGKILL. */
  end(): Promise<void>;
}

export interface AgentOptions {
  argv: readonly string[];
  cwd: string;
  env: NodeJS.ProcessEnv;
  /** Receives its standard error as it arrives, and what it prints outside the protocol. */
  stderr: { write(chunk: Uint8Array | string): unknown };
}

const LONGEST_MESSAGE = 64 * 1024 * 1024;
const LAST_WORDS = 2000;
/** How long the output of an ended agent is still read. */
const DRAIN_MS = 500;
/** Time after the end of its input, and again after SIGTERM: together less than a stopped run gets. */
const STEPS = [
  [2000, 'SIGTERM'],
  [1500, 'SIGKILL'],
] as const;

/** Starts an agent that speaks the protocol on its pipes. */
export function startAgent({ argv, cwd, env, stderr }: AgentOptions): AgentProcess {
  const [program = '', ...args] = argv;
  // Its own process group: a stop of the run's group reaches only this process, which then tells the agent first.
  const child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
  const { stdin, stdout } = child;
  let last = '';
  const keepAside = (chunk: Uint8Array | string): void => {
    stderr.write(chunk);
    last = (last + chunk).slice(-LAST_WORDS);
  };
  child.stderr.on('data', keepAside);
  for (const pipe of [stdin, stdout, child.stderr]) pipe.on('error', () => undefined);

  let hasEnded = false;
  const ended = new Promise<string>((resolve) => {
    const finishAgent = (how: string): void => {
      hasEnded = true;
      resolve(how);
    };
    child.once('error', ({ message }) => finishAgent(`it could not be started: ${message}`));
    child.once('exit', (code, signal) => {
      // Its last output may still arrive; processes that it left running may hold the pipes open for ever.
      const read = Promise.all([stdout, child.stderr].map(waitForClose));
      const how = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
      settleWithin(DRAIN_MS, read).then(() => finishAgent(how));
    });
  });

  let tellBroken: (why: string) => void = () => undefined;
  const broken = new Promise<string>((resolve) => {
    tellBroken = resolve;
  });

  let isRead = true;
  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      const lines = createLineReader((line) => {
        const message = parseMessage(line);
        if (message === 'broken') tellBroken('it sent a message that is not JSON');
        else if (message === null) keepAside(`${line}\n`);
        else if (isRead) controller.enqueue(message as AnyMessage);
      });
      stdout.on('data', (chunk: Buffer) => {
        if (!lines.push(chunk)) tellBroken('it sent a message without an end');
      });
      const endOutput = (): void => {
        if (lines.rest() > 0) tellBroken('its output ended in the middle of a message');
        if (isRead) controller.close();
        isRead = false;
      };
      // Never ends if this side closes it.
      stdout.once('end', endOutput).once('close', endOutput);
    },
    cancel() {
      isRead = false;
    },
  });
  const writable = new WritableStream<AnyMessage>({
    write: (message) =>
      new Promise((resolve, reject) => {
        stdin.write(`${JSON.stringify(message)}\n`, (error) => (error ? reject(error) : resolve()));
      }),
  });

  async function stopAgent(): Promise<void> {
    stdin.end();
    for (const [patienceMs, signal] of STEPS) {
      if ((await settleWithin(patienceMs, ended)) !== null) break;
      signalAgent(child, signal);
    }
    if (!hasEnded) await settleWithin(DRAIN_MS, ended);
    // Handles that are inherited by left-over processes would keep this process alive.
    for (const pipe of [stdin, stdout, child.stderr]) pipe.destroy();
    child.unref();
  }

  return { stream: { readable, writable }, ended, broken, lastWords: () => last.trim(), end: stopAgent };
}

/** Signals the group only while its leader is alive: afterwards the number may belong to another group. */
function signalAgent({ pid, exitCode, signalCode }: ChildProcess, signal: NodeJS.Signals): void {
  if (exitCode === null && signalCode === null) signalGroup(pid, signal);
}

const waitForClose = async (pipe: Readable): Promise<void> => {
  if (!pipe.closed) await once(pipe, 'close');
};

/** Parses a line as a message; null for other lines, such as a notice that a program prints at its start. */
function parseMessage(line: string): object | 'broken' | null {
  const text = line.trim();
  if (!/^[{[]/.test(text)) return null;
  try {
    return JSON.parse(text) as object;
  } catch {
    // `[info] …` is a notice; half an object is a message that no one will answer.
    return text.startsWith('{"') ? 'broken' : null;
  }
}

function createLineReader(onLine: (line: string) => void) {
  let parts: Buffer[] = [];
  let length = 0;
  return {
    /** False if a line has become too long. */
    push(chunk: Buffer): boolean {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        onLine(Buffer.concat([...parts, chunk.subarray(from, at)]).toString());
        parts = [];
        length = 0;
        from = at + 1;
      }
      const rest = chunk.subarray(from);
      if (rest.length > 0) parts.push(rest);
      length += rest.length;
      return length <= LONGEST_MESSAGE;
    },
    rest: () => length,
  };
}
